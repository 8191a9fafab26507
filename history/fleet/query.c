// SPDX-License-Identifier: GPL-2.0-or-later
/* The server adds up, by as few labels as the views need. */
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "history/fleet/query.h"
#include "core/metrics.h"

#define RATE_WINDOW "5m" /* as in packaging/contrib/prometheus/kvmtop.rules.yml */

char *query_quote(const char *text)
{
	char *quoted = xmalloc(2 * strlen(text) + 1), *at = quoted;

	for (; *text; text++) {
		if (strchr("\"\\\n", *text))
			*at++ = '\\';
		*at++ = *text == '\n' ? 'n' : *text;
	}
	*at = '\0';
	return quoted;
}

static const char *name_of(enum metric_id id)
{
	return metric_at(id)->name;
}

static char *query_of_host(enum question question, const char *host)
{
	static const struct {
		enum metric_id metric;
		const char *sum, *suffix;
	} all[] = {
		[ASK_EXITS] = { METRIC_EXITS, "sum by (guest, reason)", "" },
		[ASK_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "sum by (guest, reason)", "" },
		[ASK_SECONDS] = { METRIC_VCPU_SECONDS, "sum by (guest, vcpu, mode)", "" },
		[ASK_MEMBERS] = { METRIC_GUEST_INFO, "max by (guest, uuid, id, pid, vmm)", "" },
		[ASK_FINDINGS] = { METRIC_FINDING, "max by (guest, rule)", "" },
		[ASK_DURATIONS] = { METRIC_EXIT_DURATION, "sum by (guest, le)", "_bucket" },
	};

	return xasprintf("%s (%s%s{instance=\"%s\"})", all[question].sum,
			 name_of(all[question].metric), all[question].suffix, host);
}

static char *query_of_all(enum question question, bool has_sums)
{
	static const struct {
		enum metric_id metric;
		const char *labels, *rule;
	} rates[] = {
		[ASK_EXITS] = { METRIC_EXITS, "reason", "instance_reason:kvmtop_exits" },
		[ASK_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "reason",
				       "instance_reason:kvmtop_exit_seconds" },
		[ASK_SECONDS] = { METRIC_VCPU_SECONDS, "mode",
				  "instance_mode:kvmtop_vcpu_seconds" },
	};

	if (question == ASK_MEMBERS)
		return has_sums ? xstrdup(QUERY_HOSTS) :
				  xasprintf("count by (instance) (%s)",
					    name_of(METRIC_GUEST_INFO));
	if (question == ASK_FINDINGS)
		return xasprintf("max by (instance, rule) (%s)", name_of(METRIC_FINDING));
	if (has_sums)
		return xasprintf("%s:rate" RATE_WINDOW, rates[question].rule);
	return xasprintf("sum by (instance, %s) (rate(%s[" RATE_WINDOW "]))",
			 rates[question].labels, name_of(rates[question].metric));
}

char *query_make(enum question question, const char *host, bool has_sums)
{
	return host ? query_of_host(question, host) : query_of_all(question, has_sums);
}
