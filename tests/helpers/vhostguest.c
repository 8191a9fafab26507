/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vhostguest - a guest whose vCPU is busy, with a network device that vhost serves.
 *
 * usage: vhostguest [--name NAME] PACKETS
 *
 * Prints "ready PID" when the VM and vhost's thread exist. With a line on stdin the vCPU begins to
 * run, and does not stop; then it prints "ready" again. With the next line vhost sends PACKETS to a
 * tap device, where the host drops them. Then it prints "done", and stays for two minutes. Needs
 * root, vhost_net and tun.
 * Exit status: 0; 1 failure.
 */
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/vhost.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>
#include <sys/eventfd.h>

#include "cmd/demo/demo.h"
#include "tests/worlds/small_guest.h"

#define LIMIT_S 240
#define RING_SIZE 1024
#define PACKET_SIZE 60
#define PAGE 4096
#define SENDS 1 /* vhost_net's second queue: the guest's packets */
#define ETHERTYPE 0x88b5 /* for local experiments: no protocol takes it */

/* What the guest and vhost share; it is as the ring is in linux/virtio_ring.h. */
struct shared {
	_Alignas(PAGE) struct vring_desc desc[RING_SIZE];
	_Alignas(PAGE) struct {
		uint16_t flags, idx, ring[RING_SIZE];
	} avail;
	_Alignas(PAGE) struct {
		uint16_t flags, idx;
		struct vring_used_elem ring[RING_SIZE];
	} used;
	_Alignas(PAGE) struct {
		struct virtio_net_hdr header;
		uint8_t bytes[PACKET_SIZE];
	} packet;
};

static struct shared shared;
static int kick;

/* A tap device that is up. */
static int open_tap(void)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int tap = must(open("/dev/net/tun", O_RDWR | O_CLOEXEC), "/dev/net/tun");
	int any = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");

	must(ioctl(tap, TUNSETIFF, &request), "TUNSETIFF");
	request.ifr_flags = IFF_UP;
	must(ioctl(any, SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
	close(any);
	return tap;
}

static void set_memory(int vhost)
{
	struct vhost_memory *memory = calloc(1, sizeof(*memory) + sizeof(memory->regions[0]));

	if (!memory)
		die("memory");
	memory->nregions = 1;
	memory->regions[0] = (struct vhost_memory_region){
		.guest_phys_addr = (uintptr_t)&shared,
		.memory_size = sizeof(shared),
		.userspace_addr = (uintptr_t)&shared,
	};
	must(ioctl(vhost, VHOST_SET_MEM_TABLE, memory), "VHOST_SET_MEM_TABLE");
	free(memory);
}

/* Each place in the ring is the same packet. */
static void fill_ring(void)
{
	memset(shared.packet.bytes, 0xff, 12); /* for all, from nowhere */
	shared.packet.bytes[6] = 2;
	shared.packet.bytes[12] = ETHERTYPE >> 8;
	shared.packet.bytes[13] = ETHERTYPE & 0xff;
	for (uint16_t i = 0; i < RING_SIZE; i++) {
		shared.desc[i] = (struct vring_desc){
			.addr = (uintptr_t)&shared.packet,
			.len = sizeof(shared.packet),
		};
		shared.avail.ring[i] = i;
	}
}

static void open_vhost(void)
{
	uint64_t features = UINT64_C(1) << VHOST_NET_F_VIRTIO_NET_HDR;
	struct vhost_vring_state size = { .index = SENDS, .num = RING_SIZE };
	struct vhost_vring_state base = { .index = SENDS };
	struct vhost_vring_addr address = {
		.index = SENDS,
		.desc_user_addr = (uintptr_t)shared.desc,
		.avail_user_addr = (uintptr_t)&shared.avail,
		.used_user_addr = (uintptr_t)&shared.used,
	};
	struct vhost_vring_file kicks = { .index = SENDS }, backend = { .index = SENDS };
	int vhost = must(open("/dev/vhost-net", O_RDWR | O_CLOEXEC), "/dev/vhost-net");

	kick = must(eventfd(0, EFD_CLOEXEC), "eventfd");
	kicks.fd = kick;
	backend.fd = open_tap();
	must(ioctl(vhost, VHOST_SET_OWNER), "VHOST_SET_OWNER");
	must(ioctl(vhost, VHOST_SET_FEATURES, &features), "VHOST_SET_FEATURES");
	set_memory(vhost);
	fill_ring();
	must(ioctl(vhost, VHOST_SET_VRING_NUM, &size), "VHOST_SET_VRING_NUM");
	must(ioctl(vhost, VHOST_SET_VRING_BASE, &base), "VHOST_SET_VRING_BASE");
	must(ioctl(vhost, VHOST_SET_VRING_ADDR, &address), "VHOST_SET_VRING_ADDR");
	must(ioctl(vhost, VHOST_SET_VRING_KICK, &kicks), "VHOST_SET_VRING_KICK");
	must(ioctl(vhost, VHOST_NET_SET_BACKEND, &backend), "VHOST_NET_SET_BACKEND");
}

/* Before vhost has sent all, there are more: it does not fall asleep. */
static void send_packets(uint32_t nr)
{
	uint32_t given = 0, sent = 0;

	while (sent < nr) {
		uint16_t used = __atomic_load_n(&shared.used.idx, __ATOMIC_ACQUIRE);

		sent += (uint16_t)(used - (uint16_t)sent);
		if (given < nr && given - sent <= RING_SIZE / 2) {
			given = nr - sent > RING_SIZE ? sent + RING_SIZE : nr;
			__atomic_store_n(&shared.avail.idx, (uint16_t)given, __ATOMIC_RELEASE);
			must(eventfd_write(kick, 1), "kick");
		}
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	static const struct demo_plan plan = { .cpuid = 3000, .vcpus = 1 };
	int first = first_argument(argc, argv);
	struct error error = { "" };
	struct demo_vm *vm;

	if (argc - first != 1) {
		fprintf(stderr, "usage: vhostguest [--name NAME] PACKETS\n");
		return 1;
	}
	alarm(LIMIT_S);
	if (demo_vm_new(&plan, &vm, &error)) {
		fprintf(stderr, "vhostguest: %s\n", error.text);
		return 1;
	}
	open_vhost();
	small_guest_wait();
	demo_vm_go(vm);
	small_guest_wait();
	send_packets(number_of(argv[first]));
	small_guest_stay();
	return 0;
}
