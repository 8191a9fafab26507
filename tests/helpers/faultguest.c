/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faultguest - on x86: a guest that writes to its memory, a page at a time, and a VMM that may log
 * the written pages, as for a migration.
 *
 * usage: faultguest [--name NAME] [--huge] [--log] [--pager US] PAGES ROUNDS
 *
 * Prints "ready PID" and waits for a line on stdin. Then the guest writes ROUNDS times to each of
 * PAGES pages (128 at most) above 128 KiB; in the first round each is a page fault. With --huge the
 * memory is 4 MiB of huge pages, if the host gives them. With --log each page is written once
 * before, and the log is read before each round, so that each write is one to a protected page.
 * With --pager the pages are away before each round, and another thread brings a page US
 * microseconds after the guest wants it, as when a snapshot is restored. It prints "done" and stays
 * for two minutes.
 * Exit status: 0; 1 failure.
 */
#ifdef __x86_64__
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x400000 /* twice a huge page: one of them is whole, wherever it begins */
#define FIRST_GPA   0x20000
#define PAGES_MAX   128
#define HUGE	    0x200000

/* In real mode: %ecx pages, %es the first one. */
static const uint8_t code[] = {
	0x26, 0xc6, 0x06, 0x00, 0x00, 0x01, /* 1: movb $1, %es:0 */
	0x8c, 0xc0,			    /* movw %es, %ax */
	0x05, 0x00, 0x01,		    /* addw $0x100, %ax */
	0x8e, 0xc0,			    /* movw %ax, %es */
	0x49,				    /* decw %cx */
	0x75, 0xf0,			    /* jnz 1b */
	0xf4,				    /* hlt, which user space answers */
};

static uint8_t *make_memory(bool is_huge)
{
	uint8_t *memory = must_map(MEMORY_SIZE + HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memory += -(uintptr_t)memory & (HUGE - 1);
	must(madvise(memory, MEMORY_SIZE, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE), "madvise");
	memcpy(memory + CODE_GPA, code, sizeof(code));
	return memory;
}

/* After this KVM logs the next write to each page. */
static void read_log(const struct small_guest *guest)
{
	uint64_t bitmap[MEMORY_SIZE / 4096 / 64];
	struct kvm_dirty_log log = { .dirty_bitmap = bitmap };

	must(ioctl(guest->vm, KVM_GET_DIRTY_LOG, &log), "KVM_GET_DIRTY_LOG");
}

struct pager {
	int fd;
	uint32_t us;
};

static void *bring_pages(void *arg)
{
	const struct pager *pager = arg;
	struct uffd_msg message;

	while (read(pager->fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage page = { .range = { message.arg.pagefault.address & -4096ULL,
							   4096 } };

		usleep(pager->us);
		must(ioctl(pager->fd, UFFDIO_ZEROPAGE, &page), "UFFDIO_ZEROPAGE");
	}
	return NULL;
}

/* The guest's pages from the first one on. */
static void begin_pager(const struct small_guest *guest, struct pager *pager, uint32_t pages)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)guest->memory + FIRST_GPA,
						    (uint64_t)pages * 4096 },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;

	pager->fd = must((int)syscall(SYS_userfaultfd, O_CLOEXEC), "userfaultfd");
	must(ioctl(pager->fd, UFFDIO_API, &api), "UFFDIO_API");
	must(ioctl(pager->fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	errno = pthread_create(&thread, NULL, bring_pages, pager);
	if (errno)
		die("pthread_create");
	pthread_setname_np(thread, "pager");
}

static void take_pages(const struct small_guest *guest, uint32_t pages)
{
	must(madvise(guest->memory + FIRST_GPA, (size_t)pages * 4096, MADV_DONTNEED), "madvise");
}

static void run_round(struct small_guest *guest, uint32_t pages)
{
	const struct kvm_regs regs = { .rip = CODE_GPA, .rflags = 2, .rcx = pages };

	small_guest_set_state(guest, &regs, FIRST_GPA);
	small_guest_run(guest);
	if (guest->run->exit_reason != KVM_EXIT_HLT)
		small_guest_fail(guest);
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	bool is_huge = take_option(argv, &first, "--huge");
	bool is_logged = take_option(argv, &first, "--log");
	bool has_pager = take_option(argv, &first, "--pager");
	struct pager pager = { .us = has_pager && first < argc ? number_of(argv[first++]) : 0 };
	struct small_guest guest;
	uint32_t pages, rounds;

	pages = argc - first == 2 ? number_of(argv[first]) : 0;
	if (!pages || pages > PAGES_MAX) {
		fprintf(stderr, "usage: faultguest [--name NAME] [--huge] [--log] [--pager US] "
				"PAGES ROUNDS\n");
		return 2;
	}
	rounds = number_of(argv[first + 1]);
	small_guest_make_of(&guest, make_memory(is_huge), MEMORY_SIZE,
			    is_logged ? KVM_MEM_LOG_DIRTY_PAGES : 0);
	small_guest_set_tss(&guest);
	small_guest_add_vcpu(&guest);
	if (is_logged)
		run_round(&guest, pages);
	if (has_pager)
		begin_pager(&guest, &pager, pages);
	small_guest_wait();
	for (uint32_t i = 0; i < rounds; i++) {
		if (is_logged)
			read_log(&guest);
		if (has_pager)
			take_pages(&guest, pages);
		run_round(&guest, pages);
	}
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
