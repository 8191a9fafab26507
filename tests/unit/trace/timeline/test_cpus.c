// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_cpus - where the scheduler was recorded, the host's CPUs are drawn: who ran on them, who ran
 * while a vCPU waited, and an arrow from what woke a vCPU to its entry.
 */
#include <unistd.h>

#include "cmd/command.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_world_linux.h"

enum { ID_SWITCH = 200, ID_WAKING, ID_ACCEPT };
enum { RUNS = 0, SLEEPS = 1 };

static const char *const more_formats[] = {
	"name: sched_switch\nID: 200\n" COMMON_FIELDS
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d\", REC->prev_pid\n",
	"name: sched_waking\nID: 201\n" COMMON_FIELDS
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d\", REC->pid\n",
	"name: kvm_apic_accept_irq\nID: 202\n" COMMON_FIELDS
	"\tfield:__u32 apicid;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__u8 vec;\toffset:12;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->apicid\n",
};

#define NR_FORMATS (NR_WORLD_FORMATS + 3)

static char folder[64], dat[96], out[96], picture[16384];
static struct made_ring ring;
static struct bytes event;

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kvmtop-cpus.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(dat, sizeof(dat), "%s/kvm.dat", folder);
	snprintf(out, sizeof(out), "%s/out.json", folder);
	ring_init(&ring, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(dat);
	unlink(out);
	return rmdir(folder);
}

static void put_comm(uint32_t tid)
{
	char comm[17];

	snprintf(comm, sizeof(comm), "comm%-12u", tid);
	*strchr(comm, ' ') = '\0';
	put(&event, comm, 16);
	put_u32(&event, tid);
}

static void add_switch(uint64_t time, uint32_t from, uint64_t state, uint32_t to)
{
	put_common(&event, ID_SWITCH, from);
	put_comm(from);
	put_u32(&event, 0);
	put_u64(&event, state);
	put_comm(to);
	ring_add(&ring, time, &event);
}

/* flags: common_flags. */
static void add_waking(uint64_t time, uint32_t by, uint8_t flags, uint32_t tid)
{
	put_common(&event, ID_WAKING, by);
	event.data[2] = flags;
	put_comm(tid);
	ring_add(&ring, time, &event);
}

static void add_exit(uint64_t time, uint32_t tid, uint32_t vcpu, uint32_t reason)
{
	put_exit(&event, tid, vcpu, 1, reason);
	ring_add(&ring, time, &event);
}

static void add_entry(uint64_t time, uint32_t tid, uint32_t vcpu)
{
	put_entry(&event, tid, vcpu);
	ring_add(&ring, time, &event);
}

/* Makes the recording, and its picture. */
static void draw(void)
{
	char *argv[] = { (char *)(uintptr_t)"kvmtop", (char *)(uintptr_t)"timeline",
			 (char *)(uintptr_t)"-o", out, (char *)(uintptr_t)"-r", dat, NULL };
	const char *formats[NR_FORMATS];
	struct bytes file = { 0 };
	FILE *drawn;

	memcpy(formats, world_formats, sizeof(world_formats));
	memcpy(formats + NR_WORLD_FORMATS, more_formats, sizeof(more_formats));
	put_dat6(&file, &ring, 1, formats, NR_FORMATS, "[local]");
	save(dat, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	assert_int_equal(command_main(6, argv), 0);
	drawn = fopen(out, "r");
	assert_non_null(drawn);
	picture[fread(picture, 1, sizeof(picture) - 1, drawn)] = '\0';
	fclose(drawn);
}

static void is_drawn(const char *text)
{
	if (!strstr(picture, text))
		fail_msg("not drawn: %s\n%s", text, picture);
}

static void is_not_drawn(const char *text)
{
	if (strstr(picture, text))
		fail_msg("drawn: %s\n%s", text, picture);
}

/* ---- cases */

/* Between 5 and 6 there was a switch to 5 from a thread that no event names. */
TEST(what_ran_while_a_vcpu_waited, set_up, tear_down)
{
	add_exit(1000, 77, 0, 30);
	add_switch(2000, 77, RUNS, 78);
	add_switch(5000, 78, RUNS, 5);
	add_switch(9000, 6, RUNS, 77);
	add_entry(10000, 77, 0);
	add_exit(11000, 77, 0, 30);
	add_switch(12000, 77, SLEEPS, 0);
	add_switch(20000, 0, RUNS, 77);
	draw();
	is_drawn("\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"host CPUs\"}");
	is_drawn("\"name\":\"thread_name\",\"pid\":2,\"tid\":0,\"args\":{\"name\":\"CPU 0\"}");
	is_drawn("\"name\":\"waiting for a CPU\",\"cat\":\"waiting\",\"pid\":1,\"tid\":77,"
		 "\"ts\":1.000,\"dur\":7.000,\"args\":{\"cpu\":0,\"ran\":"
		 "\"comm78 (78) 0.003 ms, comm5 (5) ... comm6 (6) 0.004 ms\"}}");
	is_drawn("\"name\":\"comm78 (78)\",\"cat\":\"run\",\"pid\":2,\"tid\":0,\"ts\":1.000,"
		 "\"dur\":3.000}");
	is_drawn("\"name\":\"comm5 (5) ... comm6 (6)\",\"cat\":\"run,cut\",\"pid\":2,\"tid\":0,"
		 "\"ts\":4.000,\"dur\":4.000}");
	is_drawn(" vCPU 0\",\"cat\":\"run\",\"pid\":2,\"tid\":0,\"ts\":8.000,\"dur\":3.000}");
	is_not_drawn("\"ts\":11.000,\"dur\":8.000"); /* idle */
}

/* What the vCPU waits for is another vCPU of the guest. */
TEST(other_vcpus_have_their_names, set_up, tear_down)
{
	add_exit(1000, 77, 0, 30);
	add_switch(2000, 77, RUNS, 78);
	add_entry(2500, 78, 1);
	add_exit(3000, 78, 1, 30);
	add_switch(4000, 78, RUNS, 77);
	add_switch(5000, 77, RUNS, 78);
	add_switch(7000, 78, RUNS, 77);
	draw();
	is_drawn("\"ts\":4.000,\"dur\":2.000,\"args\":{\"cpu\":0,\"ran\":\"web1 vCPU 1 "
		 "0.002 ms\"}}");
}

/* The last sixteen are named. */
TEST(more_runs_than_are_kept, set_up, tear_down)
{
	add_exit(1000, 77, 0, 30);
	add_switch(2000, 77, RUNS, 101);
	for (uint32_t i = 1; i < 20; i++)
		add_switch(2000 + 1000 * i, 100 + i, RUNS, 101 + i);
	add_switch(22000, 120, RUNS, 77);
	draw();
	is_drawn("\"ts\":1.000,\"dur\":20.000,\"args\":{\"cpu\":0,\"ran\":\"..., comm105 (105) "
		 "0.001 ms, comm106 (106) 0.001 ms, ");
	is_drawn(", comm120 (120) 0.001 ms\"}}");
}

TEST(arrows_go_from_waking_to_entry, set_up, tear_down)
{
	add_exit(1000, 77, 0, 12);
	add_switch(2000, 77, SLEEPS, 5);
	add_waking(3000, 5, 0, 77);
	add_waking(3500, 5, 0, 77); /* it is awake */
	add_switch(4000, 5, RUNS, 77);
	add_entry(5000, 77, 0);
	add_exit(6000, 77, 0, 30);
	add_entry(6500, 77, 0); /* of no waking */
	add_exit(7000, 77, 0, 12);
	add_switch(8000, 77, SLEEPS, 0);
	add_waking(9000, 0, 0x08, 77);
	add_switch(9500, 0, RUNS, 77);
	add_entry(10000, 77, 0);
	add_exit(11000, 77, 0, 12);
	add_switch(12000, 77, SLEEPS, 0);
	add_waking(13000, 0, 0x10, 77);
	add_waking(14000, 0, 0, 5); /* no vCPU */
	draw();
	is_drawn("\"ph\":\"i\",\"name\":\"wakes web1 vCPU 0\",\"cat\":\"waking\",\"pid\":2,"
		 "\"tid\":0,\"ts\":2.000,\"s\":\"t\",\"args\":{\"by\":\"comm5 (5)\"}}");
	is_drawn("\"ph\":\"s\",\"name\":\"wakes web1 vCPU 0\",\"cat\":\"waking\",\"pid\":2,"
		 "\"tid\":0,\"ts\":2.000,\"id\":1}");
	is_drawn("\"ph\":\"f\",\"name\":\"guest\",\"cat\":\"guest\",\"pid\":1,\"tid\":77,"
		 "\"ts\":4.000,\"bp\":\"e\",\"id\":1}");
	is_drawn("\"ts\":8.000,\"s\":\"t\",\"args\":{\"by\":\"interrupt\"}");
	is_drawn("\"ph\":\"f\",\"name\":\"guest\",\"cat\":\"guest\",\"pid\":1,\"tid\":77,"
		 "\"ts\":9.000,\"bp\":\"e\",\"id\":2}");
	is_drawn("\"ts\":12.000,\"s\":\"t\",\"args\":{\"by\":\"softirq\"}");
	is_not_drawn("\"id\":3"); /* the last one has no end */
	is_not_drawn("\"ts\":2.500");
	is_not_drawn("\"ph\":\"f\",\"name\":\"guest\",\"cat\":\"guest\",\"pid\":1,\"tid\":77,"
		     "\"ts\":5.500");
}

/* The entry is lost, or the recording ends within the guest: no end, and so no begin. */
TEST(half_an_arrow_is_none, set_up, tear_down)
{
	add_exit(1000, 77, 0, 12);
	add_switch(2000, 77, SLEEPS, 5);
	add_waking(3000, 5, 0, 77);
	ring_lose(&ring, 3);
	add_exit(6000, 77, 0, 12);
	add_switch(7000, 77, SLEEPS, 5);
	add_waking(8000, 5, 0, 77);
	add_switch(9000, 5, RUNS, 77);
	add_entry(10000, 77, 0);
	draw();
	is_drawn("\"ts\":2.000,\"s\":\"t\",\"args\":{\"by\":\"comm5 (5)\"}");
	is_drawn("\"ts\":7.000,\"s\":\"t\",\"args\":{\"by\":\"comm5 (5)\"}");
	is_not_drawn("\"ph\":\"s\"");
	is_not_drawn("\"ph\":\"f\"");
}

static void add_accept(uint64_t time, uint32_t by, uint8_t flags, uint32_t vcpu)
{
	put_common(&event, ID_ACCEPT, by);
	event.data[2] = flags;
	put_u32(&event, vcpu);
	put_u32(&event, 0xec);
	ring_add(&ring, time, &event);
}

/* vCPU 1 interrupts vCPU 0, which runs; then twice more, and this wakes it; then itself. */
TEST(arrows_go_from_interrupt_to_entry, set_up, tear_down)
{
	add_entry(1000, 77, 0);
	add_entry(1500, 78, 1);
	add_exit(2000, 78, 1, 30);
	add_accept(3000, 78, 0, 0);
	add_exit(4000, 77, 0, 30);
	add_entry(5000, 77, 0);
	add_exit(6000, 77, 0, 12);
	add_switch(7000, 77, SLEEPS, 0);
	add_accept(8000, 78, 0, 0);
	add_waking(8100, 78, 0, 77);
	add_accept(8200, 78, 0, 0);
	add_switch(8500, 0, RUNS, 77);
	add_entry(9000, 77, 0);
	add_exit(10000, 77, 0, 30);
	add_accept(10500, 78, 0, 9); /* of no vCPU */
	draw();
	is_drawn("\"ph\":\"s\",\"name\":\"kvm_apic_accept_irq\",\"cat\":\"kvm\",\"pid\":1,"
		 "\"tid\":78,\"ts\":2.000,\"id\":1}");
	is_drawn("\"ph\":\"f\",\"name\":\"guest\",\"cat\":\"guest\",\"pid\":1,\"tid\":77,"
		 "\"ts\":4.000,\"bp\":\"e\",\"id\":1}");
	is_drawn("\"ph\":\"s\",\"name\":\"kvm_apic_accept_irq\",\"cat\":\"kvm\",\"pid\":1,"
		 "\"tid\":78,\"ts\":7.000,\"id\":2}");
	is_drawn("\"ph\":\"f\",\"name\":\"guest\",\"cat\":\"guest\",\"pid\":1,\"tid\":77,"
		 "\"ts\":8.000,\"bp\":\"e\",\"id\":2}");
	is_not_drawn("\"id\":3");
}

/* Two guests have a vCPU 0: in an interrupt of the host it may be either of them. */
TEST(an_interrupt_of_the_host_has_the_only_guest, set_up, tear_down)
{
	add_entry(1000, 77, 0);
	add_accept(2000, 5, 0x08, 0);
	add_exit(3000, 77, 0, 30);
	add_entry(4000, 77, 0);
	add_exit(5000, 77, 0, 30);
	add_entry(6000, 99, 0); /* of another guest */
	add_exit(6500, 99, 0, 30);
	add_accept(7000, 77, 0x10, 0);
	add_accept(7500, 77, 0, 0); /* its own thread: of its own guest */
	add_entry(8000, 77, 0);
	add_exit(9000, 77, 0, 30);
	draw();
	is_drawn("\"ts\":1.000,\"id\":1}");
	is_drawn("\"ts\":3.000,\"bp\":\"e\",\"id\":1}");
	is_drawn("\"ts\":6.500,\"id\":2}");
	is_drawn("\"ts\":7.000,\"bp\":\"e\",\"id\":2}");
	is_not_drawn("\"id\":3");
}

/* A guest's own trace.dat has switches, too: of the guest's CPUs. */
TEST(a_guest_s_switches_are_its_own, set_up, tear_down)
{
	static const uint64_t samples[][3] = { { 0, 0, 1 } };

	world_shift = (struct world_shift){
		.id = WORLD_GUEST_ID,
		.host_id = 1,
		.nr = 1,
		.samples = samples,
	};
	add_switch(1000, 5, RUNS, 6);
	add_switch(2000, 6, RUNS, 5);
	draw();
	world_shift = (struct world_shift){ .nr = 0 };
	is_drawn("\"name\":\"sched_switch\"");
	is_not_drawn("host CPUs");
}

/* Between the vCPU and 6 others may have run, and the CPU may have been idle. */
TEST(losses_end_what_is_known, set_up, tear_down)
{
	add_exit(1000, 77, 0, 30);
	add_switch(2000, 77, RUNS, 0);
	add_switch(3000, 6, RUNS, 77);
	ring_lose(&ring, 3);
	add_switch(5000, 8, RUNS, 9);
	add_switch(6000, 9, RUNS, 10);
	draw();
	is_drawn("\"name\":\"idle ... comm6 (6)\",\"cat\":\"run,cut\"");
	is_drawn("\"name\":\"comm9 (9)\",\"cat\":\"run\"");
	is_not_drawn("comm8 (8)");
}
