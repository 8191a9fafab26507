// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the kernel's own word for the VMs and vCPUs of processes, from a provider that has it
 * (providers/account), in place of what /proc, debugfs and the names of threads tell.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "core/guests/guests.h"
#include "core/guests/list.h"

static int compare_parts(const void *a, const void *b)
{
	const struct vm_part *x = a, *y = b;

	return compared(x->pid, y->pid) ?: compared(x->vcpu, y->vcpu) ?: compared(x->vm, y->vm);
}

static unsigned int count_vms(const struct vm_part *parts, size_t nr)
{
	unsigned int nr_vms = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < i && parts[k].vm != parts[i].vm)
			k++;
		nr_vms += k == i;
	}
	return nr_vms;
}

/* A vCPU may have two descriptors. */
static void list_vcpus(const struct vm_part *parts, size_t nr, struct vcpu_list *vcpus)
{
	for (size_t i = 0; i < nr; i++) {
		if (parts[i].vcpu >= 0 && (!i || compare_parts(&parts[i - 1], &parts[i]) != 0))
			vcpu_list_add(vcpus, parts[i].vcpu, parts[i].tid);
	}
	vcpu_list_sort(vcpus);
}

/* The parts of one process. */
static void report_process(struct guests *guests, const struct vm_part *parts, size_t nr)
{
	struct guest_entry *entry = guest_list_by_pid(guests, parts->pid);
	unsigned int nr_vms = count_vms(parts, nr);
	struct vcpu_list vcpus = { 0 };

	if (!entry && guest_add(guests, parts->pid) == 0)
		entry = guest_list_by_pid(guests, parts->pid);
	if (!entry) /* it has ended, or cannot be read now */
		return;
	entry->report = guests->report;
	list_vcpus(parts, nr, &vcpus);
	if (entry->is_reported && nr_vms == entry->reported_vms &&
	    vcpu_list_is_same(&vcpus, &entry->reported)) {
		vcpu_list_release(&vcpus);
		return;
	}
	vcpu_list_release(&entry->reported);
	entry->reported = vcpus;
	entry->reported_vms = nr_vms;
	entry->is_reported = true;
	guest_examine(guests, entry);
}

static void end_unreported(const struct guests *guests, struct guest_entry *entry)
{
	entry->is_gone |= !entry->is_given && entry->report != guests->report;
}

void guests_report(struct guests *guests, pid_t pid, struct vm_part *parts, size_t nr)
{
	struct guest_entry *entry;
	size_t end;

	guests->report++;
	if (nr)
		qsort(parts, nr, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && parts[end].pid == parts[i].pid;)
			end++;
		report_process(guests, &parts[i], end - i);
	}
	entry = pid ? guest_list_by_pid(guests, pid) : NULL;
	if (entry)
		end_unreported(guests, entry);
	for (size_t i = 0; !pid && i < guests->nr; i++)
		end_unreported(guests, guests->entries[i]);
	if (!entry || entry->is_gone)
		guest_list_sweep(guests);
	guests->has_reports |= !pid;
}

void guests_end_reports(struct guests *guests)
{
	guests->has_reports = false;
	for (size_t i = 0; i < guests->nr; i++) {
		guests->entries[i]->is_reported = false;
		guests->entries[i]->wants_look = guests->entries[i]->wants_fds = true;
	}
}
