/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_name - a table of VMMs, a table of thread names, and the syntaxes that they need. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/aside.h"
#include "lib/file.h"
#include "lib/text.h"
#include "host/guest_name.h"

#define CMDLINE_MAX ((size_t)4 << 20) /* what the kernel lets a process have, and more */
#define CMDLINE_SIZE 32768 /* libvirt and Proxmox name the guest in the first few hundred bytes */
#define CGROUP_SIZE 4096
#define PID_DIGITS 3 /* or more: a number may be a pid */
#define VCPU_IDS 16384 /* KVM_MAX_VCPU_IDS is less or as much on all architectures */

struct vmm {
	const char *name;
	const char *commands[4]; /* for fnmatch(3); at most 15 bytes, as a thread's name is */
	const char *options[3];	 /* the name is the next argument, or follows a '=' */
	bool has_suboptions;	 /* the name is one part of key=value,key=value */
};

static const struct vmm vmms[] = {
	/* -avd: Android's emulator, a QEMU */
	{ "qemu", { "qemu-system-*", "qemu-kvm*", "kvm" }, { "-name", "--name", "-avd" }, true },
	{ "firecracker", { "firecracker*" }, { "--id" }, false },
	{ "cloud-hypervisor", { "cloud-hyperviso*" }, { NULL }, false },
	{ "crosvm", { "crosvm*" }, { "--name" }, false },
	{ "libkrun", { "krun*", "libkrun*" }, { "start", "--name" }, false },
	{ "kvmtool", { "lkvm*", "kvmtool*", "vm" }, { "--name" }, false },
	{ "gvisor", { "runsc*" }, { NULL }, false },
	{ "dragonball", { "containerd-shim*" }, { NULL }, false }, /* a part of Kata's shim */
	{ "virtualbox", { "VBoxHeadless*", "VirtualBoxVM*" }, { "--comment" }, false },
};

/* Any other VMM: StratoVirt and renamed QEMUs have QEMU's options. */
static const struct vmm vmm_unknown = { NULL, { NULL }, { "-name", "--name" }, true };

/* '%' stands for the number. */
static const struct {
	const char *pattern;
	const char *vmm; /* NULL: several have such threads */
} vcpu_threads[] = {
	{ "CPU %/KVM", "qemu" }, /* with debug-threads=on; StratoVirt, too */
	{ "fc_vcpu %", "firecracker" }, /* libkrun, too */
	{ "vcpu%", NULL },       /* Cloud Hypervisor, libkrun */
	{ "vcpu-%", NULL },
	{ "vcpu_%", NULL },      /* alioth, rust-vmm's examples */
	{ "crosvm_vcpu%", "crosvm" },
	{ "kvm-vcpu-%", "kvmtool" },
	{ "db_vcpu%", "dragonball" },
	{ "EMT-%", "virtualbox" },
};

static const struct vmm *vmm_by_name(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(vmms); i++)
		if (!strcmp(vmms[i].name, name))
			return &vmms[i];
	return &vmm_unknown;
}

const char *guest_name_vmm(const char *command)
{
	const char *slash = strrchr(command, '/');

	if (slash)
		command = slash + 1;
	command += *command == '.'; /* NixOS' wrapped programs */
	for (size_t i = 0; i < ARRAY_SIZE(vmms); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(vmms[i].commands) && vmms[i].commands[k]; k++)
			if (!fnmatch(vmms[i].commands[k], command, 0))
				return vmms[i].name;
	}
	return NULL;
}

/* QEMU's "-name web1" means "guest=web1": of all parts only the first one may have no key. */
static bool name_from_suboptions(const char *value, size_t len, char *ret_name, size_t size)
{
	static const char key[] = "guest=";
	const char *end = value + len, *mark = memchr(value, '=', len);
	bool is_found = false, is_bare = !mark || memchr(value, ',', (size_t)(mark - value));
	char part[VM_NAME_SIZE + sizeof(key)];

	for (; value < end; is_bare = false) {
		size_t n = args_part(&value, end, part, sizeof(part));

		if (is_bare)
			is_found |= utf8_clean(part, n, ret_name, size);
		else if (n > strlen(key) && !memcmp(part, key, strlen(key)))
			is_found |= utf8_clean(part + strlen(key), n - strlen(key), ret_name, size);
	}
	return is_found;
}

/* Where the name begins, if the argument is an option that gives it: see args_value_at(). */
static int value_offset(const struct vmm *vmm, const char *arg, size_t len)
{
	int offset = -1;

	for (size_t i = 0; offset < 0 && i < ARRAY_SIZE(vmm->options); i++)
		if (vmm->options[i])
			offset = args_value_at(vmm->options[i], arg, len);
	return offset;
}

/* The last of several names counts, as in the VMMs. */
bool guest_name_from_cmdline(const char *vmm_name, const char *cmdline, size_t len, char *ret_name,
			     size_t size)
{
	const struct vmm *vmm = vmm_by_name(vmm_name);
	struct args args = { cmdline, cmdline + len };
	bool is_found = false;
	const char *arg;
	size_t n;

	args_next(&args, &arg, &n); /* the command itself */
	while (args_next(&args, &arg, &n) && (n != 2 || memcmp(arg, "--", 2))) {
		int offset = value_offset(vmm, arg, n);

		if (offset < 0 || (offset == 0 && (!args_next(&args, &arg, &n) || *arg == '-')))
			continue;
		arg += offset;
		n -= (size_t)offset;
		if (vmm->has_suboptions)
			is_found |= name_from_suboptions(arg, n, ret_name, size);
		else
			is_found |= utf8_clean(arg, n, ret_name, size);
	}
	return is_found;
}

/* systemd.unit(5), "string escaping for inclusion in unit names": \x2d is '-'. Works in place. */
static size_t unescape(char *text, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned int byte = 0;

		if (len - i >= 4 && text[i] == '\\' && text[i + 1] == 'x' &&
		    isxdigit((unsigned char)text[i + 2]) && isxdigit((unsigned char)text[i + 3])) {
			sscanf(text + i + 2, "%2x", &byte);
			i += 3;
		} else {
			byte = (unsigned char)text[i];
		}
		text[out++] = (char)byte;
	}
	return out;
}

/* libvirt calls a machine DRIVER-ID-NAME. */
static bool name_from_machine(const char *text, size_t len, char *ret_name, size_t size)
{
	static const char *const drivers[] = { "qemu-", "ch-" };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		size_t at = strlen(drivers[i]), digits = at;

		if (len <= at || memcmp(text, drivers[i], at))
			continue;
		while (digits < len && isdigit((unsigned char)text[digits]))
			digits++;
		if (digits > at && digits < len && text[digits] == '-')
			return utf8_clean(text + digits + 1, len - digits - 1, ret_name, size);
	}
	return utf8_clean(text, len, ret_name, size);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

/*
 * One of many units that systemd makes of one file, as "firecracker@web1.service": a unit for each
 * guest. Not a user's manager or a login, in which all that the user has started may be.
 */
static bool name_from_unit(char *text, size_t len, char *ret_name, size_t size)
{
	static const char *const of_users[] = { "user@", "getty@", "serial-getty@",
						"container-getty@", "ssh@", "sshd@" };
	char *mark = memchr(text, '@', len);

	if (!mark)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(of_users); i++) {
		if (!strncmp(text, of_users[i], strlen(of_users[i])))
			return false;
	}
	len = unescape(mark + 1, (size_t)(text + len - mark - 1));
	return utf8_clean(mark + 1, len, ret_name, size);
}

/* folder: one part of a cgroup's path; next: the rest of the path, from its '/' on. */
static bool name_from_folder(const char *folder, size_t len, const char *next, char *ret_name,
			     size_t size)
{
	static const char scope[] = "machine-", scope_end[] = ".scope", old_end[] = ".libvirt-qemu",
			  unit_end[] = ".service";
	char text[256];

	if (len >= sizeof(text))
		return false;
	memcpy(text, folder, len);
	text[len] = '\0';
	if (ends_with(text, len, old_end))
		return name_from_machine(text, len - strlen(old_end), ret_name, size);
	if (ends_with(text, len, unit_end) && *next != '/')
		return name_from_unit(text, len - strlen(unit_end), ret_name, size);
	if (strncmp(text, scope, strlen(scope)) || !ends_with(text, len, scope_end))
		return false;
	if (!strncmp(next, "/payload", strlen("/payload"))) /* of a container, not of a VM */
		return false;
	len = unescape(text, len - strlen(scope_end));
	return len > strlen(scope) &&
	       name_from_machine(text + strlen(scope), len - strlen(scope), ret_name, size);
}

bool guest_name_from_cgroup(const char *text, char *ret_name, size_t size)
{
	static const char oldest[] = "/libvirt/qemu/";
	bool is_found = false;

	for (const char *slash = strpbrk(text, "/\n"); slash; slash = strpbrk(slash + 1, "/\n")) {
		size_t len = strcspn(slash + 1, "/\n");

		if (*slash == '\n' && is_found)
			break;
		if (*slash == '\n')
			continue;
		if (name_from_folder(slash + 1, len, slash + 1 + len, ret_name, size))
			is_found = true;
		if (strncmp(slash, oldest, strlen(oldest)))
			continue;
		slash += strlen(oldest) - 1;
		if (utf8_clean(slash + 1, strcspn(slash + 1, "/\n"), ret_name, size))
			is_found = true;
	}
	return is_found;
}

static bool matches_vcpu(const char *pattern, const char *comm, int *ret_index)
{
	size_t before = strcspn(pattern, "%"), after = strlen(pattern) - before - 1;
	const char *p = comm + before;
	int index = 0;

	if (strncmp(comm, pattern, before) || !isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p) && index < VCPU_IDS; p++)
		index = index * 10 + (*p - '0');
	if (index >= VCPU_IDS || strncmp(p, pattern + before + 1, after) ||
	    p[after + strspn(p + after, " \n")])
		return false;
	*ret_index = index;
	return true;
}

/* The row of vcpu_threads that the name of a thread is of; its size: none. */
static size_t find_vcpu(const char *comm, int *ret_index)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(vcpu_threads) &&
	       !matches_vcpu(vcpu_threads[i].pattern, comm, ret_index))
		i++;
	return i;
}

int guest_name_vcpu(const char *comm)
{
	int index = -1;

	find_vcpu(comm, &index);
	return index;
}

/* What follows the prefix; NULL: comm has another. */
static const char *after(const char *comm, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(comm, prefix, len) == 0 ? comm + len : NULL;
}

bool guest_name_is_vhost(const char *comm)
{
	return after(comm, "vhost-");
}

void guest_name_thread(const char *comm, size_t len, char *ret_name, size_t size)
{
	size_t all, end;

	*ret_name = '\0';
	utf8_clean(comm, strnlen(comm, len), ret_name, size);
	all = end = strlen(ret_name);
	while (end && isdigit((unsigned char)ret_name[end - 1]))
		end--;
	if (all - end < PID_DIGITS)
		return;
	while (end && (ispunct((unsigned char)ret_name[end - 1]) || ret_name[end - 1] == ' '))
		end--;
	ret_name[end] = '\0';
}

pid_t guest_name_vmm_pid(const char *comm)
{
	const char *pid = after(comm, "vhost-");

	if (!pid)
		pid = after(comm, "kvm-pit/");
	return pid ? (pid_t)atoi(pid) : 0;
}

/* Leaves out what is more than the largest size. 0, or -errno. */
static int read_cmdline(const struct env *env, pid_t pid, char *buf, size_t size, size_t *ret_len)
{
	char path[PATH_MAX], *text;
	size_t len;
	int err;

	env_path(env, path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	err = aside_read_whole(path, CMDLINE_MAX, &text, &len);
	buf[0] = '\0';
	*ret_len = 0;
	if (err)
		return err;
	if (len >= size) {
		for (len = size - 1; len && text[len - 1];)
			len--;
	}
	memcpy(buf, text, len);
	buf[len] = '\0';
	*ret_len = len;
	free(text);
	return 0;
}

/* "--api-socket path=/run/web1.sock" of Cloud Hypervisor: web1. */
static bool name_from_socket(const char *cmdline, size_t len, char *ret_name, size_t size)
{
	static const char key[] = "path=";
	struct args args = { cmdline, cmdline + len };
	const char *path, *slash, *dot;

	if (!args_value(&args, "--api-socket", &path, &len) ||
	    args_value_at("fd", path, len) >= 0)
		return false;
	if (len > strlen(key) && memcmp(path, key, strlen(key)) == 0) {
		path += strlen(key);
		len -= strlen(key);
	}
	slash = memrchr(path, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	dot = memrchr(path, '.', len);
	return utf8_clean(path, dot > path ? (size_t)(dot - path) : len, ret_name, size);
}

static bool find_name(const char *vmm, pid_t pid, const char *cmdline, size_t len,
		      const char *cgroup, const struct guest_words *words, char *ret_name,
		      size_t size)
{
	const char *id = words->text[WORD_ID];

	if (guest_name_from_cmdline(vmm, cmdline, len, ret_name, size))
		return true;
	if (vmm && !strcmp(vmm, "kvmtool")) /* the name that `lkvm list` shows */
		return snprintf(ret_name, size, "guest-%d", (int)pid) > 0;
	if (id[0])
		return snprintf(ret_name, size, "%s", id) > 0;
	if (guest_name_from_cgroup(cgroup, ret_name, size))
		return true;
	return vmm && !strcmp(vmm, "cloud-hypervisor") &&
	       name_from_socket(cmdline, len, ret_name, size);
}

struct guest_name guest_name_of_ended(pid_t pid, const char *comm, const char *cmdline, size_t len)
{
	const char *vmm = len ? guest_name_vmm(cmdline) : NULL;
	struct guest_name found = { .is_own = false };
	int index;
	size_t row = find_vcpu(comm, &index);

	if (!vmm)
		vmm = guest_name_vmm(comm);
	words_of_cmdline(cmdline, len, &found.words);
	found.is_own = len && find_name(vmm, pid, cmdline, len, "", &found.words, found.name,
					sizeof(found.name));
	if (!vmm)
		vmm = row < ARRAY_SIZE(vcpu_threads) ? vcpu_threads[row].vmm : comm;
	if (vmm)
		utf8_clean(vmm, strlen(vmm), found.vmm, sizeof(found.vmm));
	if (!found.is_own &&
	    (!vmm || !utf8_clean(vmm, strlen(vmm), found.name, sizeof(found.name))))
		snprintf(found.name, sizeof(found.name), "pid-%d", (int)pid);
	return found;
}

struct guest_name guest_name_find(const struct env *env, pid_t pid)
{
	struct guest_name found = { .is_own = false };
	char cmdline[CMDLINE_SIZE], comm[64], cgroup[CGROUP_SIZE];
	size_t len;
	int err = read_cmdline(env, pid, cmdline, sizeof(cmdline), &len);
	const char *vmm = guest_name_vmm(cmdline);

	env_read_line(env, comm, sizeof(comm), "/proc/%d/comm", (int)pid);
	found.is_late = err == -ETIMEDOUT || err == -EAGAIN;
	if (!vmm)
		vmm = guest_name_vmm(comm);
	if (vmm)
		snprintf(found.vmm, sizeof(found.vmm), "%s", vmm);
	else
		utf8_clean(comm, strlen(comm), found.vmm, sizeof(found.vmm));
	env_read(env, cgroup, sizeof(cgroup), "/proc/%d/cgroup", (int)pid);
	words_of_cmdline(cmdline, len, &found.words);
	words_of_cgroup(cgroup, &found.words);
	found.is_own = find_name(vmm, pid, cmdline, len, cgroup, &found.words, found.name,
				 sizeof(found.name));
	if (!found.is_own && (found.is_late ||
			      !utf8_clean(comm, strlen(comm), found.name, sizeof(found.name))))
		snprintf(found.name, sizeof(found.name), "pid-%d", (int)pid);
	words_of_name(env, pid, found.vmm, found.name, &found.words);
	return found;
}

/* ---- the arguments of a process, the values of options, and the parts of QEMU's values */

bool args_next(struct args *args, const char **ret_arg, size_t *ret_len)
{
	const char *nul;

	if (args->at >= args->end)
		return false;
	nul = memchr(args->at, '\0', (size_t)(args->end - args->at));
	*ret_arg = args->at;
	*ret_len = (size_t)((nul ? nul : args->end) - args->at);
	args->at += *ret_len + 1;
	return true;
}

int args_value_at(const char *option, const char *arg, size_t len)
{
	size_t n = strlen(option);

	if (len < n || memcmp(arg, option, n) || (len > n && arg[n] != '='))
		return -1;
	return len == n ? 0 : (int)n + 1;
}

bool args_value(struct args *args, const char *option, const char **ret_value, size_t *ret_len)
{
	while (args_next(args, ret_value, ret_len)) {
		int offset = args_value_at(option, *ret_value, *ret_len);

		if (offset == 0)
			return args_next(args, ret_value, ret_len);
		if (offset < 0)
			continue;
		*ret_value += offset;
		*ret_len -= (size_t)offset;
		return true;
	}
	return false;
}

size_t args_part(const char **pos, const char *end, char *part, size_t size)
{
	const char *p = *pos;
	size_t len = 0;

	for (; p < end; p++) {
		if (*p == ',' && (++p == end || *p != ','))
			break;
		if (len < size)
			part[len++] = *p;
	}
	*pos = p;
	return len;
}
