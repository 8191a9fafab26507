// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks types, members, values and arguments up in the kernel's BTF. */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "providers/bpf/bpf.h"

#define OFFSET_MAX (1U << 20)

const struct btf_type *btf_type_of(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);
}

const struct btf_type *btf_find(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

/*
 * The member of a struct or union with the first `length` characters of name, or of one without a
 * name in it: its type, and where it is. Whether there is one, at a whole byte.
 */
static bool find_member(const struct btf *btf, const struct btf_type *in, const char *name,
			size_t length, uint32_t *ret_type, uint32_t *ret_bits)
{
	const struct btf_member *members = btf_members(in);

	for (uint32_t i = 0; i < btf_vlen(in); i++) {
		const char *found = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *inner = *found ? NULL : btf_type_of(btf, members[i].type);
		uint32_t bits = 0;

		if (inner && btf_is_composite(inner) &&
		    find_member(btf, inner, name, length, ret_type, &bits)) {
			*ret_bits = bits + btf_member_bit_offset(in, i);
			return true;
		}
		if (strncmp(found, name, length) != 0 || found[length])
			continue;
		*ret_type = members[i].type;
		*ret_bits = btf_member_bit_offset(in, i);
		return !btf_member_bitfield_size(in, i) && *ret_bits % 8 == 0;
	}
	return false;
}

/* Follows the next name of a path, and a pointer after it; *at is moved past both. */
static bool walk_on(struct btf_walk *walk, const char **at)
{
	size_t length = strcspn(*at, ".-");
	uint32_t type, bits;

	if (!walk->type || !btf_is_composite(walk->type) || !length ||
	    !find_member(walk->btf, walk->type, *at, length, &type, &bits))
		return false;
	walk->offset += bits / 8;
	walk->type = btf_type_of(walk->btf, type);
	*at += length;
	if (**at == '-') {
		if (walk->has_pointer || !walk->type || !btf_is_ptr(walk->type))
			return false;
		walk->has_pointer = true;
		walk->pointer = walk->offset;
		walk->offset = 0;
		walk->type = btf_type_of(walk->btf, walk->type->type);
		(*at)++;
	}
	*at += **at != '\0';
	return true;
}

bool btf_is_struct_named(const struct btf *btf, const struct btf_type *type, const char *name)
{
	return btf_is_struct(type) &&
	       strcmp(btf__name_by_offset(btf, type->name_off), name) == 0;
}

bool btf_walk_to_end(struct btf_walk *walk, const char *path)
{
	while (*path) {
		if (!walk_on(walk, &path))
			return false;
	}
	return walk->type && walk->offset <= OFFSET_MAX && walk->pointer <= OFFSET_MAX;
}

bool btf_walk_is_number(const struct btf_walk *walk, uint32_t bytes)
{
	return btf_is_int(walk->type) && walk->type->size == bytes;
}

long btf_enum_value(const struct btf *btf, const char *enumeration, const char *name)
{
	const struct btf_type *type = btf_find(btf, enumeration, BTF_KIND_ENUM);
	const struct btf_enum *values = type ? btf_enum(type) : NULL;

	for (uint32_t i = 0; type && i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, values[i].name_off), name) == 0)
			return values[i].val;
	}
	return -1;
}

const struct btf_type *btf_find_event(const struct btf *btf, const char *event)
{
	const struct btf_type *function, *proto;
	char name[64];

	snprintf(name, sizeof(name), "__traceiter_%s", event);
	function = btf_find(btf, name, BTF_KIND_FUNC);
	proto = function ? btf__type_by_id(btf, function->type) : NULL;
	return proto && btf_is_func_proto(proto) ? proto : NULL;
}

int btf_event_argument(const struct btf *btf, const struct btf_type *proto, const char *name)
{
	const struct btf_param *params = btf_params(proto);

	for (int i = 1; name && i < (int)btf_vlen(proto); i++) {
		if (strcmp(btf__name_by_offset(btf, params[i].name_off), name) == 0)
			return i - 1;
	}
	return -1;
}
