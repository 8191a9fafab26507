// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What platforms call their guests: command lines, cgroups and files as each of them documents or
 * writes them, without the options that name nothing.
 */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "host/guest_name.h"
#include "tests/unit/unit.h"

#define PID 4242

/* ---- arguments alone */

TEST(uuids_of_options)
{
	static const struct {
		const char *args;
		size_t len;
		bool is_found;
	} cases[] = {
#define UUID_OF(args, is_found) { args, sizeof(args), is_found }
		UUID_OF("q\0-uuid\0ABCDEF01-2345-6789-abcd-ef0123456789\0-m\0" "1", true),
		UUID_OF("q\0--uuid\0ABCDEF01-2345-6789-abcd-ef0123456789", true),
		UUID_OF("q\0-smbios\0type=1,uuid=abcdef01-2345-6789-abcd-ef0123456789", true),
		UUID_OF("q\0-smbios\0type=1,manufacturer=A,,B,"
			"uuid=ABCDEF01-2345-6789-ABCD-EF0123456789,family=KubeVirt", true),
		UUID_OF("q\0-smbios\0uuid=abcdef01-2345-6789-abcd-ef0123456789,type=1", true),
		UUID_OF("c\0--platform\0num_pci_segments=2,"
			"uuid=abcdef01-2345-6789-abcd-ef0123456789", true),
		UUID_OF("c\0--platform=uuid=abcdef01-2345-6789-abcd-ef0123456789", true),
		/* The last one counts. */
		UUID_OF("q\0-uuid\0" "00000000-2345-6789-abcd-ef0123456789\0-uuid\0"
			"abcdef01-2345-6789-abcd-ef0123456789", true),
		UUID_OF("q\0-smbios\0type=3,uuid=abcdef01-2345-6789-abcd-ef0123456789", false),
		UUID_OF("q\0-smbios\0type=1,serial=,uuid=abcdef01", false),
		UUID_OF("q\0-smbios\0type=11,uuid=abcdef01-2345-6789-abcd-ef0123456789", false),
		UUID_OF("q\0-uuid\0ABCDEF01-2345-6789-abcd_ef0123456789\0-uuid", false),
		UUID_OF("q\0-device\0x,uuid=abcdef01-2345-6789-abcd-ef0123456789", false),
		UUID_OF("q\0-smbios", false),
		UUID_OF("q\0-smbios\0", false),
		UUID_OF("", false),
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct guest_words words = { { "" } };

		words_of_cmdline(cases[i].args, cases[i].len, &words);
		if (strcmp(words.text[WORD_UUID],
			   cases[i].is_found ? "abcdef01-2345-6789-abcd-ef0123456789" : ""))
			fail_msg("case %zu: \"%s\"", i, words.text[WORD_UUID]);
	}
}

TEST(ids_of_options_and_folders)
{
	static const struct {
		const char *args;
		size_t len;
		const char *id, *project, *title;
	} cases[] = {
#define ID_OF(args, id) { args, sizeof(args), id, "", "" }
#define PROJECT_OF(args, project, title) { args, sizeof(args), "", project, title }
		ID_OF("/usr/bin/kvm\0-id\0" "101\0-name\0web1,debug-threads=on", "101"),
		ID_OF("shim\0-namespace\0k8s.io\0-id\0" "29219fe9\0-debug", "29219fe9"),
		ID_OF("c\0--api-socket\0/run/vc/vm/29219fe9/clh-api.sock", "29219fe9"),
		ID_OF("c\0--api-socket\0path=/run/kata/29219fe9/ch-api.sock", "29219fe9"),
		ID_OF("q\0-qmp\0unix:/run/vc/vm/29219fe9/qmp.sock,server=on", "29219fe9"),
		ID_OF("c\0--api-socket\0/run/vc/vm/", ""),
		ID_OF("c\0--api-socket\0/run/vc/vm//x", ""),
		ID_OF("c\0--api-socket\0/run/vc/vm/x.sock", ""),
		ID_OF("c\0--api-socket\0/tmp/ch.sock", ""),
		ID_OF("f\0--id\0x", ""), /* Firecracker's name */
		ID_OF("-id\0x", "x"),
		ID_OF("q\0-id", ""),
		ID_OF("q\0-id\0", ""),
		ID_OF("", ""),
		PROJECT_OF("q\0-pidfile\0/run/incus/v1/qemu.pid", "default", "v1"),
		PROJECT_OF("q\0-pidfile\0/run/incus/lab_v1/qemu.pid", "lab", "v1"),
		PROJECT_OF("q\0-D\0/var/log/lxd/v-1/qemu.log", "default", "v-1"),
		PROJECT_OF("q\0-D\0/var/log/lxd/_v1/qemu.log", "", ""),
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct guest_words words = { { "" } };

		words_of_cmdline(cases[i].args, cases[i].len, &words);
		if (strcmp(words.text[WORD_ID], cases[i].id) ||
		    strcmp(words.text[WORD_PROJECT], cases[i].project) ||
		    strcmp(words.text[WORD_TITLE], cases[i].title))
			fail_msg("case %zu: \"%s\" \"%s\" \"%s\"", i, words.text[WORD_ID],
				 words.text[WORD_PROJECT], words.text[WORD_TITLE]);
	}
}

TEST(pods_of_cgroups)
{
	static const struct {
		const char *text, *pod;
	} cases[] = {
#define POD "7a5c6d2e-9d4b-4a0e-8f53-0c2f4a1f7b10"
#define POD_UNIT "7a5c6d2e_9d4b_4a0e_8f53_0c2f4a1f7b10"
		/* The kubelet's drivers "cgroupfs" and "systemd", by class of service. */
		{ "0::/kubepods/burstable/pod" POD "/0a1b\n", POD },
		{ "0::/kubepods/pod" POD "/0a1b/emulator\n", POD },
		{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_UNIT
		  ".slice/crio-0a1b.scope\n", POD },
		{ "0::/kubepods.slice/kubepods-pod" POD_UNIT ".slice/cri-containerd-0a1b.scope",
		  POD },
		{ "5:cpuset:/\n4:cpu:/kubepods/besteffort/pod" POD "/0a1b\n", POD },
		{ "0::/kubepods/pod7a5c6d2e/0a1b\n", "" }, /* no UID: a pod of a file */
		{ "0::/machine.slice/libpod-" POD ".scope\n", "" },
		{ "0::/kubepods", "" },
		{ "0::/kubepods/podpod" POD, POD },
		{ "0::/kubepods/pod" "7a5c6d2e-9d4b-4a0e-8f53-0c2f4a1f7b1", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct guest_words words = { { "" } };

		words_of_cgroup(cases[i].text, &words);
		if (strcmp(words.text[WORD_POD], cases[i].pod))
			fail_msg("%s: \"%s\"", cases[i].text, words.text[WORD_POD]);
	}
}

/* ---- libvirt's file */

/* As libvirt writes it for `virsh list`: the status, and in it the domain. */
#define STATUS(pid, rest) \
	"<!--\nWARNING: THIS IS AN AUTO-GENERATED FILE.\n  virsh edit web1\n-->\n\n" \
	"<domstatus state='running' reason='booted' pid='" pid "'>\n" \
	"  <taint flag='high-privileges'/>\n" \
	"  <vcpus>\n    <vcpu id='0' pid='4250'/>\n  </vcpus>\n" \
	"  <qemuCaps>\n    <flag name='kvm'/>\n  </qemuCaps>\n" rest "</domstatus>\n"
#define DOMAIN(rest) \
	"  <domain type='kvm' id='3'>\n    <name>web1</name>\n    <uuid>" UUID "</uuid>\n" rest \
	"    <devices>\n      <title>no</title>\n    </devices>\n  </domain>\n"
#define UUID "8f7d1c3a-0b52-4f1e-9d26-5a6b7c8d9e0f"
/* nova/virt/libvirt/config.py, of the releases since 2014 */
#define NOVA(name) \
	"    <metadata>\n      <nova:instance" \
	" xmlns:nova=\"http://openstack.org/xmlns/libvirt/nova/1.1\">\n" \
	"        <nova:package version=\"28.0.0\"/>\n" \
	"        <nova:name>" name "</nova:name>\n" \
	"        <nova:creationTime>2026-11-20 01:10:32</nova:creationTime>\n" \
	"        <nova:flavor name=\"m1.large\" id=\"d1\">\n" \
	"          <nova:memory>8192</nova:memory>\n        </nova:flavor>\n" \
	"        <nova:owner>\n" \
	"          <nova:user uuid=\"5a86b1db\">ann</nova:user>\n" \
	"          <nova:project uuid=\"995b4947\">shop</nova:project>\n" \
	"        </nova:owner>\n      </nova:instance>\n    </metadata>\n"

TEST(words_of_libvirts_file)
{
	static const struct {
		const char *text, *uuid, *title, *project, *flavor;
	} cases[] = {
		{ STATUS("4242", DOMAIN("")), UUID, "", "", "" },
		{ STATUS("4242", DOMAIN("<title>Web &amp; mail</title>")), UUID, "Web & mail", "",
		  "" },
		{ STATUS("4242", DOMAIN("<title>no</title>" NOVA("web-1"))), UUID, "web-1",
		  "shop", "m1.large" },
		{ STATUS("4242", DOMAIN(NOVA("&#x6838;&lt;b&gt;&#10;x"))), UUID, "核<b> x", "shop",
		  "m1.large" },
		/* OpenNebula's src/vmm/LibVirtDriverKVM.cc */
		{ STATUS("4242", DOMAIN("<metadata><one:vm xmlns:one=\"http://opennebula.org/"
					"xmlns/libvirt/1.0\"><one:name><![CDATA[db <1>]]>"
					"</one:name></one:vm></metadata>")),
		  UUID, "db <1>", "", "" },
		/* What follows the devices is not read. */
		{ STATUS("4242", "<domain><devices/><title>no</title></domain>"), "", "", "", "" },
		/* Of another process, or of none: an attacker's QEMU may have any name. */
		{ STATUS("4243", DOMAIN(NOVA("web-1"))), "", "", "", "" },
		{ STATUS("42420", DOMAIN(NOVA("web-1"))), "", "", "", "" },
		{ "<domain><uuid>" UUID "</uuid></domain>", "", "", "", "" },
		{ "<domstatus><domain><uuid>" UUID "</uuid></domain></domstatus>", "", "", "",
		  "" },
		/* Cut short: what came before counts. */
		{ "<domstatus pid='4242'><domain><title>x</title><uuid>" UUID, "", "x", "", "" },
		{ "<domstatus pid='4242'><domain><title>x</title></no><uuid>" UUID "</uuid>", "",
		  "x", "", "" },
		{ STATUS("4242", DOMAIN("<title>x&y;</title>")), UUID, "", "", "" },
		{ "<!DOCTYPE x [<!ENTITY a 'b'>]><domstatus pid='4242'><domain><title>x", "", "",
		  "", "" },
		/* The parser tells of an empty element's end after it was stopped at its begin. */
		{ "<domstatus/>", "", "", "", "" },
		{ "<domstatus pid='4243'/>", "", "", "", "" },
		{ "", "", "", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct guest_words words = { { "" } };

		words_of_domain(cases[i].text, strlen(cases[i].text), PID, &words);
		if (strcmp(words.text[WORD_UUID], cases[i].uuid) ||
		    strcmp(words.text[WORD_TITLE], cases[i].title) ||
		    strcmp(words.text[WORD_PROJECT], cases[i].project) ||
		    strcmp(words.text[WORD_FLAVOR], cases[i].flavor) || words.text[WORD_ID][0])
			fail_msg("case %zu: \"%s\" \"%s\" \"%s\" \"%s\"", i,
				 words.text[WORD_UUID], words.text[WORD_TITLE],
				 words.text[WORD_PROJECT], words.text[WORD_FLAVOR]);
	}
}

TEST(long_texts_are_cut)
{
	struct guest_words words = { { "" } };
	char text[8192];
	int len;

	len = snprintf(text, sizeof(text), "<domstatus pid='4242'><domain><title>%04000d</title>",
		       0);
	words_of_domain(text, (size_t)len, PID, &words);
	assert_int_equal(strlen(words.text[WORD_TITLE]), WORD_SIZE - 1);
}

TEST(long_names_end)
{
	struct guest_words words = { { "" } };
	char text[1024];
	int len;

	for (int size = 200; size <= 600; size++) {
		len = snprintf(text, sizeof(text), "<x%0*d/>", size, 0);
		words_of_domain(text, (size_t)len, PID, &words);
		len = snprintf(text, sizeof(text), "<domstatus pid='4242'><x%0*d/><domain><title>",
			       size, 0);
		words_of_domain(text, (size_t)len, PID, &words);
	}
	assert_string_equal(words.text[WORD_TITLE], "");
}

/* A million elements in each other would take memory for each. */
TEST(deep_files_end)
{
	char text[8192] = "<domstatus pid='4242'><domain>";

	for (unsigned int nr = 20; nr <= 500; nr += 480) {
		struct guest_words words = { { "" } };
		char *at = text + strlen("<domstatus pid='4242'><domain>");

		for (unsigned int i = 0; i < nr; i++)
			at = stpcpy(at, "<b>");
		for (unsigned int i = 0; i < nr; i++)
			at = stpcpy(at, "</b>");
		at = stpcpy(at, "<title>x</title>");
		words_of_domain(text, (size_t)(at - text), PID, &words);
		assert_string_equal(words.text[WORD_TITLE], nr < 100 ? "x" : "");
	}
}

/* ---- processes of each platform */

struct box {
	char root[64];
	struct env env;
};

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

static void put(const struct box *box, const char *name, const char *text, size_t len)
{
	char path[PATH_MAX];
	FILE *file;

	if (!text)
		return;
	snprintf(path, sizeof(path), "%s%s", box->root, name);
	make_folders(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void set_up(struct box *box)
{
	strcpy(box->root, "/tmp/kvmtop-platform-XXXXXX");
	assert_non_null(mkdtemp(box->root));
	box->env = (struct env){ .root = box->root };
}

static void tear_down(const struct box *box)
{
	nftw(box->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct process {
	const char *platform, *comm, *args;
	size_t len;
	const char *cgroup, *jail, *domain; /* NULL: none; the domain is web1's */
	const char *name, *vmm;
	const char *words[GUEST_WORDS]; /* NULL: none */
};

static void check(const struct process *process)
{
	struct guest_name found;
	char mounts[PATH_MAX];
	struct box box;

	set_up(&box);
	put(&box, "/proc/4242/comm", process->comm, strlen(process->comm));
	put(&box, "/proc/4242/cmdline", process->args, process->len);
	if (process->cgroup)
		put(&box, "/proc/4242/cgroup", process->cgroup, strlen(process->cgroup));
	if (process->domain)
		put(&box, "/run/libvirt/qemu/web1.xml", process->domain, strlen(process->domain));
	snprintf(mounts, sizeof(mounts), "64 42 254:0 %s / rw,relatime - ext4 /dev/vda rw\n",
		 process->jail ? process->jail : "/");
	put(&box, "/proc/4242/mountinfo", mounts, strlen(mounts));

	found = guest_name_find(&box.env, PID);
	if (strcmp(found.name, process->name) || strcmp(found.vmm, process->vmm))
		fail_msg("%s: name %s, VMM %s", process->platform, found.name, found.vmm);
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		if (strcmp(found.words.text[i], process->words[i] ? process->words[i] : ""))
			fail_msg("%s: %s %s", process->platform, guest_word_names[i],
				 found.words.text[i]);
	tear_down(&box);
}

TEST(every_platform)
{
#define ARGS(text) .args = (text), .len = sizeof(text)
#define SANDBOX "358e7b4f79ddf12c19197634fd1b32b1ae081764dc8805347a8fedcab5efd5d6"
#define POD_SLICE "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_UNIT \
		  ".slice/cri-containerd-" SANDBOX ".scope\n"
	static const struct process processes[] = {
		{ .platform = "Proxmox", /* `qm showcmd` prints it */
		  .comm = "kvm",
		  ARGS("/usr/bin/kvm\0-id\0" "101\0-name\0web1,debug-threads=on\0-no-shutdown\0"
		       "-chardev\0socket,id=qmp,path=/var/run/qemu-server/101.qmp,server=on\0"
		       "-mon\0chardev=qmp,mode=control\0-pidfile\0/var/run/qemu-server/101.pid\0"
		       "-daemonize\0-smbios\0type=1,uuid=" UUID "\0-smp\0"
		       "4,sockets=1,cores=4,maxcpus=4\0-nodefaults"),
		  .cgroup = "0::/qemu.slice/101.scope\n",
		  .name = "web1", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_ID] = "101" } },
		{ .platform = "libvirt", .comm = "qemu-system-x86",
		  ARGS("/usr/bin/qemu-system-x86_64\0-name\0guest=web1,debug-threads=on\0-S"),
		  .domain = STATUS("4242", DOMAIN("<title>Shop</title>")),
		  .name = "web1", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_TITLE] = "Shop" } },
		{ .platform = "libvirt's file is another process'", .comm = "qemu-system-x86",
		  ARGS("/usr/bin/qemu-system-x86_64\0-name\0web1"),
		  .domain = STATUS("4241", DOMAIN("<title>Shop</title>")),
		  .name = "web1", .vmm = "qemu" },
		{ .platform = "a name that is a path", .comm = "qemu-system-x86",
		  ARGS("/usr/bin/qemu-system-x86_64\0-name\0../qemu/web1"),
		  .domain = STATUS("4242", DOMAIN("<title>Shop</title>")),
		  .name = "../qemu/web1", .vmm = "qemu" },
		{ .platform = "Nova", .comm = "qemu-kvm",
		  ARGS("/usr/libexec/qemu-kvm\0-name\0guest=web1,debug-threads=on\0"
		       "-S\0-object\0{\"qom-type\":\"secret\",\"id\":\"masterKey0\"}\0"
		       "-uuid\0" UUID "\0-smbios\0type=1,manufacturer=RDO,"
		       "product=OpenStack Compute,"
		       "version=28.0,serial=" UUID ",uuid=" UUID ",family=Virtual Machine"),
		  .domain = STATUS("4242", DOMAIN(NOVA("front"))),
		  .name = "web1", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_TITLE] = "front",
			     [WORD_PROJECT] = "shop", [WORD_FLAVOR] = "m1.large" } },
		/* kubevirt.io, "Debug": `ps` on a node */
		{ .platform = "KubeVirt", .comm = "qemu-kvm",
		  ARGS("/usr/libexec/qemu-kvm\0-name\0guest=clusters-foo_testvm,debug-threads=on\0"
		       "-S\0-object\0{\"qom-type\":\"secret\",\"id\":\"masterKey0\",\"file\":"
		       "\"/var/run/kubevirt-private/libvirt/qemu/lib/domain-1-clusters-foo_testvm"
		       "/master-key.aes\"}\0-uuid\0" UUID "\0-smbios\0type=1,"
		       "manufacturer=KubeVirt,product=None,uuid=" UUID ",family=KubeVirt"),
		  .cgroup = POD_SLICE,
		  .name = "clusters-foo_testvm", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_TITLE] = "testvm",
			     [WORD_PROJECT] = "clusters-foo", [WORD_POD] = POD } },
		{ .platform = "no KubeVirt: a name with '_' outside of Kubernetes",
		  .comm = "qemu-kvm", ARGS("/usr/libexec/qemu-kvm\0-name\0a_b"),
		  .cgroup = "0::/machine.slice/machine-qemu\\x2d3\\x2da_b.scope\n",
		  .name = "a_b", .vmm = "qemu" },
		/* LXD's documentation, "Debug virtual machines"; Incus runs the same */
		{ .platform = "LXD", .comm = "qemu-system-x86",
		  ARGS("/snap/lxd/24918/bin/qemu-system-x86_64\0-S\0-name\0juju-lxd\0-uuid\0" UUID
		       "\0-daemonize\0-cpu\0host,hv_passthrough\0-readconfig\0"
		       "/var/snap/lxd/common/lxd/logs/juju-lxd/qemu.conf\0-pidfile\0"
		       "/var/snap/lxd/common/lxd/logs/juju-lxd/qemu.pid"),
		  .name = "juju-lxd", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_PROJECT] = "default" } },
		{ .platform = "Incus", .comm = "qemu-system-x86",
		  ARGS("/opt/incus/bin/qemu-system-x86_64\0-S\0-name\0v1\0-uuid\0" UUID
		       "\0-daemonize\0-cpu\0host,hv_passthrough\0-readconfig\0"
		       "/run/incus/lab_v1/qemu.conf"),
		  .name = "v1", .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_PROJECT] = "lab" } },
		{ .platform = "Kata with QEMU", .comm = "qemu-system-x86",
		  ARGS("/opt/kata/bin/qemu-system-x86_64\0-name\0sandbox-" SANDBOX
		       ",debug-threads=on\0-uuid\0" UUID "\0-machine\0q35,accel=kvm\0-qmp\0"
		       "unix:/run/vc/vm/" SANDBOX "/qmp.sock,server=on,wait=off"),
		  .cgroup = POD_SLICE,
		  .name = "sandbox-" SANDBOX, .vmm = "qemu",
		  .words = { [WORD_UUID] = UUID, [WORD_ID] = SANDBOX, [WORD_POD] = POD } },
		{ .platform = "Kata with Cloud Hypervisor", .comm = "cloud-hyperviso",
		  ARGS("/opt/kata/bin/cloud-hypervisor\0--api-socket\0/run/vc/vm/" SANDBOX
		       "/clh-api.sock"),
		  .name = SANDBOX, .vmm = "cloud-hypervisor", .words = { [WORD_ID] = SANDBOX } },
		{ .platform = "Kata with Dragonball", .comm = "containerd-shim",
		  ARGS("/opt/kata/bin/containerd-shim-kata-v2\0-namespace\0k8s.io\0-address\0"
		       "/run/containerd/containerd.sock\0-publish-binary\0"
		       "/usr/bin/containerd\0-id\0" SANDBOX),
		  .name = SANDBOX, .vmm = "dragonball", .words = { [WORD_ID] = SANDBOX } },
		/* The sandbox has 32 characters there. */
		{ .platform = "Kata with Firecracker", .comm = "firecracker",
		  ARGS("/firecracker\0--id\0" "3a2137a9f00e741c0aaf4f4301a440e9\0"
		       "--start-time-us\0" "72138767\0--config-file\0/fcConfig.json"),
		  .jail = "/run/vc/firecracker/3a2137a9f00e741c0aaf4f4301a440e9/root",
		  .name = "3a2137a9f00e741c0aaf4f4301a440e9", .vmm = "firecracker",
		  .words = { [WORD_ID] = "3a2137a9f00e741c0aaf4f4301a440e9" } },
		{ .platform = "Android's emulator", .comm = "qemu-system-x86",
		  ARGS("/opt/android/emulator/qemu/linux-x86_64/qemu-system-x86_64-headless\0-avd\0"
		       "Pixel_9\0-no-window\0-port\0" "5554"),
		  .name = "Pixel_9", .vmm = "qemu" },
		{ .platform = "Cuttlefish", .comm = "crosvm",
		  ARGS("/home/ann/cf/bin/crosvm\0--extended-status\0run\0--mem=4096\0"
		       "--socket=/tmp/cf_avd_1000/cvd-2/internal/crosvm_control.sock\0"
		       "--block=path=/home/ann/cf/cuttlefish/instances/cvd-2/overlay.img"),
		  .name = "cvd-2", .vmm = "crosvm", .words = { [WORD_ID] = "cvd-2" } },
		{ .platform = "microvm.nix: argv[0] is the unit's name", .comm = "cloud-hyperviso",
		  ARGS("microvm@web1\0--cpus\0boot=2\0--api-socket\0web1.sock"),
		  .cgroup = "0::/system.slice/system-microvm.slice/microvm@web1.service\n",
		  .name = "web1", .vmm = "cloud-hypervisor" },
		{ .platform = "VirtualBox", .comm = "VBoxHeadless",
		  ARGS("/usr/lib/virtualbox/VBoxHeadless\0--comment\0shop\0--startvm\0" UUID "\0"
		       "--vrde\0config"),
		  .name = "shop", .vmm = "virtualbox" },
		/* docs/jailer.md of Firecracker */
		{ .platform = "Firecracker by its jailer", .comm = "firecracker",
		  ARGS("/firecracker-v1.7.0\0--id\0" "551e7604-e35c-42b3-b825-416853441234\0"
		       "--start-time-us\0" "1234\0--start-time-cpu-us\0" "0"),
		  .jail = "/srv/jailer/firecracker-v1.7.0/"
			  "551e7604-e35c-42b3-b825-416853441234/root",
		  .name = "551e7604-e35c-42b3-b825-416853441234", .vmm = "firecracker",
		  .words = { [WORD_ID] = "551e7604-e35c-42b3-b825-416853441234" } },
		{ .platform = "Firecracker in another folder", .comm = "firecracker",
		  ARGS("/firecracker\0--id\0fc1"), .jail = "/srv/x/fc1/root",
		  .name = "fc1", .vmm = "firecracker" },
		{ .platform = "firectl", .comm = "firecracker",
		  ARGS("firecracker\0--api-sock\0/root/.firecracker.sock-1234-81"),
		  .name = "firecracker", .vmm = "firecracker" },
		{ .platform = "Cloud Hypervisor alone", .comm = "cloud-hyperviso",
		  ARGS("cloud-hypervisor\0--api-socket\0/tmp/ch.sock\0--kernel\0/k\0--platform\0"
		       "num_pci_segments=1,uuid=" UUID),
		  .name = "ch", .vmm = "cloud-hypervisor", .words = { [WORD_UUID] = UUID } },
		{ .platform = "Cloud Hypervisor with a path", .comm = "cloud-hyperviso",
		  ARGS("cloud-hypervisor\0--api-socket=path=web1.v2.sock,x=y\0--kernel\0/k"),
		  .name = "web1.v2", .vmm = "cloud-hypervisor" },
		{ .platform = "Cloud Hypervisor with a hidden socket", .comm = "cloud-hyperviso",
		  ARGS("cloud-hypervisor\0--api-socket\0path=/tmp/.web1"),
		  .name = ".web1", .vmm = "cloud-hypervisor" },
		{ .platform = "Cloud Hypervisor with a descriptor", .comm = "cloud-hyperviso",
		  ARGS("cloud-hypervisor\0--api-socket\0fd=3"),
		  .name = "cloud-hyperviso", .vmm = "cloud-hypervisor" },
		{ .platform = "Cloud Hypervisor without a socket's name", .comm = "cloud-hyperviso",
		  ARGS("cloud-hypervisor\0--api-socket\0/tmp/"),
		  .name = "cloud-hyperviso", .vmm = "cloud-hypervisor" },
		{ .platform = "Multipass", .comm = "qemu-system-x86",
		  ARGS("/snap/multipass/1/usr/bin/qemu-system-x86_64\0--enable-kvm\0-cpu\0host\0"
		       "-drive\0file=/var/snap/multipass/common/data/multipassd/vault/instances/"
		       "primary/ubuntu-24.04-server-cloudimg-amd64.img,if=none,id=disk0"),
		  .name = "primary", .vmm = "qemu", .words = { [WORD_ID] = "primary" } },
		{ .platform = "Minikube's driver qemu2", .comm = "qemu-system-x86",
		  ARGS("qemu-system-x86_64\0-cpu\0host\0-qmp\0"
		       "unix:/home/ann/.minikube/machines/minikube/monitor,server,nowait"),
		  .name = "minikube", .vmm = "qemu", .words = { [WORD_ID] = "minikube" } },
		/* gvisor.dev, "Debugging": the arguments in its log */
		{ .platform = "gVisor", .comm = "exe",
		  ARGS("runsc-sandbox\0--root=/var/run/docker/runtime-runsc-kvm/moby\0--log="
		       "/run/containerd/io.containerd.runtime.v2.task/moby/" SANDBOX "/log.json\0"
		       "--log-format=json\0--platform=kvm\0boot\0--bundle=/x"),
		  .name = SANDBOX, .vmm = "gvisor", .words = { [WORD_ID] = SANDBOX } },
		{ .platform = "crosvm", .comm = "crosvm",
		  ARGS("crosvm\0run\0--name\0arcvm\0--cpus\0" "4\0--socket\0/run/vm/crosvm.sock"),
		  .name = "arcvm", .vmm = "crosvm" },
		{ .platform = "StratoVirt", .comm = "stratovirt",
		  ARGS("/usr/bin/stratovirt\0-name\0s1\0-uuid\0" UUID "\0-qmp\0unix:/tmp/s1.sock"),
		  .name = "s1", .vmm = "stratovirt", .words = { [WORD_UUID] = UUID } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		check(&processes[i]);
}
