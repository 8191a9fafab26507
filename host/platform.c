// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds a platform's words: tables of options, folders and elements, and readers of each. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/text.h"
#include "lib/xml.h"
#include "host/guest_name.h"

#define DOMAIN_MAX (8u << 20) /* libvirt's file has some 50 KB */

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

/* Elements of libvirt's file. Where two have the same word, the later one in the file counts. */
static const struct {
	const char *path; /* in the domain */
	const char *attribute; /* NULL: the text */
	enum guest_word word;
} elements[] = {
	{ "uuid", NULL, WORD_UUID },
	{ "title", NULL, WORD_TITLE },
	{ "metadata/nova:instance/nova:name", NULL, WORD_TITLE },
	{ "metadata/nova:instance/nova:flavor", "name", WORD_FLAVOR },
	{ "metadata/nova:instance/nova:owner/nova:project", NULL, WORD_PROJECT },
	{ "metadata/one:vm/one:name", NULL, WORD_TITLE }, /* OpenNebula */
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
	char path[PATH_MAX], text[PATH_MAX] = "", *end, *id;

	read_small(env_path(env, path, sizeof(path), "/proc/%d/mountinfo", (int)pid), text,
		   sizeof(text));
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

static void take_element(const struct xml *xml, struct guest_words *words)
{
	static const char domain[] = "domstatus/domain/";
	char text[WORD_SIZE];

	if (strncmp(xml->path, domain, strlen(domain)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++) {
		const char *attribute = elements[i].attribute;

		if (strcmp(xml->path + strlen(domain), elements[i].path) ||
		    xml->is_element != !!attribute ||
		    !(attribute ? xml_attribute(xml, attribute, text, sizeof(text)) :
				  xml_text(xml, text, sizeof(text))))
			continue;
		if (elements[i].word == WORD_UUID)
			set_uuid(words, WORD_UUID, text, strlen(text), "-");
		else
			set_word(words, elements[i].word, text, strlen(text));
	}
}

void words_of_domain(const char *text, size_t len, pid_t pid, struct guest_words *words)
{
	struct xml xml = { .at = text, .end = text + len };
	char value[16];

	while (xml_next(&xml) && strcmp(xml.path, "domstatus/domain/devices")) {
		if (xml.is_element && !strcmp(xml.path, "domstatus") &&
		    (!xml_attribute(&xml, "pid", value, sizeof(value)) || atoi(value) != pid))
			return;
		take_element(&xml, words);
	}
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
