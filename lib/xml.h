/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml - reads a document that a program wrote, such as libvirt's: its elements and texts in order.
 *
 * Reading stops at what is not well formed, at a DTD, and at elements nested too deeply: what was
 * read before stays valid. Namespaces are not resolved: "nova:name" is the name of an element.
 * Any bytes may be read.
 */
#ifndef KVMTOP_LIB_XML_H
#define KVMTOP_LIB_XML_H

#include <stdbool.h>
#include <stddef.h>

#define XML_PATH 512

/* Begins with at and end set to the document, and all else 0. */
struct xml {
	const char *at, *end;
	char path[XML_PATH]; /* "a/b": the elements that are open now, from the root on */
	size_t path_len;
	bool is_element; /* an element has begun; else a text, or a part of it */
	bool is_literal; /* the text is of a CDATA section */
	bool is_empty;	 /* the element ends where it began: <a/> */
	const char *raw; /* the element's attributes, or the text; references are not resolved */
	size_t raw_len;
};

/* Reads on to the next element or text. False: there is none, or the document is damaged. */
bool xml_next(struct xml *xml);

/* The text, as utf8_clean() (lib/text.h) makes it. False: it is empty. */
bool xml_text(const struct xml *xml, char *ret_text, size_t size);

/* The same of an attribute of the element. False: the element has none of this name. */
bool xml_attribute(const struct xml *xml, const char *name, char *ret_text, size_t size);

#endif
