// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that kvmtrace_format prints by name: KVM emulated them on the PowerPC 440.
 *
 * Source: kvmtrace_format of qemu-kvm and kvm-userspace; names and numbers are from the Power ISA.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "trace/rules/rules.h"

#define PPC_INSTR 0x20019

enum {
	OP_TRAP = 3,
	OP_19 = 19, /* OP_19 and OP_31 have a second opcode */
	OP_31 = 31,
	X_RFI = 50,
	X_MFDCR = 323,
	X_MFSPR = 339,
	X_MTDCR = 451,
	X_MTSPR = 467,
	X_TLBWE = 978,
};

struct name {
	uint32_t number;
	const char *name;
};

static const struct name operations[] = {
	{ OP_TRAP, "trap" }, { 32, "lwz" },  { 33, "lwzu" }, { 34, "lbz" },  { 35, "lbzu" },
	{ 36, "stw" },	     { 37, "stwu" }, { 38, "stb" },  { 39, "stbu" }, { 40, "lhz" },
	{ 41, "lhzu" },	     { 44, "sth" },  { 45, "sthu" },
};

static const struct name extended[] = {
	{ 83, "mfmsr" },      { 87, "lbzx" },	  { 131, "wrtee" },   { 146, "mtmsr" },
	{ 163, "wrteei" },    { 215, "stbx" },	  { 247, "stbux" },   { 279, "lhzx" },
	{ 311, "lhzux" },     { X_MFDCR, "mfdcr" }, { X_MFSPR, "mfspr" }, { 407, "sthx" },
	{ 439, "sthux" },     { X_MTDCR, "mtdcr" }, { X_MTSPR, "mtspr" }, { 470, "dcbi" },
	{ 534, "lwbrx" },     { 566, "tlbsync" }, { 662, "stwbrx" },  { 790, "lhbrx" },
	{ 914, "tlbsx" },     { 918, "sthbrx" },  { 966, "iccci" },   { X_TLBWE, "tlbwe" },
};

/* Special-purpose registers. */
static const struct name registers[] = {
	{ 0x016, "DEC" },    { 0x01a, "SRR0" },	  { 0x01b, "SRR1" },   { 0x030, "PID" },
	{ 0x03d, "DEAR" },   { 0x03e, "ESR" },	  { 0x03f, "IVPR" },   { 0x110, "SPRG0" },
	{ 0x111, "SPRG1" },  { 0x112, "SPRG2" },  { 0x113, "SPRG3" },  { 0x114, "SPRG4" },
	{ 0x115, "SPRG5" },  { 0x116, "SPRG6" },  { 0x117, "SPRG7" },  { 0x11c, "TBWL" },
	{ 0x11d, "TBWU" },   { 0x11f, "PVR" },	  { 0x134, "DBCR0" },  { 0x135, "DBCR1" },
	{ 0x150, "TSR" },    { 0x154, "TCR" },	  { 0x190, "IVOR0" },  { 0x191, "IVOR1" },
	{ 0x192, "IVOR2" },  { 0x193, "IVOR3" },  { 0x194, "IVOR4" },  { 0x195, "IVOR5" },
	{ 0x196, "IVOR6" },  { 0x197, "IVOR7" },  { 0x198, "IVOR8" },  { 0x199, "IVOR9" },
	{ 0x19a, "IVOR10" }, { 0x19b, "IVOR11" }, { 0x19c, "IVOR12" }, { 0x19d, "IVOR13" },
	{ 0x19e, "IVOR14" }, { 0x19f, "IVOR15" }, { 0x378, "CCR1" },   { 0x3b2, "MMUCR" },
	{ 0x3b3, "CCR0" },
};

static const struct name tlb_words[] = {
	{ 0, "PAGEID" }, { 1, "XLAT" }, { 2, "ATTRIB" },
};

#define FIND(table, number, none) find(table, ARRAY_SIZE(table), number, none)

static const char *find(const struct name *table, size_t nr, uint32_t number, const char *none)
{
	for (size_t i = 0; i < nr; i++) {
		if (table[i].number == number)
			return table[i].name;
	}
	return none;
}

static uint32_t operation(uint32_t instruction)
{
	return instruction >> 26;
}

static uint32_t second_number(uint32_t instruction)
{
	return instruction >> 1 & 0x3ff;
}

/* The two halves of the register's number are swapped in the instruction. */
static uint32_t register_number(uint32_t instruction)
{
	return (instruction >> 16 & 0x1f) | (instruction >> 6 & 0x3e0);
}

static const char *mnemonic(uint32_t instruction)
{
	static const char unknown[] = "unknown";

	switch (operation(instruction)) {
	case OP_19:
		return second_number(instruction) == X_RFI ? "rfi" : unknown;
	case OP_31:
		return FIND(extended, second_number(instruction), unknown);
	default:
		return FIND(operations, operation(instruction), unknown);
	}
}

/* The table of the instruction's operand; PPC_MNEMONIC: the operand is not printed. */
static enum ppc_table operand_table(uint32_t instruction)
{
	if (operation(instruction) != OP_31)
		return PPC_MNEMONIC;
	switch (second_number(instruction)) {
	case X_MFSPR:
	case X_MTSPR:
		return PPC_SPR;
	case X_MFDCR:
	case X_MTDCR:
		return PPC_DCR;
	case X_TLBWE:
		return PPC_TLB;
	default:
		return PPC_MNEMONIC;
	}
}

static const char *register_name(uint32_t instruction)
{
	return FIND(registers, register_number(instruction), "UNKNOWN");
}

static const char *tlb_word(uint32_t instruction)
{
	return FIND(tlb_words, instruction >> 11 & 0x1f, "UNKNOWN");
}

static void print_operand(uint32_t instruction, FILE *out)
{
	switch (operand_table(instruction)) {
	case PPC_SPR:
		fprintf(out, "- sprn 0x%03" PRIx32 " %8s", register_number(instruction),
			register_name(instruction));
		break;
	case PPC_DCR:
		fprintf(out, "- dcrn 0x%03" PRIx32, register_number(instruction));
		break;
	case PPC_TLB:
		fprintf(out, "- ws -> %8s", tlb_word(instruction));
		break;
	default:
		break;
	}
}

bool ppc_is_instruction(const struct rules_values *values)
{
	return values->record->kind == TRACE_KVMTRACE && values->record->event == PPC_INSTR;
}

void ppc_print(const struct rules_values *values, FILE *out)
{
	const struct rules_record *record = values->record;
	uint32_t instruction = (uint32_t)record->words[0];
	uint64_t reltsc = values->reltsc_is_negative ? -values->reltsc : values->reltsc;
	uint64_t tsc = record->tsc;

	if (values->mhz)
		tsc = (uint64_t)((double)tsc / ((double)values->mhz * 1000000.0));
	fprintf(out, "%" PRIu64 " (+%12" PRId64 ")  PPC_INSTR vcpu = 0x%08" PRIx32
		"  pid = 0x%08" PRIx32 " [ instr = 0x%08" PRIx32 ", pc = 0x%08" PRIx32
		", emul = %" PRIu32 ", mnemonic = %8s ", tsc,
		(int64_t)reltsc, record->vcpu, record->pid,
		instruction, (uint32_t)record->words[1], (uint32_t)record->words[2],
		mnemonic(instruction));
	print_operand(instruction, out);
	putc('\n', out);
}

/* ---- statistics */

#define NAME_SIZE 24

struct ppc_count {
	char name[NAME_SIZE];
	uint64_t nr;
	UT_hash_handle hh;
};

static void count(struct ppc_count **table, const char *name)
{
	struct ppc_count *found;

	HASH_FIND_STR(*table, name, found);
	if (found) {
		found->nr++;
		return;
	}
	found = xcalloc(1, sizeof(*found));
	snprintf(found->name, sizeof(found->name), "%s", name);
	found->nr = 1;
	HASH_ADD_STR(*table, name, found);
}

void ppc_counts_add(struct ppc_counts *counts, const struct rules_values *values)
{
	uint32_t instruction = (uint32_t)values->record->words[0];
	enum ppc_table table = operand_table(instruction);
	const char *name = mnemonic(instruction);
	char with_operand[NAME_SIZE];

	count(&counts->tables[PPC_MNEMONIC], name);
	if (table == PPC_MNEMONIC)
		return;
	if (table == PPC_DCR)
		snprintf(with_operand, sizeof(with_operand), "%s-%04" PRIX32, name,
			 register_number(instruction));
	else
		snprintf(with_operand, sizeof(with_operand), "%s-%s", name,
			 table == PPC_SPR ? register_name(instruction) : tlb_word(instruction));
	count(&counts->tables[table], with_operand);
}

static int compare_counts(const struct ppc_count *a, const struct ppc_count *b)
{
	if (a->nr != b->nr)
		return a->nr < b->nr ? 1 : -1;
	return strcmp(a->name, b->name);
}

void ppc_counts_print(struct ppc_counts *counts, FILE *out)
{
	static const char *const titles[] = {
		[PPC_MNEMONIC] = "mnemonic",
		[PPC_SPR] = "mnemonic-spr",
		[PPC_DCR] = "mnemonic-dcr",
		[PPC_TLB] = "mnemonic-tlb",
	};

	for (size_t i = 0; i < NR_PPC_TABLES; i++) {
		uint64_t sum = 0;

		if (!counts->tables[i])
			continue;
		HASH_SORT(counts->tables[i], compare_counts);
		fprintf(out, "\n\n%14s + %10s\n---------------+-----------\n", titles[i],
			"count");
		for (const struct ppc_count *at = counts->tables[i]; at; at = at->hh.next) {
			fprintf(out, "%14s | %10" PRIu64 "\n", at->name, at->nr);
			sum += at->nr;
		}
		fprintf(out, "%14s = %10" PRIu64 "\n", "sum", sum);
	}
}

void ppc_counts_release(struct ppc_counts *counts)
{
	for (size_t i = 0; i < NR_PPC_TABLES; i++)
		hash_free(counts->tables[i], free);
}
