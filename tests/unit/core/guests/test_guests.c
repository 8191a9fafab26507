/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_guests - the inventory of guests on machines made up in a temporary folder, and on this one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/array.h"
#include "core/guests/guests.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SECOND 1000000000ull

static unsigned int nr_failing_reads; /* how many calls of readdir() fail with EIO */

/* Replaces the C library's readdir(). */
struct dirent *failing_readdir(DIR *dir) __asm__("readdir");

struct dirent *failing_readdir(DIR *dir)
{
	static struct dirent *(*real)(DIR *dir);

	if (nr_failing_reads) {
		nr_failing_reads--;
		errno = EIO;
		return NULL;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dir);
}

/* A machine that is a folder. */
struct box {
	char root[64];
	char debugfs[96];
	struct env env;
	struct guests *guests;
	struct error error;
};

static void put(struct box *box, const char *text, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Makes the folders of the path, too. */
static void put(struct box *box, const char *text, size_t len, const char *fmt, ...)
{
	char path[512];
	va_list args;
	FILE *file;
	int at = snprintf(path, sizeof(path), "%s", box->root);

	va_start(args, fmt);
	vsnprintf(path + at, sizeof(path) - (size_t)at, fmt, args);
	va_end(args);
	for (char *slash = strchr(path + at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (!text) {
		mkdir(path, 0755);
		return;
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

#define PUT(box, text, ...) put(box, text, strlen(text), __VA_ARGS__)
#define FOLDER(box, ...) put(box, NULL, 0, __VA_ARGS__)
#define ARGS(box, pid, args) put(box, args, sizeof(args), "/proc/%d/cmdline", pid)

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void drop(struct box *box, const char *fmt, int a, int b)
{
	char rest[64], path[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(rest, sizeof(rest), fmt, a, b);
#pragma GCC diagnostic pop
	snprintf(path, sizeof(path), "%s%s", box->root, rest);
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int setup(void **state)
{
	struct box *box = calloc(1, sizeof(*box));

	strcpy(box->root, "/tmp/kvmtop-guest-XXXXXX");
	if (!mkdtemp(box->root) || chmod(box->root, 0755))
		return -1;
	snprintf(box->debugfs, sizeof(box->debugfs), "%s/sys/kernel/debug/kvm", box->root);
	box->env.root = box->root;
	FOLDER(box, "/proc");
	box->guests = guests_new(&box->env);
	*state = box;
	return box->guests ? 0 : -1;
}

static int teardown(void **state)
{
	struct box *box = *state;

	if (!getuid() && seteuid(0)) /* a test that failed half-way may have left it */
		return -1;
	guests_free(box->guests);
	drop(box, "", 0, 0);
	free(box);
	return 0;
}

struct proc {
	pid_t pid, ppid;
	uint64_t start;
	const char *comm;
	int threads;
	char state;
	unsigned int flags;
	int guest_ticks;
};

static void put_stat(struct box *box, struct proc proc)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%d (%s) %c %d 1 1 0 -1 %u 1 2 3 4 5 6 7 8 20 0 %d 0 %llu 1 2 3 4 5 6 7 8 9 "
		 "10 11 12 13 14 15 16 17 18 19 20 %d 9\n",
		 (int)proc.pid, proc.comm, proc.state ? proc.state : 'S', (int)proc.ppid,
		 proc.flags, proc.threads ? proc.threads : 1, (unsigned long long)proc.start,
		 proc.guest_ticks);
	PUT(box, text, "/proc/%d/stat", (int)proc.pid);
}

static void put_thread(struct box *box, pid_t pid, pid_t tid, const char *comm)
{
	PUT(box, comm, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
}

static void put_fd(struct box *box, pid_t pid, int fd, const char *target)
{
	char path[256];

	FOLDER(box, "/proc/%d/fd", (int)pid);
	snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", box->root, (int)pid, fd);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static void put_proc(struct box *box, struct proc proc)
{
	char comm[64];

	put_stat(box, proc);
	snprintf(comm, sizeof(comm), "%s\n", proc.comm);
	PUT(box, comm, "/proc/%d/comm", (int)proc.pid);
	put_thread(box, proc.pid, proc.pid, comm);
	put_fd(box, proc.pid, 0, "/dev/null");
}

/* A process with a VM and one vCPU: its thread is found only because it is the only one. */
static void put_vm(struct box *box, pid_t pid, uint64_t start, const char *comm)
{
	put_proc(box, (struct proc){ .pid = pid, .start = start, .comm = comm });
	put_fd(box, pid, 9, "anon_inode:kvm-vm");
	put_fd(box, pid, 10, "anon_inode:kvm-vcpu:0");
}

static void refresh(struct box *box, uint64_t now_ns)
{
	int err = guests_refresh(box->guests, now_ns, &box->error);

	if (err)
		print_error("%s\n", box->error.text);
	assert_int_equal(err, 0);
}

static const struct guest *only_guest(struct box *box)
{
	assert_int_equal(guests_count(box->guests), 1);
	assert_null(guests_at(box->guests, 1));
	return guests_at(box->guests, 0);
}

static void assert_vcpu(const struct guest *guest, size_t i, int index, pid_t tid)
{
	assert_true(i < guest->nr_vcpus);
	assert_int_equal(guest->vcpus[i].index, index);
	assert_int_equal(guest->vcpus[i].tid, tid);
}

/* ---- names ---- */

struct named {
	const char *vmm, *args;
	size_t len;
	const char *name;
};

#define NAMED(vmm, args, name) { vmm, args, sizeof(args), name }

TEST(test_name_of_command_line)
{
	static const struct named cases[] = {
		NAMED("qemu", "q\0-name\0web1", "web1"),
		NAMED("qemu", "q\0--name\0web1", "web1"),
		NAMED("qemu", "q\0-name=web1", "web1"),
		NAMED("qemu", "q\0-name\0guest=web1,debug-threads=on", "web1"),
		NAMED("qemu", "q\0-name\0debug-threads=on,guest=web1", "web1"),
		NAMED("qemu", "q\0-name\0debug-threads=on,web1", NULL), /* QEMU refuses it */
		NAMED("qemu", "q\0-name\0guest=web1,debug-threads", "web1"),
		NAMED("qemu", "q\0-name\0web1,process=x,guest=other", "other"),
		NAMED("qemu", "q\0-name\0guest=a,guest=b", "b"),
		NAMED("qemu", "q\0-name\0vm,,a=b,process=x", "vm,a=b"),
		NAMED("qemu", "q\0-name\0guest=vm,,comma,debug-threads=on", "vm,comma"),
		NAMED("qemu", "q\0-name\0vm,,comma", "vm,comma"),
		NAMED("qemu", "q\0-name\0vm,,,debug-threads=on", "vm,"),
		NAMED("qemu", "q\0-name\0guest=a=b", "a=b"),
		NAMED("qemu", "q\0-name\0my web server", "my web server"),
		NAMED("qemu", "q\0-name\0  padded  ", "padded"),
		NAMED("qemu", "q\0-name\0one\0-name\0two", "two"),
		NAMED("qemu", "q\0-name\0debug-threads=on", NULL),
		NAMED("qemu", "q\0-name\0guest=", NULL),
		NAMED("qemu", "q\0-name\0,", NULL),
		NAMED("qemu", "q\0-name\0", NULL),
		NAMED("qemu", "q\0-name", NULL),
		NAMED("qemu", "q\0-name\0-m\0512", NULL),
		NAMED("qemu", "q\0-names\0web1", NULL),
		NAMED("qemu", "q\0-append\0-name=x y", "x y"), /* QEMU would not */
		NAMED("qemu", "q\0-append\0console=ttyS0 -name x", NULL),
		NAMED("qemu", "-name\0web1", NULL),
		NAMED("qemu", "", NULL),
		NAMED("qemu", "q\0-avd\0Pixel_9\0-no-window", "Pixel_9"),
		NAMED("virtualbox", "v\0--comment\0my web\0--startvm\0cb568998", "my web"),
		NAMED("firecracker", "f\0--id\0vm-7\0--api-sock\0/x", "vm-7"),
		NAMED("firecracker", "f\0--id=vm-7", "vm-7"),
		NAMED("firecracker", "f\0--api-sock\0/x\0--\0--id\0no", NULL),
		NAMED("firecracker", "f\0--id\0a,b=c", "a,b=c"),
		NAMED("crosvm", "c\0run\0--name\0box\0--cpus\0002", "box"),
		NAMED("libkrun", "krunvm\0start\0fedora", "fedora"),
		NAMED("libkrun", "krunvm\0start\0--cpus\0002", NULL),
		NAMED("kvmtool", "lkvm\0run\0--name\0t1", "t1"),
		NAMED("kvmtool", "lkvm\0run\0--name=t1", "t1"),
		NAMED("kvmtool", "lkvm\0run\0-n\0mode=tap", NULL), /* its -n is --network */
		NAMED("cloud-hypervisor", "c\0--name\0x", NULL),
		NAMED(NULL, "stratovirt\0-name\0s1", "s1"),
		NAMED(NULL, "x\0--id\0s1", NULL),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[64] = "untouched";
		bool is_found = guest_name_from_cmdline(cases[i].vmm, cases[i].args, cases[i].len,
							name, sizeof(name));

		if (is_found != (cases[i].name != NULL))
			print_error("case %zu: \"%s\"\n", i, name);
		assert_int_equal(is_found, cases[i].name != NULL);
		assert_string_equal(name, cases[i].name ? cases[i].name : "untouched");
	}
}

TEST(test_command_line_without_end)
{
	char name[64];

	assert_true(guest_name_from_cmdline("qemu", "q\0-name\0web12", 12, name, sizeof(name)));
	assert_string_equal(name, "web1");
	assert_false(guest_name_from_cmdline("qemu", "q\0-name", 7, name, sizeof(name)));
	assert_false(guest_name_from_cmdline("qemu", "", 0, name, sizeof(name)));
}

TEST(test_name_of_cgroup)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "0::/machine.slice/machine-qemu\\x2d3\\x2dweb1.scope/libvirt/x\n", "web1" },
		{ "0::/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d1.scope\n", "web-1" },
		{ "0::/machine.slice/machine-ch\\x2d1\\x2ddb.scope\n", "db" },
		{ "0::/machine.slice/machine-web1.scope\n", "web1" },
		{ "0::/machine.slice/machine-qemu\\x2dlab.scope\n", "qemu-lab" },
		{ "0::/machine/qemu-3-web1.libvirt-qemu/libvirt/emulator\n", "web1" },
		{ "0::/machine/web1.libvirt-qemu\n", "web1" },
		{ "3:cpu:/libvirt/qemu/old/emulator\n", "old" },
		{ "2:cpu:/\n1:name=systemd:/machine.slice/machine-v1.scope\n0::/\n", "v1" },
		{ "0::/machine.slice/machine-box.scope/payload/vm.service\n", NULL },
		{ "0::/machine-box.scope/payload/x/machine-qemu\\x2d1\\x2din.scope", "in" },
		{ "1:name=systemd:/machine-a.scope\n0::/machine-b.scope\n", "a" },
		{ "0::/machine.slice/machine-bad\\x1b\\x0a.scope\n", "bad??" },
		{ "0::/machine.slice/machine-cut\\x2.scope\n", "cut\\x2" },
		{ "0::/machine.slice/machine-.scope\n", NULL },
		{ "0::/machine.slice/libvirt/emulator\n", NULL },
		{ "0::/system.slice/system-microvm.slice/microvm@web1.service\n", "web1" },
		{ "1:name=systemd:/system.slice/a\\x2db@web\\x2d1.service\n", "web-1" },
		{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/qemu@db.service",
		  "db" },
		{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tmux.scope", NULL },
		{ "0::/system.slice/system-getty.slice/serial-getty@ttyS0.service\n", NULL },
		{ "0::/system.slice/system-sshd.slice/sshd@0-10.0.0.2:22.service\n", NULL },
		{ "9:pids:/user.slice/user-1000.slice/user@1000.service\n0::/x\n", NULL },
		{ "0::/system.slice/vm@.service\n", NULL },
		{ "0::/system.slice/qemu.service\n", NULL },
		{ "0::/user.slice/user-1000.slice/session-2.scope\n", NULL },
		{ "0::/\n", NULL },
		{ "", NULL },
		{ "/libvirt/qemu/", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[64] = "untouched";

		if (guest_name_from_cgroup(cases[i].text, name, sizeof(name)) != !!cases[i].name)
			print_error("%s", cases[i].text);
		assert_string_equal(name, cases[i].name ? cases[i].name : "untouched");
	}
}

TEST(test_vcpu_threads)
{
	assert_int_equal(guest_name_vcpu("CPU 0/KVM\n"), 0);
	assert_int_equal(guest_name_vcpu("CPU 127/KVM"), 127);
	assert_int_equal(guest_name_vcpu("fc_vcpu 3\n"), 3);
	assert_int_equal(guest_name_vcpu("vcpu0 \n"), 0);
	assert_int_equal(guest_name_vcpu("vcpu12\n"), 12);
	assert_int_equal(guest_name_vcpu("vcpu-1\n"), 1);
	assert_int_equal(guest_name_vcpu("vcpu_1\n"), 1);
	assert_int_equal(guest_name_vcpu("crosvm_vcpu2\n"), 2);
	assert_int_equal(guest_name_vcpu("kvm-vcpu-5\n"), 5);
	assert_int_equal(guest_name_vcpu("db_vcpu1\n"), 1);
	assert_int_equal(guest_name_vcpu("CPU 0/TCG\n"), -1);
	assert_int_equal(guest_name_vcpu("CPU 0/KVMX\n"), -1);
	assert_int_equal(guest_name_vcpu("vcpu\n"), -1);
	assert_int_equal(guest_name_vcpu("vcpux\n"), -1);
	assert_int_equal(guest_name_vcpu("vcpu1a\n"), -1);
	assert_int_equal(guest_name_vcpu("vcpu16383\n"), 16383);
	assert_int_equal(guest_name_vcpu("vcpu16384\n"), -1);
	assert_int_equal(guest_name_vcpu("vcpu99999999999999\n"), -1);
	assert_int_equal(guest_name_vcpu("worker\n"), -1);
	assert_int_equal(guest_name_vcpu(""), -1);
}

/* Nothing in a name moves a cursor, and it is one name for the threads of many VMMs. */
TEST(test_names_of_threads)
{
	static const char *const names[][2] = {
		{ "vhost-4110", "vhost" },	    { "IO iothread1", "IO iothread1" },
		{ "CPU 12/KVM", "CPU 12/KVM" },	    { "worker", "worker" },
		{ "a\x1b)b", "a?)b" },	    { "task_:1234", "task" },
		{ "1234", "" },		    { "b\n", "b?" },
		{ "t\xc3\xa4" "123", "t\xc3\xa4" }, { "cut\xc3", "cut?" },
	};
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		guest_name_thread(names[i][0], 16, name, sizeof(name));
		assert_string_equal(name, names[i][1]);
	}
	guest_name_thread("web12345", 3, name, sizeof(name)); /* not ended by NUL */
	assert_string_equal(name, "web");
}

TEST(test_kernel_threads)
{
	assert_true(guest_name_is_vhost("vhost-4110"));
	assert_false(guest_name_is_vhost("kvm-pit/4110"));
	assert_false(guest_name_is_vhost("vhost"));
	assert_int_equal(guest_name_vmm_pid("vhost-4110"), 4110);
	assert_int_equal(guest_name_vmm_pid("kvm-pit/4110"), 4110);
	assert_int_equal(guest_name_vmm_pid("vhost-"), 0);
	assert_int_equal(guest_name_vmm_pid("kworker/4110"), 0);
}

TEST(test_vmms)
{
	assert_string_equal(guest_name_vmm("/usr/bin/qemu-system-x86_64"), "qemu");
	assert_string_equal(guest_name_vmm("qemu-system-x86"), "qemu");
	assert_string_equal(guest_name_vmm("/usr/libexec/qemu-kvm"), "qemu");
	assert_string_equal(guest_name_vmm("/usr/bin/kvm"), "qemu");
	assert_string_equal(guest_name_vmm(".qemu-system-x8"), "qemu");
	assert_string_equal(guest_name_vmm("firecracker-v1.7.0-x86_64"), "firecracker");
	assert_string_equal(guest_name_vmm("cloud-hypervisor"), "cloud-hypervisor");
	assert_string_equal(guest_name_vmm("cloud-hyperviso"), "cloud-hypervisor");
	assert_string_equal(guest_name_vmm("crosvm"), "crosvm");
	assert_string_equal(guest_name_vmm("krunvm"), "libkrun");
	assert_string_equal(guest_name_vmm("lkvm"), "kvmtool");
	assert_null(guest_name_vmm("kvmtop"));
	assert_null(guest_name_vmm("find"));
	assert_null(guest_name_vmm(""));
}

/* ---- every VMM from its process to its threads, without debugfs ---- */

static void put_vmm(struct box *box, pid_t pid, const char *comm, const char *thread0,
		    const char *thread1)
{
	put_proc(box, (struct proc){ .pid = pid, .start = 50, .comm = comm, .threads = 3 });
	put_thread(box, pid, pid + 1, thread0);
	put_thread(box, pid, pid + 2, thread1);
	put_fd(box, pid, 9, "anon_inode:kvm-vm");
	put_fd(box, pid, 10, "anon_inode:kvm-vcpu:0");
	put_fd(box, pid, 11, "anon_inode:kvm-vcpu:1");
	put_fd(box, pid, 12, "anon_inode:kvm-vcpu-stats:1");
}

static void assert_guest(struct box *box, size_t i, pid_t pid, const char *name, const char *vmm,
			 bool is_named)
{
	const struct guest *guest = guests_at(box->guests, i);

	assert_non_null(guest);
	assert_int_equal(guest->pid, pid);
	assert_string_equal(guest->name, name);
	assert_string_equal(guest->vmm, vmm);
	assert_int_equal(guest->is_named, is_named);
	assert_int_equal(guest->nr_vms, 1);
	assert_int_equal(guest->nr_vcpus, 2);
	assert_vcpu(guest, 0, 0, pid + 1);
	assert_vcpu(guest, 1, 1, pid + 2);
}

TEST(test_all_vmms, setup, teardown)
{
	struct box *box = *state;

	put_vmm(box, 100, "qemu-system-x86", "CPU 0/KVM\n", "CPU 1/KVM\n");
	ARGS(box, 100, "/usr/bin/qemu-system-x86_64\0-name\0guest=web1,debug-threads=on\0-S");
	put_vmm(box, 200, "firecracker", "fc_vcpu 0\n", "fc_vcpu 1\n");
	ARGS(box, 200, "/firecracker\0--id\0fc-1\0--start-time-us\0001");
	put_vmm(box, 300, "cloud-hyperviso", "vcpu0 \n", "vcpu1\n");
	ARGS(box, 300, "cloud-hypervisor\0--kernel\0/k");
	put_vmm(box, 400, "crosvm", "crosvm_vcpu0\n", "crosvm_vcpu1\n");
	ARGS(box, 400, "crosvm\0run\0--name\0cr\0k");
	put_vmm(box, 500, "lkvm", "kvm-vcpu-0\n", "kvm-vcpu-1\n");
	ARGS(box, 500, "lkvm\0run\0-k\0bzImage");
	put_vmm(box, 600, "krunvm", "fc_vcpu 0\n", "fc_vcpu 1\n");
	ARGS(box, 600, "krunvm\0start\0fedora");
	put_vmm(box, 700, "myvmm", "vcpu-0\n", "vcpu-1\n");
	ARGS(box, 700, "./myvmm\0--id\0x");
	put_vmm(box, 800, "qemu-kvm", "CPU 0/KVM\n", "CPU 1/KVM\n");
	ARGS(box, 800, "/usr/libexec/qemu-kvm\0-m\0512");
	PUT(box, "0::/machine.slice/machine-qemu\\x2d3\\x2ddb1.scope/libvirt/emulator\n",
	    "/proc/800/cgroup");
	put_proc(box, (struct proc){ .pid = 900, .start = 50, .comm = "find" });
	ARGS(box, 900, "find\0/\0-name\0core");

	refresh(box, 0);
	assert_int_equal(guests_count(box->guests), 8);
	assert_guest(box, 0, 100, "web1", "qemu", true);
	assert_guest(box, 1, 200, "fc-1", "firecracker", true);
	assert_guest(box, 2, 300, "cloud-hyperviso", "cloud-hypervisor", false);
	assert_guest(box, 3, 400, "cr", "crosvm", true);
	assert_guest(box, 4, 500, "guest-500", "kvmtool", true);
	assert_guest(box, 5, 600, "fedora", "libkrun", true);
	assert_guest(box, 6, 700, "myvmm", "myvmm", false);
	assert_guest(box, 7, 800, "db1", "qemu", true);
	for (uint32_t id = 1; id <= 8; id++)
		assert_int_equal(guests_by_id(box->guests, id)->id, id);
	assert_null(guests_by_id(box->guests, 0));
	assert_null(guests_by_id(box->guests, 9));
}

TEST(test_odd_processes, setup, teardown)
{
	struct box *box = *state;
	struct proc_stat stat;
	struct proc proc;

	put_vm(box, 10, 50, "a) S 1 (b");	   /* a command that looks like the rest of stat */
	PUT(box, "", "/proc/10/cmdline");
	put_vm(box, 11, 50, " \x1b ");
	put_vm(box, 12, 50, "");
	ARGS(box, 14, "microvm@web1\0-m\000512"); /* what started it gave it another argv[0] */
	put_vm(box, 13, 50, "brackets");
	put_fd(box, 13, 9, "anon_inode:[kvm-vm]");
	put_vm(box, 14, 50, "qemu-system-x86");
	put_fd(box, 14, 9, "anon_inode:kvm-vm (deleted)");
	put_vm(box, 15, 50, "statsonly");
	put_fd(box, 15, 9, "anon_inode:kvm-vm-stats");
	put_proc(box, (struct proc){ .pid = 16, .start = 50, .comm = "zombie", .state = 'Z' });
	put_proc(box, (struct proc){ .pid = 17, .start = 50, .comm = "nofd" });
	drop(box, "/proc/%d/fd", 17, 0);
	FOLDER(box, "/proc/18"); /* ended while it was looked at */
	PUT(box, "x", "/proc/99999999999999/comm");
	assert_int_equal(proc_stat_read(&box->env, 18, &stat), -ESRCH);
	assert_int_equal(proc_stat_read(&box->env, 17, &stat), 0);
	assert_int_equal(stat.nr_threads, 1);
	refresh(box, 0);
	assert_int_equal(guests_count(box->guests), 5);
	assert_string_equal(guests_at(box->guests, 0)->name, "a) S 1 (b");
	assert_int_equal(guests_at(box->guests, 0)->start_ticks, 50);
	assert_string_equal(guests_at(box->guests, 1)->name, "?");
	assert_string_equal(guests_at(box->guests, 2)->name, "pid-12");
	assert_string_equal(guests_at(box->guests, 2)->vmm, ""); /* as of a recording */
	assert_string_equal(guests_at(box->guests, 3)->name, "brackets");
	assert_string_equal(guests_at(box->guests, 4)->name, "qemu-system-x86");
	assert_string_equal(guests_at(box->guests, 4)->vmm, "qemu");

	/* A zombie has no descriptors left: the guest is gone, also before it is reaped. */
	put_stat(box, (struct proc){ .pid = 13, .start = 50, .comm = "brackets", .state = 'Z' });
	refresh(box, SECOND);
	assert_int_equal(guests_count(box->guests), 4);
	/* The main thread may end before the others. */
	proc = (struct proc){ .pid = 14, .start = 50, .comm = "q", .state = 'Z', .threads = 2 };
	put_stat(box, proc);
	refresh(box, 2 * SECOND);
	assert_int_equal(guests_count(box->guests), 4);
}

/* A process that holds its lock: its command cannot be read, and nothing waits for it. */
TEST(test_a_late_name, setup, teardown)
{
	struct box *box = *state;
	struct timespec begin, end;
	char path[256];
	int fd;

	put_vm(box, 10, 50, "qemu-system-x86");
	put_vm(box, 11, 50, "qemu-system-x86");
	ARGS(box, 11, "qemu-system-x86_64\0-name\0db1");
	snprintf(path, sizeof(path), "%s/proc/10/cmdline", box->root);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t i = 0; i < 20; i++)
		refresh(box, i * SECOND);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_in_range(end.tv_sec - begin.tv_sec, 0, 3);
	assert_string_equal(guests_at(box->guests, 0)->name, "pid-10");
	assert_string_equal(guests_at(box->guests, 1)->name, "db1");
	fd = open(path, O_WRONLY | O_CLOEXEC); /* the reader has its answer */
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	ARGS(box, 10, "qemu-system-x86_64\0-name\0web1");
	for (uint64_t i = 20; i < 100 && strcmp(guests_at(box->guests, 0)->name, "web1") != 0;
	     i++) {
		usleep(10000);
		refresh(box, i * SECOND);
	}
	assert_string_equal(guests_at(box->guests, 0)->name, "web1");
	assert_string_equal(guests_at(box->guests, 0)->vmm, "qemu");
}

/* ---- debugfs ---- */

static void put_folder(struct box *box, pid_t tid, int fd)
{
	box->env.debugfs_kvm = box->debugfs;
	FOLDER(box, "/sys/kernel/debug/kvm/%d-%d", (int)tid, fd);
}

static void put_folder_vcpu(struct box *box, pid_t tid, int fd, int index, const char *pid)
{
	PUT(box, pid, "/sys/kernel/debug/kvm/%d-%d/vcpu%d/pid", (int)tid, fd, index);
}

TEST(test_debugfs_names_the_guests, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm", .threads = 4 });
	put_fd(box, 100, 9, "anon_inode:kvm-vm");
	for (int tid = 101; tid <= 103; tid++)
		put_thread(box, 100, tid, "worker\n");
	put_folder(box, 100, 9);
	put_folder_vcpu(box, 100, 9, 0, "101\n");
	put_folder_vcpu(box, 100, 9, 2, "0\n");	   /* never ran */
	put_folder_vcpu(box, 100, 9, 10, "103\n");
	put_folder_vcpu(box, 100, 9, 11, "777\n"); /* ran in a thread that ended */
	PUT(box, "5\n", "/sys/kernel/debug/kvm/exits");
	put_vm(box, 200, 50, "inheritor"); /* would be found by a search */

	refresh(box, 0);
	guest = only_guest(box);
	assert_int_equal(guest->pid, 100);
	assert_int_equal(guest->nr_vcpus, 4);
	assert_vcpu(guest, 0, 0, 101);
	assert_vcpu(guest, 1, 2, 0);
	assert_vcpu(guest, 2, 10, 103);
	assert_vcpu(guest, 3, 11, 0);

	/* However long it takes until the vCPU runs: no thread comes or goes. */
	for (unsigned int i = 1; i < 9; i++)
		refresh(box, i * SECOND / 10);
	put_folder_vcpu(box, 100, 9, 2, "102\n");
	refresh(box, SECOND);
	assert_vcpu(only_guest(box), 1, 2, 102);
}

TEST(test_folder_is_named_by_thread, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest;

	/* Cloud Hypervisor makes its VM in another thread than the first. */
	put_vm(box, 300, 50, "cloud-hyperviso");
	put_thread(box, 300, 304, "vmm\n");
	PUT(box, "Name:\tvmm\nTgid:\t300\nPid:\t304\n", "/proc/304/status");
	drop(box, "/proc/%d/task/%d/comm", 300, 304);
	drop(box, "/proc/%d/comm", 304, 0);
	put_folder(box, 304, 9);
	put_folder_vcpu(box, 304, 9, 0, "300\n");
	put_vm(box, 200, 50, "inheritor");
	refresh(box, 0);
	guest = only_guest(box);
	assert_int_equal(guest->pid, 300);
	assert_vcpu(guest, 0, 0, 300);
}

TEST(test_folder_leads_nowhere, setup, teardown)
{
	struct box *box = *state;

	/* The thread that made it ended, or it is a pid of another namespace: then search. */
	put_folder(box, 4000, 9);
	put_vm(box, 300, 50, "crosvm");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->pid, 300);

	/* A process has the number but no such descriptor. */
	put_proc(box, (struct proc){ .pid = 4000, .start = 60, .comm = "bash" });
	refresh(box, SECOND);
	assert_int_equal(only_guest(box)->pid, 300);
	put_fd(box, 4000, 9, "anon_inode:kvm-vm-stats");
	refresh(box, 2 * SECOND);
	assert_int_equal(guests_count(box->guests), 1);
}

TEST(test_debugfs_pids_are_exact, setup, teardown)
{
	struct box *box = *state;

	put_vm(box, 11830, 50, "a");
	put_vm(box, 111830, 50, "b");
	put_folder(box, 11830, 9);
	put_folder(box, 111830, 9);
	put_folder_vcpu(box, 11830, 9, 0, "11830\n");
	put_folder_vcpu(box, 111830, 9, 0, "111830\n");
	put_folder_vcpu(box, 111830, 9, 1, "0\n");
	refresh(box, 0);
	assert_int_equal(guests_count(box->guests), 2);
	assert_int_equal(guests_by_pid(box->guests, 11830)->nr_vcpus, 1);
	assert_int_equal(guests_by_pid(box->guests, 111830)->nr_vcpus, 2);
	assert_null(guests_by_pid(box->guests, 1830));
}

TEST(test_debugfs_comes_and_goes, setup, teardown)
{
	struct box *box = *state;

	/* An empty kvm folder proves nothing: older kernels make none for a VM. */
	box->env.debugfs_kvm = box->debugfs;
	FOLDER(box, "/sys/kernel/debug/kvm");
	put_vm(box, 100, 50, "a");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->pid, 100);

	put_folder(box, 100, 9);
	put_vm(box, 200, 50, "b");
	put_folder(box, 200, 9);
	refresh(box, SECOND);
	assert_int_equal(guests_count(box->guests), 2);

	/* The process goes on without its VM. */
	drop(box, "/sys/kernel/debug/kvm/%d-%d", 100, 9);
	drop(box, "/proc/%d/fd/%d", 100, 9);
	refresh(box, 12 * SECOND);
	assert_int_equal(only_guest(box)->pid, 200);
}

TEST(test_found_by_search_then_debugfs_suffices, setup, teardown)
{
	struct box *box = *state;

	put_folder(box, 4000, 9);
	put_vm(box, 100, 50, "a");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->pid, 100);

	/* Its folder, which could not be followed, goes with its VM; another VM's comes. */
	drop(box, "/sys/kernel/debug/kvm/%d-%d", 4000, 9);
	drop(box, "/proc/%d/fd/%d", 100, 9);
	put_vm(box, 200, 50, "b");
	put_folder(box, 200, 9);
	refresh(box, SECOND);
	refresh(box, 11 * SECOND);
	assert_int_equal(only_guest(box)->pid, 200);
}

TEST(test_captured_without_descriptors, setup, teardown)
{
	struct box *box = *state;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm" });
	drop(box, "/proc/%d/fd", 100, 0);
	drop(box, "/proc/%d/task", 100, 0);
	put_folder(box, 100, 9);
	put_folder_vcpu(box, 100, 9, 0, "123\n");
	refresh(box, 0);
	assert_vcpu(only_guest(box), 0, 0, 123);
	assert_int_equal(only_guest(box)->nr_vms, 1);
	refresh(box, 60 * SECOND);
	assert_vcpu(only_guest(box), 0, 0, 123);
}

/* ---- vCPUs ---- */

TEST(test_two_vms_in_one_process, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "tester", .threads = 3 });
	put_fd(box, 100, 5, "anon_inode:kvm-vm");
	put_fd(box, 100, 6, "anon_inode:kvm-vm");
	put_fd(box, 100, 7, "anon_inode:kvm-vcpu:0");
	put_fd(box, 100, 8, "anon_inode:kvm-vcpu:0");
	put_thread(box, 100, 101, "vcpu0\n");
	put_thread(box, 100, 102, "vcpu0\n");
	refresh(box, 0);
	guest = only_guest(box);
	assert_int_equal(guest->nr_vms, 2);
	assert_int_equal(guest->nr_vcpus, 2);
	assert_vcpu(guest, 0, 0, 101);
	assert_vcpu(guest, 1, 0, 102);

	put_folder(box, 100, 5);
	put_folder(box, 100, 6);
	put_folder_vcpu(box, 100, 5, 0, "102\n");
	put_folder_vcpu(box, 100, 6, 0, "101\n");
	put_folder_vcpu(box, 100, 6, 1, "100\n");
	refresh(box, 11 * SECOND);
	guest = only_guest(box);
	assert_int_equal(guest->nr_vms, 2);
	assert_int_equal(guest->nr_vcpus, 3);
	assert_vcpu(guest, 0, 0, 101);
	assert_vcpu(guest, 1, 0, 102);
	assert_vcpu(guest, 2, 1, 100);
}

TEST(test_duplicated_descriptors, setup, teardown)
{
	struct box *box = *state;

	/* crosvm duplicates the descriptors of its VM and vCPUs. */
	put_vmm(box, 100, "crosvm", "crosvm_vcpu0\n", "crosvm_vcpu1\n");
	put_fd(box, 100, 20, "anon_inode:kvm-vm");
	put_fd(box, 100, 21, "anon_inode:kvm-vcpu:0");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->nr_vms, 2);
	assert_int_equal(only_guest(box)->nr_vcpus, 2);
	assert_vcpu(only_guest(box), 0, 0, 101);
	assert_vcpu(only_guest(box), 1, 1, 102);
}

TEST(test_apic_ids, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest;

	/* -smp 4,sockets=2,cores=... with three cores: QEMU's CPU 2 is the kernel's vCPU 4. */
	put_vmm(box, 100, "qemu-kvm", "CPU 0/KVM\n", "CPU 1/KVM\n");
	put_stat(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm", .threads = 4 });
	put_thread(box, 100, 103, "CPU 2/KVM\n");
	put_fd(box, 100, 15, "anon_inode:kvm-vcpu:4");
	refresh(box, 0);
	guest = only_guest(box);
	assert_vcpu(guest, 0, 0, 101);
	assert_vcpu(guest, 1, 1, 102);
	assert_vcpu(guest, 2, 4, 103);
}

TEST(test_vcpus_come_later, setup, teardown)
{
	struct box *box = *state;
	uint64_t before;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm" });
	put_fd(box, 100, 9, "anon_inode:kvm-vm");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->nr_vcpus, 0);
	before = guests_generation(box->guests);

	put_fd(box, 100, 10, "anon_inode:kvm-vcpu:0");
	put_fd(box, 100, 11, "anon_inode:kvm-vcpu:1");
	refresh(box, SECOND);
	assert_int_equal(only_guest(box)->nr_vcpus, 2);
	assert_vcpu(only_guest(box), 0, 0, 0);
	assert_true(guests_generation(box->guests) > before);

	/* Long after, a thread comes: the number of threads shows it. */
	for (unsigned int i = 2; i < 9; i++)
		refresh(box, i * SECOND);
	before = guests_generation(box->guests);
	put_thread(box, 100, 101, "CPU 0/KVM\n");
	put_stat(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm", .threads = 2 });
	refresh(box, 9 * SECOND);
	assert_vcpu(only_guest(box), 0, 0, 101);
	assert_vcpu(only_guest(box), 1, 1, 0);
	assert_true(guests_generation(box->guests) > before);
	assert_ptr_equal(guests_by_pid(box->guests, 101), only_guest(box));

	/* And goes. */
	before = guests_generation(box->guests);
	drop(box, "/proc/%d/task/%d", 100, 101);
	put_stat(box, (struct proc){ .pid = 100, .start = 50, .comm = "qemu-kvm" });
	refresh(box, 9 * SECOND + 1);
	assert_vcpu(only_guest(box), 0, 0, 0);
	assert_true(guests_generation(box->guests) > before);
	assert_null(guests_by_pid(box->guests, 101));

	before = guests_generation(box->guests);
	refresh(box, 9 * SECOND + 2);
	assert_int_equal(guests_generation(box->guests), before);
	assert_int_equal(vcpu_last_tid(guest_vcpu(only_guest(box), 0)), 101);

	/* It closes its vCPUs, and then its VM: the last thread of a vCPU is known. */
	drop(box, "/proc/%d/fd/%d", 100, 10);
	drop(box, "/proc/%d/fd/%d", 100, 11);
	refresh(box, 99 * SECOND);
	assert_int_equal(only_guest(box)->nr_vcpus, 2);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, 99 * SECOND + 1);
	assert_int_equal(guest_vcpu(guests_ended_at(box->guests, 0), 0)->tid, 101);
	assert_int_equal(guest_vcpu(guests_ended_at(box->guests, 0), 1)->tid, 0);
}

TEST(test_vm_made_anew, setup, teardown)
{
	struct box *box = *state;

	/* The guest rebooted: other threads, but as many, for the same descriptors. */
	put_vmm(box, 100, "cloud-hyperviso", "vcpu0\n", "vcpu1\n");
	refresh(box, 0);
	assert_vcpu(only_guest(box), 0, 0, 101);
	drop(box, "/proc/%d/task/%d", 100, 101);
	drop(box, "/proc/%d/task/%d", 100, 102);
	put_thread(box, 100, 111, "vcpu0\n");
	put_thread(box, 100, 112, "vcpu1\n");
	refresh(box, SECOND);
	assert_vcpu(only_guest(box), 0, 0, 111);
	assert_vcpu(only_guest(box), 1, 1, 112);
}

/* ---- coming and going ---- */

TEST(test_pid_reused, setup, teardown)
{
	struct box *box = *state;
	uint64_t before;

	put_vm(box, 100, 50, "one");
	refresh(box, 0);
	assert_int_equal(only_guest(box)->id, 1);
	before = guests_generation(box->guests);
	put_vm(box, 100, 7777, "two");
	refresh(box, SECOND);
	assert_int_equal(only_guest(box)->id, 2);
	assert_string_equal(only_guest(box)->name, "two");
	assert_int_equal(only_guest(box)->start_ticks, 7777);
	assert_null(guests_by_id(box->guests, 1));
	assert_int_equal(guests_by_pid(box->guests, 100)->id, 2);
	assert_true(guests_generation(box->guests) >= before + 2);

	before = guests_generation(box->guests);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, 2 * SECOND);
	assert_int_equal(guests_count(box->guests), 0);
	assert_null(guests_at(box->guests, 0));
	assert_null(guests_by_pid(box->guests, 100));
	assert_int_equal(guests_generation(box->guests), before + 1);
}

TEST(test_ended_guests_are_remembered, setup, teardown)
{
	struct box *box = *state;

	put_vm(box, 100, 50, "one");
	put_thread(box, 100, 101, "vcpu0");
	refresh(box, 0);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, SECOND);
	assert_null(guests_by_id(box->guests, 1));
	assert_string_equal(guests_find(box->guests, 1)->name, "one");
	assert_true(guests_find(box->guests, 1)->has_ended);
	assert_int_equal(guest_vcpu(guests_find(box->guests, 1), 0)->tid, 101);
	assert_ptr_equal(guests_ended_at(box->guests, 0), guests_find(box->guests, 1));
	for (int i = 0; i < GUESTS_ENDED; i++) {
		put_vm(box, 200 + i, 50, "later");
		refresh(box, (2 + 2 * (uint64_t)i) * SECOND);
		drop(box, "/proc/%d", 200 + i, 0);
		refresh(box, (3 + 2 * (uint64_t)i) * SECOND);
	}
	assert_null(guests_find(box->guests, 1));
	assert_int_equal(guests_ended_at(box->guests, 0)->pid, 200);
	assert_int_equal(guests_ended_at(box->guests, GUESTS_ENDED - 1)->pid,
			 200 + GUESTS_ENDED - 1);
	assert_null(guests_ended_at(box->guests, GUESTS_ENDED));
}

/* A life of a name that is asked for: others are forgotten, and it not. */
TEST(test_a_guest_is_kept, setup, teardown)
{
	struct box *box = *state;

	put_vm(box, 100, 50, "one");
	refresh(box, 0);
	guests_keep(box->guests, 1);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, SECOND);
	for (int i = 0; i < 2 * GUESTS_ENDED; i++) {
		put_vm(box, 200 + i, 50, "later");
		refresh(box, (2 + 2 * (uint64_t)i) * SECOND);
		drop(box, "/proc/%d", 200 + i, 0);
		refresh(box, (3 + 2 * (uint64_t)i) * SECOND);
	}
	assert_non_null(guests_find(box->guests, 1));
	assert_null(guests_find(box->guests, 2));
	refresh(box, 5000 * SECOND);
	assert_non_null(guests_find(box->guests, 1));
	assert_null(guests_ended_at(box->guests, 1));
}

/* The main thread runs the vCPU until another thread is known to, and not again after its end. */
TEST(test_main_thread_is_a_guess, setup, teardown)
{
	struct vcpu_thread thread = { .pid = 100, .tid = 101, .vcpu = 0, .comm = "vm" };
	struct box *box = *state;
	uint64_t before;

	put_vm(box, 100, 50, "vm");
	refresh(box, 0);
	assert_vcpu(only_guest(box), 0, 0, 100);
	assert_int_equal(guests_of_thread(box->guests, &thread, SECOND), only_guest(box)->id);
	assert_int_equal(only_guest(box)->nr_vcpus, 1);
	assert_vcpu(only_guest(box), 0, 0, 101);
	/* Another thread takes no vCPU away, and changes nothing. */
	before = guests_generation(box->guests);
	thread.tid = 102;
	assert_int_equal(guests_of_thread(box->guests, &thread, SECOND), only_guest(box)->id);
	assert_int_equal(only_guest(box)->nr_vcpus, 1);
	assert_vcpu(only_guest(box), 0, 0, 101);
	assert_int_equal(guests_generation(box->guests), before);
	/* The thread has ended. */
	refresh(box, 11 * SECOND);
	assert_vcpu(only_guest(box), 0, 0, 0);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, 12 * SECOND);
	assert_int_equal(guest_vcpu(guests_ended_at(box->guests, 0), 0)->tid, 101);
}

/* The guess is over when a thread comes that may run the vCPU, and may not have its name yet. */
TEST(test_thread_without_its_name, setup, teardown)
{
	struct box *box = *state;

	put_vm(box, 100, 50, "vm");
	refresh(box, 0);
	assert_vcpu(only_guest(box), 0, 0, 100);
	put_thread(box, 100, 101, "vm\n");
	put_stat(box, (struct proc){ .pid = 100, .start = 50, .comm = "vm", .threads = 2 });
	refresh(box, SECOND);
	assert_vcpu(only_guest(box), 0, 0, 0);
	put_thread(box, 100, 101, "CPU 0/KVM\n");
	refresh(box, 2 * SECOND);
	assert_vcpu(only_guest(box), 0, 0, 101);
}

/* Its arguments were noted when it made its VM. */
TEST(test_guest_that_is_never_there_has_a_name, setup, teardown)
{
	struct vcpu_thread thread = { .pid = 310, .tid = 310, .vcpu = 0, .comm = "CPU 0/KVM",
				      .has_ended = true };
	struct box *box = *state;
	uint32_t id;

	guests_note_start(box->guests, 310, SECOND, "old", "old", 3);
	guests_note_start(box->guests, 310, 5 * SECOND, "qemu", "qemu-kvm\0-name\0brief", 20);
	guests_note_start(box->guests, 311, 5 * SECOND, "other", "", 0);
	id = guests_of_thread(box->guests, &thread, 6 * SECOND);
	assert_string_equal(guests_find(box->guests, id)->name, "brief");
	assert_string_equal(guests_find(box->guests, id)->vmm, "qemu");
	assert_true(guests_find(box->guests, id)->is_named);
	thread.pid = 311;
	thread.comm = "";
	id = guests_of_thread(box->guests, &thread, 6 * SECOND);
	assert_string_equal(guests_find(box->guests, id)->name, "other");
}

/* Its threads were seen before the note was read, and after the VM was made. */
TEST(test_name_that_comes_late, setup, teardown)
{
	struct vcpu_thread thread = { .pid = 310, .tid = 310, .vcpu = 0, .comm = "qemu",
				      .has_ended = true, .first_ns = 5 * SECOND };
	struct box *box = *state;
	uint32_t id = guests_of_thread(box->guests, &thread, 6 * SECOND);
	uint64_t generation = guests_generation(box->guests);

	guests_note_start(box->guests, 310, 7 * SECOND, "qemu", "qemu\0-name\0later", 16);
	assert_string_equal(guests_find(box->guests, id)->name, "qemu");
	assert_int_equal(guests_generation(box->guests), generation);
	guests_note_start(box->guests, 310, 4 * SECOND, "qemu", "qemu\0-name\0brief", 16);
	assert_string_equal(guests_find(box->guests, id)->name, "brief");
	assert_true(guests_generation(box->guests) > generation);
}

/* KVM's events show threads: of a process that is found now, and of one that has ended. */
TEST(test_threads_that_events_show, setup, teardown)
{
	struct vcpu_thread thread = { .pid = 100, .tid = 105, .vcpu = 3, .comm = "CPU 3/KVM",
				      .first_ns = 5 * SECOND };
	struct box *box = *state;
	uint32_t id;

	refresh(box, SECOND);
	thread.pid = 99;
	assert_int_equal(guests_of_thread(box->guests, &thread, 6 * SECOND), GUEST_NONE);
	thread.pid = 100;
	put_vm(box, 100, 50, "one");
	id = guests_of_thread(box->guests, &thread, 6 * SECOND);
	assert_string_equal(guests_by_id(box->guests, id)->name, "one");
	assert_int_equal(guest_vcpu(guests_by_id(box->guests, id), 3)->tid, 105);

	thread.pid = 300;
	thread.has_ended = true;
	id = guests_of_thread(box->guests, &thread, 6 * SECOND);
	assert_string_equal(guests_find(box->guests, id)->name, "qemu");
	thread.tid = 106;
	thread.vcpu = -1;
	thread.comm = "vcpu0";
	assert_int_equal(guests_of_thread(box->guests, &thread, 6 * SECOND), id);
	assert_int_equal(guest_vcpu(guests_find(box->guests, id), 0)->tid, 106);
	/* The pid was reused. */
	thread.first_ns = 7 * SECOND;
	assert_int_not_equal(guests_of_thread(box->guests, &thread, 8 * SECOND), id);
	assert_string_equal(guests_ended_at(box->guests, 1)->name, "pid-300");
	thread.pid = 301;
	thread.comm = "my\x1b[2Jvmm";
	id = guests_of_thread(box->guests, &thread, 8 * SECOND);
	assert_string_equal(guests_find(box->guests, id)->name, "my?[2Jvmm");

	/* The guest is known, its thread has begun since, and got its name after its first exit. */
	put_vm(box, 401, 50, "vm");
	put_fd(box, 401, 11, "anon_inode:kvm-vcpu:1");
	refresh(box, 8 * SECOND);
	put_thread(box, 401, 402, "vcpu1\n");
	thread = (struct vcpu_thread){ .pid = 401, .tid = 402, .vcpu = -1, .comm = "vm" };
	id = guests_of_thread(box->guests, &thread, 8 * SECOND + 1);
	assert_int_equal(guest_vcpu(guests_by_id(box->guests, id), 1)->tid, 402);
	/* This one has no name yet, but there is one vCPU without a thread. */
	refresh(box, 8 * SECOND);
	put_thread(box, 401, 403, "vm\n");
	thread.tid = 403;
	assert_int_equal(guests_of_thread(box->guests, &thread, 8 * SECOND + 2), id);
	assert_int_equal(guest_vcpu(guests_by_id(box->guests, id), 0)->tid, 403);
	thread.tid = 404;
	assert_int_equal(guests_of_thread(box->guests, &thread, 8 * SECOND + 3), id);
	assert_int_equal(guests_by_id(box->guests, id)->nr_vcpus, 2);

	/* A thread without an index runs the vCPU that has no thread. */
	put_vm(box, 400, 50, "vm");
	put_thread(box, 400, 401, "vm\n");
	refresh(box, 8 * SECOND);
	drop(box, "/proc/%d", 400, 0);
	refresh(box, 9 * SECOND);
	id = guests_of_thread(box->guests,
			 &(struct vcpu_thread){ .pid = 400, .tid = 401, .vcpu = -1, .comm = "vm",
						.first_ns = 8 * SECOND, .has_ended = true },
			 9 * SECOND);
	assert_int_equal(guests_find(box->guests, id)->nr_vcpus, 1);
	assert_int_equal(guest_vcpu(guests_find(box->guests, id), 0)->tid, 401);

	/* A process that has ended, and is still listed; its thread looks alive. */
	thread = (struct vcpu_thread){ .pid = 302, .tid = 303, .vcpu = -1, .comm = "vm" };
	put_stat(box, (struct proc){ .pid = 302, .start = 50, .comm = "vm", .state = 'Z' });
	id = guests_of_thread(box->guests, &thread, 8 * SECOND);
	assert_true(guests_find(box->guests, id)->has_ended);
}

/* Thousands of threads of one process: it is read once for each sample. */
TEST(test_many_threads, setup, teardown)
{
	struct vcpu_thread thread = { .pid = 100, .vcpu = -1, .comm = "vm" };
	struct box *box = *state;
	struct timespec begin, end;

	put_vm(box, 100, 50, "vm");
	for (int tid = 1000; tid < 1500; tid++)
		put_thread(box, 100, tid, "vm\n");
	refresh(box, SECOND);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (thread.tid = 1000; thread.tid < 21000; thread.tid++)
		guests_of_thread(box->guests, &thread, 2 * SECOND);
	for (thread.pid = 200, thread.tid = 1; thread.tid < 20000; thread.tid++) /* is no guest */
		guests_of_thread(box->guests, &thread, 2 * SECOND);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_in_range(end.tv_sec - begin.tv_sec, 0, 20);
	/* A thread that began since is found in the next sample. */
	put_fd(box, 100, 11, "anon_inode:kvm-vcpu:1");
	put_thread(box, 100, 1600, "vcpu1\n");
	refresh(box, 12 * SECOND);
	thread = (struct vcpu_thread){ .pid = 100, .tid = 1600, .vcpu = -1, .comm = "vm" };
	guests_of_thread(box->guests, &thread, 12 * SECOND);
	assert_int_equal(guest_vcpu(only_guest(box), 1)->tid, 1600);
}

/* The kernel's word, in place of descriptors and names. */
TEST(test_reports, setup, teardown)
{
	struct vm_part parts[] = {
		{ 100, 1, 103, 0xa }, { 100, 0, 102, 0xa }, { 100, 0, 102, 0xa },
		{ 100, -1, 0, 0xa },  { 300, -1, 0, 0xb },
	};
	struct box *box = *state;
	const struct guest *guest;
	uint64_t generation;

	/* Its threads are called as other vCPUs' are, and it has no descriptors that are read. */
	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "one", .threads = 3 });
	put_thread(box, 100, 102, "vcpu1\n");
	put_thread(box, 100, 103, "vcpu0\n");
	refresh(box, SECOND);
	assert_int_equal(guests_count(box->guests), 0);
	/* 300 has ended since. */
	guests_report(box->guests, 0, parts, 5);
	guest = only_guest(box);
	assert_string_equal(guest->name, "one");
	assert_int_equal(guest->nr_vms, 1);
	assert_int_equal(guest->nr_vcpus, 2);
	assert_vcpu(guest, 0, 0, 102);
	assert_vcpu(guest, 1, 1, 103);
	assert_ptr_equal(guests_by_pid(box->guests, 103), guest);
	generation = guests_generation(box->guests);
	refresh(box, 20 * SECOND);
	assert_vcpu(only_guest(box), 0, 0, 102);
	guests_report(box->guests, 0, parts, 4);
	assert_int_equal(guests_generation(box->guests), generation);

	/* Another VM in it, with a vCPU that no thread has run yet: then names tell. */
	parts[4] = (struct vm_part){ 100, 2, 0, 0xc };
	put_thread(box, 100, 104, "vcpu2\n");
	guests_report(box->guests, 100, parts, 5);
	assert_int_equal(only_guest(box)->nr_vms, 2);
	assert_int_equal(only_guest(box)->nr_vcpus, 3);
	assert_vcpu(only_guest(box), 2, 2, 104);

	/* No search of /proc, and what a report of all has not has ended. */
	put_vm(box, 200, 60, "two");
	refresh(box, 40 * SECOND);
	assert_int_equal(guests_count(box->guests), 1);
	guests_report(box->guests, 200, parts, 0);
	assert_int_equal(guests_count(box->guests), 1);
	guests_report(box->guests, 0, parts, 0);
	assert_int_equal(guests_count(box->guests), 0);
	assert_string_equal(guests_ended_at(box->guests, 0)->name, "one");

	/* Without reports it finds out by itself. */
	guests_report(box->guests, 0, (struct vm_part[]){ { 200, -1, 0, 0xd } }, 1);
	assert_int_equal(only_guest(box)->nr_vcpus, 0);
	guests_end_reports(box->guests);
	put_vm(box, 201, 61, "three");
	refresh(box, 60 * SECOND);
	assert_int_equal(guests_count(box->guests), 2);
	assert_int_equal(guests_at(box->guests, 0)->nr_vcpus, 1);

	/* A report of one process is none of others. */
	guests_report(box->guests, 201, parts, 0);
	assert_string_equal(only_guest(box)->name, "two");
}

TEST(test_only_a_report_of_all_ends_the_search, setup, teardown)
{
	struct vm_part part = { 100, -1, 0, 0xa };
	struct box *box = *state;

	put_vm(box, 100, 50, "one");
	guests_report(box->guests, 999, &part, 0);
	refresh(box, SECOND);
	assert_string_equal(only_guest(box)->name, "one");
	guests_report(box->guests, 0, &part, 1);
	put_vm(box, 200, 60, "two");
	refresh(box, 20 * SECOND);
	assert_string_equal(only_guest(box)->name, "one");
}

/* The process is there when its stat is read, and then no more. */
TEST(test_a_reported_guest_that_ends_is_no_error, setup, teardown)
{
	struct vm_part parts[] = { { 100, -1, 0, 0xa }, { 100, 0, 102, 0xa } };
	struct box *box = *state;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "one", .threads = 2 });
	put_thread(box, 100, 102, "vcpu0\n");
	guests_report(box->guests, 0, parts, 2);
	assert_int_equal(guests_count(box->guests), 1);
	drop(box, "/proc/%d/task", 100, 0);
	refresh(box, 20 * SECOND);
	assert_int_equal(guests_count(box->guests), 0);
	assert_string_equal(guests_ended_at(box->guests, 0)->name, "one");
}

TEST(test_ids_stay_in_order, setup, teardown)
{
	struct box *box = *state;

	for (int pid = 300; pid >= 100; pid -= 100)
		put_vm(box, pid, 50, "x");
	refresh(box, 0);
	drop(box, "/proc/%d", 200, 0);
	put_vm(box, 50, 90, "late");
	refresh(box, SECOND);
	assert_int_equal(guests_count(box->guests), 3);
	assert_int_equal(guests_at(box->guests, 0)->pid, 100);
	assert_int_equal(guests_at(box->guests, 1)->pid, 300);
	assert_int_equal(guests_at(box->guests, 1)->id, 3);
	assert_int_equal(guests_at(box->guests, 2)->pid, 50);
	assert_int_equal(guests_at(box->guests, 2)->id, 4);
	assert_int_equal(guests_by_id(box->guests, 3)->pid, 300);
	assert_null(guests_by_id(box->guests, 2));
}

TEST(test_vm_opened_later, setup, teardown)
{
	struct box *box = *state;

	put_proc(box, (struct proc){ .pid = 100, .start = 50, .comm = "old" });
	refresh(box, 0);
	assert_int_equal(guests_count(box->guests), 0);
	put_fd(box, 100, 9, "anon_inode:kvm-vm");
	refresh(box, SECOND);
	assert_int_equal(only_guest(box)->pid, 100);

	/* It closed its VM and goes on. */
	drop(box, "/proc/%d/fd/%d", 100, 9);
	refresh(box, 11 * SECOND);
	assert_int_equal(guests_count(box->guests), 0);
}

static void send_event(int to, const char *text, size_t size)
{
	assert_int_equal(send(to, text, size, 0), size);
}

#define KVM_EVENT "change@/devices/virtual/misc/kvm"
#define SEND(to, text) send_event(to, text, sizeof(text))

TEST(test_when_to_search)
{
	struct vm_watch watch = { 0 };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	watch.events = ends[0];
	assert_true(vm_watch_is_due(&watch, SECOND));
	assert_false(vm_watch_is_due(&watch, SECOND));
	assert_false(vm_watch_is_due(&watch, 11 * SECOND - 1));
	assert_true(vm_watch_is_due(&watch, 11 * SECOND));
	/* The descriptor may come after the event: two times. */
	SEND(ends[1], KVM_EVENT "\0ACTION=change\0EVENT=create\0PID=12");
	assert_true(vm_watch_is_due(&watch, 12 * SECOND));
	assert_true(vm_watch_is_due(&watch, 12 * SECOND));
	assert_false(vm_watch_is_due(&watch, 22 * SECOND - 1));
	/* Other events. */
	SEND(ends[1], KVM_EVENT "\0EVENT=destroy\0PID=12");
	SEND(ends[1], "change@/devices/virtual/misc/vhost-net\0EVENT=create");
	send_event(ends[1], KVM_EVENT "\0EVENT=cre", sizeof(KVM_EVENT) + 9);
	send_event(ends[1], "change", 3);
	assert_false(vm_watch_is_due(&watch, 22 * SECOND - 1));
	assert_true(vm_watch_is_due(&watch, 22 * SECOND));
	vm_watch_release(&watch);
	close(ends[1]);
	watch.events = -EPERM;
	assert_true(vm_watch_is_due(&watch, 22 * SECOND));
	assert_true(vm_watch_is_due(&watch, 22 * SECOND));
}

TEST(test_heirs, setup, teardown)
{
	struct box *box = *state;
	struct proc proc;

	put_vmm(box, 500, "qemu-kvm", "CPU 0/KVM\n", "CPU 1/KVM\n");
	put_vm(box, 100, 60, "helper"); /* forked from 500, its number came round */
	put_stat(box, (struct proc){ .pid = 100, .ppid = 500, .start = 60, .comm = "helper" });
	put_vmm(box, 600, "qemu-kvm", "CPU 0/KVM\n", "CPU 1/KVM\n"); /* a guest in a guest's care */
	proc = (struct proc){ .pid = 600, .ppid = 500, .start = 60, .comm = "q", .threads = 3 };
	put_stat(box, proc);
	refresh(box, 0);
	assert_int_equal(guests_count(box->guests), 2);
	assert_int_equal(guests_at(box->guests, 0)->pid, 500);
	assert_int_equal(guests_at(box->guests, 1)->pid, 600);

	/* One that comes later, and the parent's end. */
	put_vm(box, 700, 61, "helper");
	put_stat(box, (struct proc){ .pid = 700, .ppid = 500, .start = 61, .comm = "helper" });
	refresh(box, SECOND);
	assert_int_equal(guests_count(box->guests), 2);
	drop(box, "/proc/%d", 500, 0);
	put_stat(box, (struct proc){ .pid = 700, .ppid = 1, .start = 61, .comm = "helper" });
	refresh(box, 12 * SECOND);
	assert_non_null(guests_by_pid(box->guests, 700));
}

TEST(test_no_proc, setup, teardown)
{
	struct box *box = *state;

	drop(box, "/proc", 0, 0);
	assert_int_equal(guests_refresh(box->guests, 0, &box->error), -ENOENT);
	assert_non_null(strstr(box->error.text, "/proc: No such file"));
	assert_int_equal(guests_refresh(box->guests, 0, NULL), -ENOENT);
}

/* Leaves nr descriptors to be opened; returns the limit that was. */
static rlim_t leave_descriptors(unsigned int nr)
{
	int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	struct rlimit limit;
	rlim_t before;

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)lowest + nr;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void give_descriptors(rlim_t before)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A guest that debugfs names, one by its threads' names, if is_new one that was not seen yet. */
static void put_three_ways(struct box *box, bool is_new)
{
	put_vm(box, 100, 50, "qemu-kvm");
	put_folder(box, 100, 9);
	put_folder_vcpu(box, 100, 9, 0, "100\n");
	put_folder(box, 4000, 9); /* leads nowhere, so that /proc is searched, too */
	put_vm(box, 200, 50, "firecracker");
	put_thread(box, 200, 201, "fc_vcpu 0\n");
	if (is_new)
		put_vm(box, 300, 50, "late");
}

/* Whatever cannot be read for want of descriptors stays as it was, and is read again. */
TEST(test_no_descriptors_end_nobody, setup, teardown)
{
	struct box *box = *state;
	uint32_t by_debugfs, by_name;
	uint64_t now = 0;

	put_three_ways(box, false);
	refresh(box, now);
	assert_int_equal(guests_count(box->guests), 2);
	by_debugfs = guests_by_pid(box->guests, 100)->id;
	by_name = guests_by_pid(box->guests, 200)->id;
	put_three_ways(box, true);
	for (unsigned int left = 0; left < 2; left++) {
		rlim_t limit = leave_descriptors(left);
		int err = guests_refresh(box->guests, now += 60 * SECOND, &box->error);

		give_descriptors(limit);
		assert_non_null(guests_by_id(box->guests, by_debugfs));
		assert_vcpu(guests_by_id(box->guests, by_debugfs), 0, 0, 100);
		assert_non_null(guests_by_id(box->guests, by_name));
		assert_vcpu(guests_by_id(box->guests, by_name), 0, 0, 201);
		assert_int_equal(err, -EMFILE);
		assert_non_null(strstr(box->error.text, "ulimit -n"));
	}
	refresh(box, now + SECOND);
	assert_int_equal(guests_count(box->guests), 3);
	drop(box, "/proc/%d", 200, 0);
	refresh(box, now + 2 * SECOND);
	assert_int_equal(guests_count(box->guests), 2);
}

/* What is unknown of a thread is not taken for its process. */
TEST(test_no_descriptors_mistake_nobody, setup, teardown)
{
	struct box *box = *state;
	rlim_t limit;

	PUT(box, "Name:\tvmm\nTgid:\t300\nPid:\t304\n", "/proc/304/status");
	assert_int_equal(proc_of_thread(&box->env, 304), 300);
	limit = leave_descriptors(0);
	assert_int_equal(proc_of_thread(&box->env, 304), 0);
	give_descriptors(limit);
}

/* The kernel says EIO of what ends while it is read: here a file that gives it, and readdir(). */
TEST(test_ends_while_it_is_read, setup, teardown)
{
	struct box *box = *state;
	char path[256];

	box->env.debugfs_kvm = box->debugfs;
	put_vm(box, 100, 1000, "vmm");
	put_folder(box, 100, 9);
	put_folder_vcpu(box, 100, 9, 0, "100\n");
	refresh(box, SECOND);
	put_vm(box, 200, 2000, "vmm");
	put_folder(box, 200, 9);
	put_folder_vcpu(box, 200, 9, 0, "200\n");
	snprintf(path, sizeof(path), "%s/200-9/vcpu0/pid", box->debugfs);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/proc/self/mem", path), 0);
	refresh(box, 2 * SECOND);
	assert_int_equal(guests_count(box->guests), 2);
	/* The whole list of processes. */
	box->env.debugfs_kvm = NULL;
	put_vm(box, 300, 3000, "vmm");
	nr_failing_reads = 2;
	refresh(box, 20 * SECOND);
	assert_int_equal(nr_failing_reads, 0);
	assert_int_equal(guests_count(box->guests), 3);
}

static void set_fds_mode(struct box *box, pid_t pid, mode_t mode)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/%d/fd", box->root, (int)pid);
	assert_int_equal(chmod(path, mode), 0);
}

/* Root, if it runs the test, has all rights. */
static void be_other_user(void)
{
	if (!geteuid())
		assert_int_equal(seteuid(65534), 0);
}

static void be_root_again(void)
{
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
}

TEST(test_not_root, setup, teardown)
{
	struct box *box = *state;

	put_vm(box, 100, 50, "foreign");
	put_vm(box, 200, 50, "own");
	drop(box, "/proc/%d/fd", 100, 0);
	FOLDER(box, "/proc/100/fd");
	set_fds_mode(box, 100, 0);
	be_other_user();
	refresh(box, 0);
	refresh(box, 11 * SECOND);
	assert_int_equal(guests_count(box->guests), 1);
	assert_int_equal(guests_at(box->guests, 0)->pid, 200);

	/* What debugfs says is believed. */
	be_root_again();
	put_folder(box, 100, 9);
	put_folder_vcpu(box, 100, 9, 0, "100\n");
	be_other_user();
	refresh(box, 12 * SECOND);
	assert_non_null(guests_by_pid(box->guests, 100));

	/* A guest stays one when its descriptors are no longer shown. */
	be_root_again();
	drop(box, "/sys/kernel/debug/kvm", 0, 0);
	set_fds_mode(box, 200, 0);
	be_other_user();
	refresh(box, 13 * SECOND);
	refresh(box, 30 * SECOND);
	assert_non_null(guests_by_pid(box->guests, 200));
	be_root_again();
	set_fds_mode(box, 100, 0755);
	set_fds_mode(box, 200, 0755);
}

TEST(test_name_without_rights, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest = NULL;

	put_vm(box, 100, 50, "qemu-kvm");
	ARGS(box, 100, "qemu-kvm\0-name\0web1");
	put_vm(box, 120, 50, "firecracker");
	put_vm(box, 110, 50, "other");
	put_vm(box, 200, 50, "qemu-kvm");
	ARGS(box, 200, "qemu-kvm\0-name\0own1");
	for (pid_t pid = 100; pid <= 120; pid += 10) {
		drop(box, "/proc/%d/fd", pid, 0);
		FOLDER(box, "/proc/%d/fd", pid);
		set_fds_mode(box, pid, 0);
	}
	be_other_user();
	refresh(box, 0);
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text,
			    "no guest named \"web1\"; no right to look into these guests: "
			    "100 (web1), 120 (firecracker): root or CAP_SYS_PTRACE is needed; "
			    "there are: own1");
	be_root_again();
	drop(box, "/proc/%d", 200, 0);
	be_other_user();
	refresh(box, 11 * SECOND);
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text,
			    "no guest named \"web1\"; no right to look into these guests: "
			    "100 (web1), 120 (firecracker): root or CAP_SYS_PTRACE is needed");
	be_root_again();
	drop(box, "/proc/%d", 100, 0);
	drop(box, "/proc/%d", 120, 0);
	be_other_user();
	refresh(box, 22 * SECOND);
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text,
			    "no guest named \"web1\"; no right to look into 1 process: root or "
			    "CAP_SYS_PTRACE is needed");
	be_root_again();
	/* A VMM that no name gives away has run a guest. */
	put_stat(box, (struct proc){ .pid = 110, .start = 50, .comm = "other", .guest_ticks = 1 });
	be_other_user();
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text,
			    "no guest named \"web1\"; no right to look into these guests: "
			    "110 (other): root or CAP_SYS_PTRACE is needed");
	be_root_again();
	set_fds_mode(box, 110, 0755);
}

/* ---- looking up ---- */

TEST(test_by_name, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest = NULL;

	assert_int_equal(guests_by_name(box->guests, "web9", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text, "no guest named \"web9\"; there are no guests");

	put_vm(box, 123, 50, "qemu-kvm");
	ARGS(box, 123, "qemu-kvm\0-name\0web1");
	put_vm(box, 200, 50, "qemu-kvm");
	ARGS(box, 200, "qemu-kvm\0-name\0db1");
	refresh(box, 0);
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), 0);
	assert_int_equal(guest->pid, 123);
	guest = NULL;
	assert_int_equal(guests_by_name(box->guests, "web9", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text, "no guest named \"web9\"; there are: db1, web1");
	assert_int_equal(guests_by_name(box->guests, "Web1", &guest, &box->error), -ENOENT);
	assert_int_equal(guests_by_name(box->guests, "web", &guest, NULL), -ENOENT);

	put_vm(box, 456, 50, "qemu-kvm");
	ARGS(box, 456, "qemu-kvm\0-name\0web1");
	refresh(box, SECOND);
	assert_int_equal(guests_by_name(box->guests, "web1", &guest, &box->error), -ENOTUNIQ);
	assert_string_equal(box->error.text,
			    "2 guests are named \"web1\" (pids 123, 456)");
	assert_int_equal(guests_advise(-ENOTUNIQ, &box->error, "use -p PID"), -ENOTUNIQ);
	assert_non_null(strstr(box->error.text, "456): use -p PID"));
	assert_int_equal(guests_advise(-ENOENT, &box->error, "no"), -ENOENT);
	assert_null(strstr(box->error.text, "no"));
	assert_null(guest);
	assert_int_equal(guests_by_name(box->guests, "web9", &guest, &box->error), -ENOENT);
	assert_string_equal(box->error.text, "no guest named \"web9\"; there are: db1, web1");
}

TEST(test_by_name_with_many, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest = NULL;
	char name[64];

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "guest-number-%03d", i);
		assert_int_not_equal(guests_add_fake(box->guests, 1000 + 10 * i, name, 1), 0);
		assert_int_not_equal(guests_add_fake(box->guests, 5000 + 10 * i, "same", 1), 0);
	}
	assert_int_equal(guests_by_name(box->guests, "no", &guest, &box->error), -ENOENT);
	assert_non_null(strstr(box->error.text, "guest-number-000, guest-number-001, "));
	assert_string_equal(box->error.text + strlen(box->error.text) - 5, ", ...");
	assert_int_equal(guests_by_name(box->guests, "same", &guest, &box->error), -ENOTUNIQ);
	assert_non_null(
		strstr(box->error.text, "300 guests are named \"same\" (pids 5000, 5010, "));
	guests_advise(-ENOTUNIQ, &box->error, "use -p PID");
	assert_non_null(strstr(box->error.text, ", ...): use -p PID"));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(guests_by_name(box->guests, name, &guest, &box->error), -ENOENT);
}

/* Names that differ at their ends: some programs put a namespace or a project before a name. */
TEST(test_by_long_name, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest = NULL;
	char name[256];

	for (int i = 1; i <= 2; i++) {
		static const char begin[] = "q\0-name\0guest=";
		size_t at = sizeof(begin) - 1;
		char text[300];
		int len = snprintf(text + at, sizeof(text) - at, "%0250d.%d", 7, i);

		memcpy(text, begin, at);
		put_vm(box, 100 * i, 50, "qemu-kvm");
		put(box, text, at + (size_t)len + 1, "/proc/%d/cmdline", 100 * i);
	}
	refresh(box, 0);
	for (int i = 1; i <= 2; i++) {
		snprintf(name, sizeof(name), "%0250d.%d", 7, i);
		assert_int_equal(guests_by_name(box->guests, name, &guest, &box->error), 0);
		assert_int_equal(guest->pid, 100 * i);
	}
}

/* Ends the process and starts another one of the same name. */
static void restart(struct box *box, pid_t before, pid_t after, uint64_t now_ns)
{
	drop(box, "/proc/%d", before, 0);
	put_vm(box, after, (uint64_t)after, "qemu-kvm");
	ARGS(box, after, "qemu-kvm\0-name\0web1");
	refresh(box, now_ns);
}

TEST(test_name_means_who_bears_it, setup, teardown)
{
	struct box *box = *state;
	struct guest_choice choice;

	put_vm(box, 100, 50, "qemu-kvm");
	ARGS(box, 100, "qemu-kvm\0-name\0web1");
	refresh(box, 0);
	guest_choice_init(&choice, "web1", 0);
	assert_int_equal(guest_choice_now(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_by_id(box->guests, choice.id)->pid, 100);
	assert_null(guest_choice_follow(&choice, box->guests));

	restart(box, 100, 200, SECOND);
	assert_int_equal(guest_choice_follow(&choice, box->guests)->pid, 200);
	assert_null(guest_choice_follow(&choice, box->guests)); /* said once */
	assert_int_equal(guests_by_id(box->guests, choice.id)->pid, 200);

	/* While no guest or several have the name, the choice stays. */
	drop(box, "/proc/%d", 200, 0);
	refresh(box, 2 * SECOND);
	assert_null(guest_choice_follow(&choice, box->guests));
	restart(box, 200, 300, 3 * SECOND);
	restart(box, 200, 400, 4 * SECOND);
	assert_null(guest_choice_follow(&choice, box->guests));
	drop(box, "/proc/%d", 400, 0);
	refresh(box, 5 * SECOND);
	assert_int_equal(guest_choice_follow(&choice, box->guests)->pid, 300);
}

TEST(test_all_that_bear_a_name, setup, teardown)
{
	struct box *box = *state;
	struct guest_choice choice;

	put_vm(box, 50, 50, "qemu-kvm");
	refresh(box, 0);
	assert_int_equal(guest_choice_begin(&choice, "web1", 0, box->guests, &box->error), -ENOENT);
	assert_null(guest_choice_next(&choice, box->guests));
	put_vm(box, 100, 50, "qemu-kvm");
	ARGS(box, 100, "qemu-kvm\0-name\0web1");
	refresh(box, SECOND);
	assert_int_equal(guest_choice_next(&choice, box->guests)->pid, 100);
	assert_null(guest_choice_next(&choice, box->guests));
	/* Two between two looks, one of which has ended; one beside it. */
	restart(box, 100, 200, 2 * SECOND);
	restart(box, 200, 300, 3 * SECOND);
	put_vm(box, 400, 50, "qemu-kvm");
	ARGS(box, 400, "qemu-kvm\0-name\0web1");
	refresh(box, 4 * SECOND);
	assert_int_equal(guest_choice_next(&choice, box->guests)->pid, 200);
	assert_int_equal(guest_choice_next(&choice, box->guests)->pid, 300);
	assert_int_equal(guest_choice_next(&choice, box->guests)->pid, 400);
	assert_null(guest_choice_next(&choice, box->guests));
}

TEST(test_pid_means_that_process, setup, teardown)
{
	struct box *box = *state;
	struct guest_choice choice;

	put_vm(box, 100, 50, "qemu-kvm");
	ARGS(box, 100, "qemu-kvm\0-name\0web1");
	refresh(box, 0);
	guest_choice_init(&choice, NULL, 100);
	assert_int_equal(guest_choice_now(&choice, box->guests, &box->error), 0);
	restart(box, 100, 200, SECOND);
	assert_null(guest_choice_follow(&choice, box->guests));
	guest_choice_init(&choice, NULL, 100);
	assert_int_equal(guest_choice_now(&choice, box->guests, &box->error), -ESRCH);
	assert_string_equal(box->error.text, "there is no process 100; kvmtop --list-guests "
					     "lists the guests");
}

/* A guest that the user points at is not one that ran beside it with the same name. */
TEST(test_pointed_at, setup, teardown)
{
	struct box *box = *state;
	struct guest_choice choice = { .id = GUEST_NONE };

	put_vm(box, 100, 50, "qemu-kvm");
	ARGS(box, 100, "qemu-kvm\0-name\0web1");
	put_vm(box, 200, 50, "qemu-kvm");
	ARGS(box, 200, "qemu-kvm\0-name\0web1");
	refresh(box, 0);
	guest_choice_point(&choice, box->guests, guests_by_pid(box->guests, 100));
	drop(box, "/proc/%d", 100, 0);
	refresh(box, SECOND);
	guest_choice_point(&choice, box->guests, guests_find(box->guests, choice.id));
	assert_null(guest_choice_follow(&choice, box->guests));
	restart(box, 200, 300, 2 * SECOND);
	assert_int_equal(guest_choice_follow(&choice, box->guests)->pid, 300);

	/* It had ended when the user pointed at it. */
	choice = (struct guest_choice){ .id = GUEST_NONE };
	guest_choice_point(&choice, box->guests, guests_ended_at(box->guests, 0));
	assert_null(guest_choice_follow(&choice, box->guests));
}

TEST(test_of_a_moment, setup, teardown)
{
	struct box *box = *state;
	struct guest_choice choice;

	guest_choice_init(&choice, "web1", 0);
	refresh(box, 0);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), -ENOENT);
	assert_string_equal(box->error.text, "no guest named \"web1\"; there are no guests");
	restart(box, 100, 100, SECOND);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_find(box->guests, choice.id)->pid, 100);
	drop(box, "/proc/%d", 100, 0);
	refresh(box, 2 * SECOND);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_find(box->guests, choice.id)->pid, 100);
	restart(box, 100, 200, 3 * SECOND);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_find(box->guests, choice.id)->pid, 200);

	/* The latest of all that ended. */
	drop(box, "/proc/%d", 200, 0);
	refresh(box, 4 * SECOND);
	guest_choice_init(&choice, "web1", 0);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_find(box->guests, choice.id)->pid, 200);
	guest_choice_init(&choice, NULL, 100);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), 0);
	assert_int_equal(guests_find(box->guests, choice.id)->pid, 100);
	guest_choice_init(&choice, NULL, 101);
	assert_int_equal(guest_choice_then(&choice, box->guests, &box->error), -ENOENT);
	assert_string_equal(box->error.text, "no guest had a process or thread 101 then");
}

TEST(test_ended_guests_are_forgotten, setup, teardown)
{
	struct box *box = *state;
	uint32_t first, second;

	restart(box, 100, 100, SECOND);
	first = only_guest(box)->id;
	restart(box, 100, 200, 100 * SECOND); /* the first one has ended */
	second = only_guest(box)->id;
	drop(box, "/proc/%d", 200, 0);
	refresh(box, 300 * SECOND);
	refresh(box, 699 * SECOND);
	assert_non_null(guests_find(box->guests, first));
	refresh(box, 700 * SECOND);
	assert_null(guests_find(box->guests, first));
	assert_non_null(guests_find(box->guests, second));
	refresh(box, 900 * SECOND);
	assert_null(guests_find(box->guests, second));
	assert_null(guests_ended_at(box->guests, 0));
}

TEST(test_by_words)
{
	static const struct {
		enum guest_word word;
		const char *text, *other_case; /* NULL: case matters */
	} words[] = {
		{ WORD_UUID, "4cb1b7f4-0000-4000-8000-000000000001",
		  "4CB1B7F4-0000-4000-8000-000000000001" },
		{ WORD_ID, "s101", NULL },
		{ WORD_TITLE, "front", NULL },
		{ WORD_PROJECT, "shop", NULL },
		{ WORD_FLAVOR, "m1.large", NULL },
		{ WORD_POD, "7a5c6d2e-0000-4000-8000-000000000001",
		  "7A5C6D2E-0000-4000-8000-000000000001" },
	};
	static const char *const others[] = { "Front", "fr", "shop/", "shop/web", "/front", "" };
	struct guest guest = { .pid = 100, .name = "web1" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		strcpy(guest.words.text[words[i].word], words[i].text);
	assert_true(guest_is_called(&guest, "web1"));
	assert_true(guest_is_called(&guest, "shop/front"));
	assert_true(guest_is_called(&guest, "shop/web1"));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		assert_true(guest_is_called(&guest, words[i].text));
		assert_true(!words[i].other_case || guest_is_called(&guest, words[i].other_case));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(guest_is_called(&guest, others[i]));
	guest.words = (struct guest_words){ { "" } };
	assert_false(guest_is_called(&guest, ""));
	assert_false(guest_is_called(&guest, "/"));
	strcpy(guest.words.text[WORD_TITLE], "front");
	assert_false(guest_is_called(&guest, "/front"));
}

TEST(test_by_uuid_and_id, setup, teardown)
{
	struct box *box = *state;
	const struct guest *guest = NULL;

	put_vm(box, 100, 50, "kvm");
	ARGS(box, 100, "/usr/bin/kvm\0-id\0" "101\0-name\0web1,debug-threads=on\0"
		       "-smbios\0type=1,uuid=4CB1B7F4-0000-4000-8000-000000000001");
	put_vm(box, 200, 50, "kvm");
	ARGS(box, 200, "/usr/bin/kvm\0-id\0" "102\0-name\0" "101,debug-threads=on");
	refresh(box, 0);
	assert_int_equal(guests_by_name(box->guests, "101", &guest, &box->error), 0);
	assert_int_equal(guest->pid, 200); /* a name is meant before an id */
	assert_int_equal(guests_by_name(box->guests, "102", &guest, &box->error), 0);
	assert_int_equal(guest->pid, 200);
	assert_int_equal(guests_by_name(box->guests, "4cb1b7f4-0000-4000-8000-000000000001",
					&guest, &box->error), 0);
	assert_int_equal(guest->pid, 100);
	assert_int_equal(guests_by_name(box->guests, "4CB1B7F4-0000-4000-8000-000000000001",
					&guest, &box->error), 0);
	assert_int_equal(guests_by_name(box->guests, "", &guest, &box->error), -ENOENT);

	put_vm(box, 300, 50, "kvm");
	ARGS(box, 300, "/usr/bin/kvm\0-id\0" "102\0-name\0web3");
	refresh(box, SECOND);
	assert_int_equal(guests_by_name(box->guests, "102", &guest, &box->error), -ENOTUNIQ);
	assert_string_equal(box->error.text,
			    "the platform calls 2 guests \"102\" (pids 200, 300)");
}

TEST(test_by_pid, setup, teardown)
{
	struct box *box = *state;

	put_vmm(box, 100, "qemu-kvm", "CPU 0/KVM\n", "CPU 1/KVM\n");
	refresh(box, 0);
	for (pid_t tid = 100; tid <= 102; tid++)
		assert_ptr_equal(guests_by_pid(box->guests, tid), only_guest(box));
	assert_null(guests_by_pid(box->guests, 103));
	assert_null(guests_by_pid(box->guests, 0));
	assert_null(guests_by_pid(box->guests, -1));
	/* A thread of this moment. */
	PUT(box, "Name:\tx\nTgid:\t100\n", "/proc/103/status");
	assert_ptr_equal(guests_by_pid(box->guests, 103), only_guest(box));
	PUT(box, "Name:\tx\nTgid:\t99\n", "/proc/103/status");
	assert_null(guests_by_pid(box->guests, 103));
}

TEST(test_threads, setup, teardown)
{
	struct box *box = *state;
	struct pid_list tids = { 0 };

	put_proc(box, (struct proc){ .pid = 100, .comm = "x" });
	for (int tid = 1000; tid > 995; tid--)
		put_thread(box, 100, tid, "t\n");
	assert_int_equal(proc_threads(&box->env, 100, &tids), 0);
	assert_int_equal(tids.nr, 6);
	assert_int_equal(tids.pids[0], 100);
	assert_int_equal(tids.pids[1], 996);
	assert_int_equal(tids.pids[5], 1000);
	assert_int_equal(proc_threads(&box->env, 101, &tids), -ESRCH);
	FOLDER(box, "/proc/102/task");
	assert_int_equal(proc_threads(&box->env, 102, &tids), -ESRCH);
	pid_list_release(&tids);
}

TEST(test_fakes, setup, teardown)
{
	struct box *box = *state;
	uint32_t id = guests_add_fake(box->guests, 77, "made-up", 2);
	const struct guest *guest;

	assert_int_equal(id, 1);
	refresh(box, 0);
	guest = only_guest(box);
	assert_string_equal(guest->name, "made-up");
	assert_int_equal(guest->nr_vcpus, 2);
	assert_ptr_equal(guests_by_pid(box->guests, guest->vcpus[1].tid), guest);
	assert_int_equal(guests_add_fake(box->guests, 90, "more", 0), 2);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* ---- this machine ---- */

/* A process that holds a VM: the inventory leaves the one out that asks. */
struct live {
	pid_t pid;
	int word; /* at its end the child closes the VM; the child stays until it is killed */
};

struct made_vm {
	int vcpu;
	pid_t tid; /* of the thread that made it */
};

static void *make_vm(void *arg)
{
	struct made_vm *made = arg;
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int vm = kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0ul);

	made->vcpu = vm < 0 ? -1 : ioctl(vm, KVM_CREATE_VCPU, 0ul);
	made->tid = gettid();
	return NULL;
}

/* pthread_join() returns while the kernel still lists the thread. */
static void make_vm_in_thread(struct made_vm *made)
{
	pthread_t thread;
	char path[64];

	if (pthread_create(&thread, NULL, make_vm, made))
		return;
	pthread_join(thread, NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)made->tid);
	while (access(path, F_OK) == 0)
		sched_yield();
}

_Noreturn static void hold_vm(bool is_in_thread, int report, int word)
{
	struct made_vm made = { .vcpu = -1 };
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_in_thread)
		make_vm_in_thread(&made);
	else
		make_vm(&made);
	byte = made.vcpu >= 0;
	(void)!write(report, &byte, 1);
	(void)!read(word, &byte, 1);
	for (int fd = 3; fd < 256; fd++) {
		if (fd != report)
			close(fd);
	}
	(void)!write(report, &byte, 1);
	for (;;)
		pause();
}

/* False: no VM can be had here. */
static bool live_begin(struct live *live, bool is_in_thread, int *ret_report)
{
	int report[2], word[2];
	char byte = 0;

	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	assert_int_equal(pipe2(word, O_CLOEXEC), 0);
	live->pid = fork();
	if (!live->pid) {
		close(word[1]);
		hold_vm(is_in_thread, report[1], word[0]);
	}
	assert_true(live->pid > 0);
	close(report[1]);
	close(word[0]);
	live->word = word[1];
	*ret_report = report[0];
	return read(report[0], &byte, 1) == 1 && byte;
}

static void live_end(const struct live *live)
{
	kill(live->pid, SIGKILL);
	waitpid(live->pid, NULL, 0);
}

static void check_guest(const struct guests *guests, pid_t pid)
{
	const struct guest *guest = guests_by_pid(guests, pid);

	assert_non_null(guest);
	assert_int_equal(guest->pid, pid);
	assert_int_equal(guest->nr_vms, 1);
	assert_int_equal(guest->nr_vcpus, 1);
	assert_vcpu(guest, 0, 0, pid);
	assert_false(guest->is_named);
}

static void check_live(char *debugfs_kvm, bool is_in_thread)
{
	struct env env = { .root = "", .debugfs_kvm = debugfs_kvm };
	struct guests *guests = guests_new(&env);
	struct live live;
	uint64_t begin;
	int report;
	char byte;

	assert_non_null(guests);
	if (!live_begin(&live, is_in_thread, &report)) {
		print_message("/dev/kvm gives no vCPU here\n");
		live_end(&live);
		guests_free(guests);
		skip();
	}
	begin = now();
	assert_int_equal(guests_refresh(guests, begin, NULL), 0);
	print_message("%s%s: first refresh %llu us\n",
		      debugfs_kvm ? debugfs_kvm : "without debugfs",
		      is_in_thread ? ", made by a thread that ended" : "",
		      (unsigned long long)(now() - begin) / 1000);
	check_guest(guests, live.pid);
	assert_int_equal(guests_refresh(guests, now(), NULL), 0);
	assert_non_null(guests_by_pid(guests, live.pid));

	close(live.word);
	assert_int_equal(read(report, &byte, 1), 1);
	assert_int_equal(guests_refresh(guests, now() + 11 * SECOND, NULL), 0);
	assert_null(guests_by_pid(guests, live.pid));
	live_end(&live);
	close(report);
	guests_free(guests);
}

/* KVM's events come to the first user namespace only. */
static bool has_events(void)
{
	char text[128];

	return read_small("/proc/self/uid_map", text, sizeof(text)) > 0 &&
	       strstr(text, " 4294967295");
}

/* A guest that comes between two walks is there at the next refresh. */
TEST(test_live_event)
{
	struct env env = { .root = "" };
	struct guests *guests = guests_new(&env);
	uint64_t begin = now();
	struct live live;
	bool has_vm;
	int report;

	assert_int_equal(guests_refresh(guests, begin, NULL), 0);
	has_vm = live_begin(&live, false, &report);
	/* The first may be due to the VM of another test. */
	assert_int_equal(guests_refresh(guests, begin + 1, NULL), 0);
	assert_int_equal(guests_refresh(guests, begin + 2, NULL), 0);
	if (has_vm && has_events())
		check_guest(guests, live.pid);
	live_end(&live);
	close(report);
	close(live.word);
	guests_free(guests);
	if (!has_vm || !has_events())
		skip();
}

TEST(test_live)
{
	static char debugfs[] = "/sys/kernel/debug/kvm";

	check_live(NULL, false);
	check_live(access(debugfs, R_OK) ? NULL : debugfs, false);
	check_live(access(debugfs, R_OK) ? NULL : debugfs, true);
}

/* ---- env and why ---- */

TEST(test_env, setup, teardown)
{
	struct box *box = *state;
	struct env here = { .root = "" };
	char path[64], text[8];

	assert_true(env_is_captured(&box->env));
	assert_false(env_is_captured(&here));
	assert_string_equal(env_path(&here, path, sizeof(path), "/proc/%d/fd", 7), "/proc/7/fd");
	here.root = "/captured";
	assert_string_equal(env_path(&here, path, sizeof(path), "/proc/%d", 7), "/captured/proc/7");
	assert_string_equal(env_path(&here, path, 17, "/proc/%d", 7), "/captured/proc/7");
	assert_string_equal(env_path(&here, path, 16, "/proc/%d", 7), "");
	assert_string_equal(env_path(&here, path, 5, "/proc/%d", 7), "");

	PUT(box, "0123456789", "/file");
	env_path(&box->env, path, sizeof(path), "/file");
	assert_int_equal(read_small(path, text, sizeof(text)), 7);
	assert_string_equal(text, "0123456");
	assert_int_equal(read_small(path, text, 1), 0);
	assert_string_equal(text, "");
	assert_int_equal(read_small(path, text, 0), -EINVAL);
	assert_int_equal(read_small("/nonexistent", text, sizeof(text)), -ENOENT);
	assert_int_equal(read_small(box->root, text, sizeof(text)), -EISDIR);
}

TEST(test_why)
{
	struct error error;

	assert_int_equal(error_set(&error, -EPERM, "%s: %d", "x", 5), -EPERM);
	assert_string_equal(error.text, "x: 5");
	assert_int_equal(error_set(&error, 0, "%0*d", (int)sizeof(error.text), 5), 0);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_int_equal(error_set(NULL, -ENOENT, "x"), -ENOENT);
}
