// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACRN's vm_exit analysis: its columns, its rows in its order, and the CSV file that it appends to.
 *
 * Source of the layout: acrn-hypervisor misc/debug_tools/acrn_trace/scripts. The numbers differ:
 * the scripts ignore the reason in VM_EXIT, and count an exit without a record of its reason as one
 * more of the exit before. Here each exit has the reason of its VM_EXIT.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "lib/xalloc.h"
#include "lib/array.h"
#include "lib/output.h"
#include "cmd/top.h"

/* The report's rows, each with the VMX exit reason that it counts. */
static const struct acrn_row {
	const char *name;
	uint64_t reason;
} rows[] = {
	{ "VMEXIT_EXCEPTION_OR_NMI", 0 },
	{ "VMEXIT_EXTERNAL_INTERRUPT", 1 },
	{ "VMEXIT_INTERRUPT_WINDOW", 7 },
	{ "VMEXIT_CPUID", 10 },
	{ "VMEXIT_RDTSC", 16 },
	{ "VMEXIT_VMCALL", 18 },
	{ "VMEXIT_CR_ACCESS", 28 },
	{ "VMEXIT_IO_INSTRUCTION", 30 },
	{ "VMEXIT_RDMSR", 31 },
	{ "VMEXIT_WRMSR", 32 },
	{ "VMEXIT_EPT_VIOLATION", 48 },
	{ "VMEXIT_EPT_MISCONFIGURATION", 49 },
	{ "VMEXIT_RDTSCP", 51 },
	{ "VMEXIT_APICV_WRITE", 56 },
	{ "VMEXIT_APICV_ACCESS", 44 },
	{ "VMEXIT_APICV_VIRT_EOI", 45 },
	{ "VMEXIT_UNHANDLED", UINT64_MAX },
};

#define NR_ROWS ARRAY_SIZE(rows)

struct acrn_sums {
	uint64_t count[NR_ROWS + 1], cycles[NR_ROWS + 1]; /* the last is the total */
};

static void add_exit(struct acrn_sums *sums, const struct exit_count *cell)
{
	size_t i = 0;

	while (i < NR_ROWS - 1 && (exit_key_is_others(&cell->key) || rows[i].reason != cell->key.a))
		i++;
	sums->count[i] += cell->begun;
	sums->cycles[i] += cell->took.total_ns;
	sums->count[NR_ROWS] += cell->begun;
	sums->cycles[NR_ROWS] += cell->took.total_ns;
}

/* A row, the total last. */
struct figures {
	const char *name;
	uint64_t count, cycles;
	double per_s, percent;
};

static struct figures figures_of(const struct acrn_sums *sums, size_t i, double cycles,
				 double seconds)
{
	return (struct figures){
		.name = i < NR_ROWS ? rows[i].name : "Total",
		.count = sums->count[i],
		.cycles = sums->cycles[i],
		.per_s = (double)sums->count[i] / seconds,
		.percent = (double)sums->cycles[i] * 100 / cycles,
	};
}

static void write_text(const struct acrn_sums *sums, uint64_t cycles, double seconds,
		       const char *mhz_text, FILE *out)
{
	fprintf(out, "Total run time: %" PRIu64 " cycles\n", cycles);
	fprintf(out, "TSC Freq: %s MHz\n", mhz_text);
	fprintf(out, "Total run time: %.6f sec\n", seconds);
	fprintf(out, "%-28s\t%-12s\t%-12s\t%-24s\t%-16s\n", "Event", "NR_Exit", "NR_Exit/Sec",
		"Time Consumed(cycles)", "Time percentage");
	for (size_t i = 0; i <= NR_ROWS; i++) {
		struct figures row = figures_of(sums, i, (double)cycles, seconds);

		fprintf(out, "%-28s\t%-12" PRIu64 "\t%-12.2f\t%-24" PRIu64 "\t%-16.2f\n", row.name,
			row.count, row.per_s, row.cycles, row.percent);
	}
}

static void write_csv(const struct acrn_sums *sums, uint64_t cycles, double seconds,
		      const char *mhz_text, FILE *out)
{
	fprintf(out, "Run time(cycles),Run time(Sec),Freq(MHz)\r\n");
	fprintf(out, "%" PRIu64 ",%.3f,%s\r\n", cycles, seconds, mhz_text);
	fprintf(out, "Exit_Reason,NR_Exit,NR_Exit/Sec,Time Consumed(cycles),Time Percentage\r\n");
	for (size_t i = 0; i <= NR_ROWS; i++) {
		struct figures row = figures_of(sums, i, (double)cycles, seconds);

		fprintf(out, "%s,%" PRIu64 ",%.2f,%" PRIu64 ",%.2f\r\n", row.name, row.count,
			row.per_s, row.cycles, row.percent);
	}
}

static int append_csv(const struct acrn_sums *sums, uint64_t cycles, double seconds,
		      const char *mhz_text, const char *path, struct error *error)
{
	struct error reason = { "" };
	int fd = output_open(path, O_WRONLY | O_APPEND | O_CREAT, 0666, &reason);
	FILE *file;
	bool is_bad;

	if (fd < 0)
		return error_set(error, fd, "%s: %s", path, reason.text);
	file = fdopen(fd, "a");
	if (!file)
		out_of_memory();
	write_csv(sums, cycles, seconds, mhz_text, file);
	is_bad = ferror(file);
	errno = EIO;
	if (fclose(file) != 0 || is_bad)
		return error_set(error, -EIO, "%s: cannot be written: %s", path, strerror(errno));
	return 0;
}

int report_acrn(const struct recording *recording, double mhz, const char *mhz_text,
		const char *csv, FILE *out, struct error *error)
{
	const struct pairing *pairing = &recording->pairing;
	bool has_time = pairing->has_exits[EXITS_VMEXIT] &&
			pairing->last_entry > pairing->first_exit;
	uint64_t cycles = has_time ? pairing->last_entry - pairing->first_exit : 0;
	struct acrn_sums sums = { { 0 }, { 0 } };
	double seconds = (double)cycles / (mhz * 1e6);
	char number[32];

	if (trace_file(recording->trace, 0)->kind != TRACE_ACRN)
		return error_set(error, -EINVAL, "%s: --acrn is for files of acrntrace",
				 trace_file(recording->trace, 0)->path);
	if (cycles == 0)
		return error_set(error, -ENODATA, "%s: no time passes between its exits",
				 trace_file(recording->trace, 0)->path);
	for (size_t i = 0; i < pairing->table.nr_threads; i++) {
		const struct recorded_thread *thread = pairing->table.threads[i];

		for (size_t j = 0; j < thread->counts.nr; j++) {
			if (thread->counts.list[j]->key.kind == EXITS_VMEXIT)
				add_exit(&sums, thread->counts.list[j]);
		}
	}
	snprintf(number, sizeof(number), "%.12g", mhz);
	mhz_text = mhz_text ? mhz_text : number;
	if (csv && strcmp(csv, "-") == 0) {
		write_csv(&sums, cycles, seconds, mhz_text, out);
		return 0;
	}
	if (csv)
		return append_csv(&sums, cycles, seconds, mhz_text, csv, error);
	write_text(&sums, cycles, seconds, mhz_text, out);
	return 0;
}
