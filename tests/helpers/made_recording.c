// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made_recording - writes a perf.data of two made-up guests, the same everywhere: for pictures.
 *
 * usage: made_recording FILE VMM
 *
 * Ten seconds of db1, with two vCPUs, and of web1, with one. db1 waits some 3 ms for each command
 * that it gives its IDE disk; samples with stacks show the code of the VMM. VMM is the file that
 * has this code's symbols.
 */
#include "tests/worlds/elf_file.h"
#include "tests/worlds/perf_stacks.h"

#define PERIOD UINT64_C(1000000) /* ns, of samples */
#define BEGIN  (100000 * PERIOD)
#define END    (110000 * PERIOD)

enum { ID_PIO = 104, ID_USERSPACE };
enum { EXTERNAL_INTERRUPT = 1, HLT = 12, IO_INSTRUCTION = 30, MSR_WRITE = 32, EPT_VIOLATION = 48 };

static const char *const events[] = {
	"name: kvm_pio\nID: 104\n" COMMON_FIELDS
	"\tfield:unsigned int rw;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int port;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int size;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"port %x\", REC->port\n",
	"name: kvm_userspace_exit\nID: 105\n" COMMON_FIELDS
	"\tfield:__u32 reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:int errno;\toffset:12;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"reason %s\", __print_symbolic(REC->reason, { 2, \"IO\" })\n",
};
#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

static struct vcpu {
	const char *guest;
	uint32_t pid, index;
	unsigned int commands; /* to the disk, of 1,000 exits */
	uint64_t now_ns;
} vcpus[] = {
	{ "db1", 4100, 0, 55, BEGIN },
	{ "db1", 4100, 1, 30, BEGIN },
	{ "web1", 4200, 0, 0, BEGIN },
};
#define NR_VCPUS (sizeof(vcpus) / sizeof(vcpus[0]))

/* From the outermost to the innermost. */
enum { EXEC, HANDLE_IO, EXEC_CMD, DRAIN, POLL, FLUSH, NR_FUNCTIONS };

static const char *const functions[NR_FUNCTIONS] = {
	"kvm_cpu_exec", "kvm_handle_io", "ide_exec_cmd",
	"blk_drain",	"aio_poll",	 "qcow2_cache_flush",
};

static struct bytes bytes, event;
static uint32_t random_state = 1;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static uint32_t tid_of(const struct vcpu *vcpu)
{
	return vcpu->pid + 1 + vcpu->index;
}

static void add_event(const struct vcpu *vcpu, uint64_t time_ns)
{
	put_sample(&bytes, time_ns, (uint32_t)(vcpu - vcpus), vcpu->pid, tid_of(vcpu), &event);
}

static uint64_t function_address(int function)
{
	return VMM + 0x100 * (uint64_t)function + 0x10;
}

static void add_stack(const struct vcpu *vcpu, uint64_t time_ns)
{
	const uint64_t chain[] = {
		OF_USER,
		function_address(below(10) < 7 ? POLL : FLUSH),
		function_address(DRAIN),
		function_address(EXEC_CMD),
		function_address(HANDLE_IO),
		function_address(EXEC),
	};

	put_stack_of(&bytes, time_ns, vcpu->pid, tid_of(vcpu), PERIOD, chain,
		     sizeof(chain) / sizeof(chain[0]));
}

/* The guest writes to the command register of its disk, and the VMM answers late. */
static uint64_t add_command(const struct vcpu *vcpu)
{
	uint64_t answer_ns = 2200000 + below(1500000);

	put_common(&event, ID_PIO, tid_of(vcpu));
	put_u32(&event, 1);
	put_u32(&event, 0x1f7);
	put_u32(&event, 1);
	add_event(vcpu, vcpu->now_ns + 1000);
	put_common(&event, ID_USERSPACE, tid_of(vcpu));
	put_u32(&event, 2); /* KVM_EXIT_IO */
	put_u32(&event, 0);
	add_event(vcpu, vcpu->now_ns + 2000);
	for (uint64_t ns = PERIOD / 2; ns < answer_ns; ns += PERIOD)
		add_stack(vcpu, vcpu->now_ns + ns);
	return answer_ns;
}

static void add_exit(struct vcpu *vcpu)
{
	bool is_command = below(1000) < vcpu->commands;
	uint32_t kind = below(100);
	uint32_t reason = kind < 50 ? MSR_WRITE :
			  kind < 70 ? HLT :
			  kind < 90 ? EXTERNAL_INTERRUPT :
				      EPT_VIOLATION;

	if (is_command)
		reason = IO_INSTRUCTION;
	uint64_t took_ns = reason == HLT ? 50000 + below(600000) : 900 + below(4000);

	put_exit(&event, tid_of(vcpu), vcpu->index, 1, reason);
	add_event(vcpu, vcpu->now_ns);
	if (is_command)
		took_ns = add_command(vcpu);
	if (reason == MSR_WRITE) {
		put_msr(&event, tid_of(vcpu), 1, below(4) ? 0x6e0 : 0x830);
		add_event(vcpu, vcpu->now_ns + 500);
	}
	put_entry(&event, tid_of(vcpu), vcpu->index);
	add_event(vcpu, vcpu->now_ns + took_ns);
	vcpu->now_ns += took_ns + 40000 + below(400000);
}

static void add_samples(void)
{
	for (;;) {
		struct vcpu *next = vcpus;

		for (struct vcpu *vcpu = vcpus; vcpu < vcpus + NR_VCPUS; vcpu++)
			next = vcpu->now_ns < next->now_ns ? vcpu : next;
		if (next->now_ns >= END)
			return;
		add_exit(next);
	}
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void write_vmm(const char *path)
{
	static struct elf_file file;

	elf_file_init(&file, SHT_SYMTAB);
	for (int i = 0; i < NR_FUNCTIONS; i++)
		elf_file_add(&file, functions[i], 0x100 * (uint64_t)i, 0x100);
	write_file(path, &file, sizeof(file));
}

int main(int argc, char **argv)
{
	const char *formats[NR_WORLD_FORMATS + NR_EVENTS];

	if (argc != 3) {
		fprintf(stderr, "usage: made_recording FILE VMM\n");
		return 2;
	}
	memcpy(formats, world_formats, sizeof(world_formats));
	memcpy(formats + NR_WORLD_FORMATS, events, sizeof(events));
	put_perf_pipe_header(&bytes);
	put_perf_pipe_records_with(&bytes, "GenuineIntel,6,143,8", formats,
				   NR_WORLD_FORMATS + NR_EVENTS);
	put_clock(&bytes, PERF_TYPE_SOFTWARE);
	for (const struct vcpu *vcpu = vcpus; vcpu < vcpus + NR_VCPUS; vcpu++) {
		if (vcpu->index == 0) {
			put_perf_comm(&bytes, vcpu->pid, vcpu->pid, vcpu->guest);
			put_map(&bytes, 0, vcpu->pid, PERF_RECORD_MISC_USER, VMM, ELF_FILE_OFFSET,
				argv[2]);
		}
	}
	add_samples();
	write_vmm(argv[2]);
	write_file(argv[1], bytes.data, bytes.len);
	bytes_release(&bytes);
	bytes_release(&event);
	return 0;
}
