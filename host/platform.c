// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds a platform's words: tables of options, folders and elements, and readers of each. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "host/guest_name.h"

#define DOMAIN_MAX (8u << 20) /* libvirt's file has some 50 KB */
#define PATH_SIZE 256 /* reading stops at elements that are nested more deeply */
#define BLANKS " \t\r\n"

const char *const guest_word_names[GUEST_WORDS] = {
	[WORD_UUID] = "uuid", [WORD_ID] = "id", [WORD_TITLE] = "title",
	[WORD_PROJECT] = "project", [WORD_FLAVOR] = "flavor", [WORD_POD] = "pod",
};

/*
 * Options that have the guest's UUID, as their value or as a part of it: the last one counts, as
 * QEMU has one UUID only. A value without the other part is of something else.
 */
static const struct {
	const char *option, *part, *other_part;
} uuid_options[] = {
	{ "-uuid", NULL, NULL },
	{ "--uuid", NULL, NULL },
	{ "-smbios", "uuid=", "type=1" },
	{ "--smbios", "uuid=", "type=1" },
	{ "--platform", "uuid=", NULL }, /* Cloud Hypervisor */
};

/* Where a platform has a folder for each guest, which is in some argument. */
static const struct {
	const char *folder;
	bool has_project; /* it is called PROJECT_NAME, or NAME in the project "default" */
} folders[] = {
	{ "/run/vc/vm/", false },   /* Kata's runtime in Go */
	{ "/run/kata/", false },    /* and in Rust */
	{ "/io.containerd.runtime.v2.task/k8s.io/", false }, /* gVisor */
	{ "/io.containerd.runtime.v2.task/moby/", false },
	{ "/multipassd/vault/instances/", false },
	{ "/.minikube/machines/", false },
	{ "/cuttlefish/instances/", false }, /* Android's virtual devices */
	{ "/run/incus/", true },
	{ "/var/log/incus/", true },
	{ "/var/log/lxd/", true },
	{ "/common/lxd/logs/", true }, /* LXD's snap */
};

#define STATUS "/domstatus"
#define DOMAIN STATUS "/domain"

/* Elements of libvirt's file. Where two have the same word, the later one in the file counts. */
static const struct {
	const char *path;
	const char *attribute; /* NULL: the text */
	enum guest_word word;
} elements[] = {
	{ DOMAIN "/uuid", NULL, WORD_UUID },
	{ DOMAIN "/title", NULL, WORD_TITLE },
	{ DOMAIN "/metadata/nova:instance/nova:name", NULL, WORD_TITLE },
	{ DOMAIN "/metadata/nova:instance/nova:flavor", "name", WORD_FLAVOR },
	{ DOMAIN "/metadata/nova:instance/nova:owner/nova:project", NULL, WORD_PROJECT },
	{ DOMAIN "/metadata/one:vm/one:name", NULL, WORD_TITLE }, /* OpenNebula */
};

/* False: the text is no word, and the word stays as it was. */
static bool set_word(struct guest_words *words, enum guest_word word, const char *text, size_t len)
{
	return utf8_clean(text, len, words->text[word], sizeof(words->text[word]));
}

/* separators: characters that may stand for '-'. */
static bool set_uuid(struct guest_words *words, enum guest_word word, const char *text, size_t len,
		     const char *separators)
{
	static const char pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	char uuid[sizeof(pattern)];

	if (len != strlen(pattern))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (pattern[i] == '-' ? !text[i] || !strchr(separators, text[i]) :
					!isxdigit((unsigned char)text[i]))
			return false;
		uuid[i] = pattern[i] == '-' ? '-' : (char)tolower((unsigned char)text[i]);
	}
	return set_word(words, word, uuid, len);
}

/* ---- arguments */

/* The UUID is after the part's key, if the other part (NULL: any) is there, too. */
static void uuid_from_parts(const char *value, size_t len, const char *key, const char *other,
			    struct guest_words *words)
{
	const char *end = value + len;
	size_t key_len = strlen(key), uuid_len = 0;
	bool has_other = !other;
	char part[64], uuid[64];

	while (value < end) {
		size_t n = args_part(&value, end, part, sizeof(part));

		if (n > key_len && !memcmp(part, key, key_len)) {
			uuid_len = n - key_len;
			memcpy(uuid, part + key_len, uuid_len);
		}
		has_other |= other && n == strlen(other) && !memcmp(part, other, n);
	}
	if (has_other)
		set_uuid(words, WORD_UUID, uuid, uuid_len, "-");
}

static void find_uuid(const char *cmdline, size_t len, struct guest_words *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(uuid_options); i++) {
		struct args args = { cmdline, cmdline + len };
		const char *value;
		size_t n;

		while (args_value(&args, uuid_options[i].option, &value, &n)) {
			if (uuid_options[i].part)
				uuid_from_parts(value, n, uuid_options[i].part,
						uuid_options[i].other_part, words);
			else
				set_uuid(words, WORD_UUID, value, n, "-");
		}
	}
}

/* "PROJECT_NAME" of Incus and LXD, "NAMESPACE_NAME" of KubeVirt: neither part may have a '_'. */
static void set_full_name(struct guest_words *words, const char *name, size_t len)
{
	const char *mark = memchr(name, '_', len);

	if (mark && set_word(words, WORD_PROJECT, name, (size_t)(mark - name)))
		set_word(words, WORD_TITLE, mark + 1, (size_t)(name + len - mark - 1));
	else if (!mark && set_word(words, WORD_TITLE, name, len))
		set_word(words, WORD_PROJECT, "default", strlen("default"));
}

/* "/run/vc/vm/SANDBOX/clh-api.sock", anywhere in the argument. */
static bool find_folder(const char *arg, size_t len, struct guest_words *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t n = strlen(folders[i].folder);
		const char *name = memmem(arg, len, folders[i].folder, n), *slash;

		if (!name)
			continue;
		name += n;
		slash = memchr(name, '/', (size_t)(arg + len - name));
		if (!slash)
			continue;
		if (folders[i].has_project)
			set_full_name(words, name, (size_t)(slash - name));
		else
			set_word(words, WORD_ID, name, (size_t)(slash - name));
		return true;
	}
	return false;
}

void words_of_cmdline(const char *cmdline, size_t len, struct guest_words *words)
{
	struct args args = { cmdline, cmdline + len };
	const char *arg;
	size_t n;

	find_uuid(cmdline, len, words);
	/* Proxmox, and Kata's shim */
	if (args_value(&args, "-id", &arg, &n) && set_word(words, WORD_ID, arg, n))
		return;
	args.at = cmdline;
	while (args_next(&args, &arg, &n))
		if (find_folder(arg, n, words))
			return;
}

/* ---- files below /proc */

/* ".../kubepods-burstable-podUID.slice/..." or ".../kubepods/burstable/podUID/..." */
void words_of_cgroup(const char *text, struct guest_words *words)
{
	static const char parent[] = "kubepods", key[] = "pod";
	const char *at = strstr(text, parent);

	at = at ? at + strlen(parent) : NULL;
	while (at && (at = strstr(at, key))) {
		at += strlen(key);
		if (set_uuid(words, WORD_POD, at, strnlen(at, 36), "-_"))
			return;
	}
}

/*
 * Firecracker's jailer makes the folder .../COMMAND/ID/root the root of the process. It does so by
 * pivot_root(2): /proc/PID/root is "/" then, and mountinfo has the folder.
 */
static void read_jail(const struct env *env, pid_t pid, struct guest_words *words)
{
	char text[PATH_MAX], *end, *id;

	env_read(env, text, sizeof(text), "/proc/%d/mountinfo", (int)pid);
	end = strstr(text, "/root / "); /* what is mounted, and where */
	if (!end)
		return;
	*end = '\0';
	id = strrchr(text, '/');
	if (!id)
		return;
	*id = '\0';
	if (!strncmp(path_base(text), "firecracker", strlen("firecracker")))
		set_word(words, WORD_ID, id + 1, strlen(id + 1));
}

/* ---- libvirt */

struct domain {
	XML_Parser parser;
	pid_t pid;
	struct guest_words *words;
	char path[PATH_SIZE]; /* the elements that are open now, from the root on */
	size_t path_len;
	char text[1024]; /* since an element began or ended; the rest of a longer one is left out */
	size_t text_len;
};

static void *resize(void *old, size_t size)
{
	return xreallocarray(old, size, 1);
}

static const char *attribute_of(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

/* The words of the innermost element: at its begin of an attribute, at its end of its text. */
static void take_words(struct domain *domain, const char **attributes)
{
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++) {
		const char *name = elements[i].attribute, *text = domain->text;
		size_t len = domain->text_len;

		if (strcmp(domain->path, elements[i].path) || !name != !attributes)
			continue;
		if (name) {
			text = attribute_of(attributes, name);
			len = text ? strlen(text) : 0;
		}
		if (elements[i].word == WORD_UUID)
			set_uuid(domain->words, WORD_UUID, text, len, "-");
		else
			set_word(domain->words, elements[i].word, text, len);
	}
}

static void begin_element(void *data, const char *name, const char **attributes)
{
	struct domain *domain = data;
	size_t left = sizeof(domain->path) - domain->path_len;
	size_t n = (size_t)snprintf(domain->path + domain->path_len, left, "/%s", name);
	bool is_read = n < left && strcmp(domain->path, DOMAIN "/devices"); /* long, has no word */

	if (is_read && !strcmp(domain->path, STATUS)) {
		const char *pid = attribute_of(attributes, "pid");

		is_read = pid && atoi(pid) == domain->pid;
	}
	domain->path_len += n; /* the end of an empty element is still told of after a stop */
	domain->text_len = 0;
	if (is_read)
		take_words(domain, attributes);
	else
		XML_StopParser(domain->parser, XML_FALSE);
}

static void end_element(void *data, const char *name)
{
	struct domain *domain = data;

	take_words(domain, NULL);
	domain->path_len -= strlen(name) + 1;
	domain->path[domain->path_len] = '\0';
	domain->text_len = 0;
}

/* A line's end is a blank. */
static void add_text(void *data, const char *text, int len)
{
	struct domain *domain = data;

	for (int i = 0; i < len && domain->text_len < sizeof(domain->text); i++)
		domain->text[domain->text_len++] = strchr(BLANKS, text[i]) ? ' ' : text[i];
}

/* libvirt writes no DTD: entities could make gigabytes of a short file. */
static void refuse_dtd(void *data, const char *name, const char *sysid, const char *pubid, int has)
{
	struct domain *domain = data;

	(void)name;
	(void)sysid;
	(void)pubid;
	(void)has;
	XML_StopParser(domain->parser, XML_FALSE);
}

/* What is read before the end of a damaged file counts. */
void words_of_domain(const char *text, size_t len, pid_t pid, struct guest_words *words)
{
	static const XML_Memory_Handling_Suite memory = { xmalloc, resize, free };
	struct domain domain = { .pid = pid, .words = words };

	domain.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
	XML_SetUserData(domain.parser, &domain);
	XML_SetElementHandler(domain.parser, begin_element, end_element);
	XML_SetCharacterDataHandler(domain.parser, add_text);
	XML_SetStartDoctypeDeclHandler(domain.parser, refuse_dtd);
	XML_Parse(domain.parser, text, (int)len, XML_TRUE);
	XML_ParserFree(domain.parser);
}

/* The name may be any: only libvirt's own file of this process counts. */
static void read_domain(const struct env *env, pid_t pid, const char *vmm, const char *name,
			struct guest_words *words)
{
	const char *driver = strcmp(vmm, "cloud-hypervisor") ? "qemu" : "ch";
	char path[PATH_MAX], *text = NULL;
	size_t len;

	if (strchr(name, '/'))
		return;
	env_path(env, path, sizeof(path), "/run/libvirt/%s/%s.xml", driver, name);
	if (!read_whole(path, DOMAIN_MAX, &text, &len))
		words_of_domain(text, len, pid, words);
	free(text);
}

void words_of_name(const struct env *env, pid_t pid, const char *vmm, const char *name,
		   struct guest_words *words)
{
	if (words->text[WORD_POD][0] && strchr(name, '_')) /* KubeVirt's NAMESPACE_NAME */
		set_full_name(words, name, strlen(name));
	if (!strcmp(vmm, "firecracker"))
		read_jail(env, pid, words);
	read_domain(env, pid, vmm, name, words);
	if (!strcmp(words->text[WORD_TITLE], name))
		words->text[WORD_TITLE][0] = '\0';
}
