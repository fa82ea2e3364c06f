// SPDX-License-Identifier: MIT
#include "top.h"

#include <stdio.h>

int ap_top_open(struct ap_top *top, pid_t pid)
{
	top->state.pid = pid;
	return ap_top_sites_open(&top->sites, pid);
}

void ap_top_clear(struct ap_top *top)
{
	ap_top_rows_clear(&top->rows);
	ap_top_view_clear(&top->view);
	ap_top_sites_clear(&top->sites);
}

int ap_top_refresh(struct ap_top *top, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t uptime_ns, uint64_t now_ns)
{
	int err = ap_top_sites_update(&top->sites, snapshot, table, now_ns);

	if (err)
		return err;
	top->state.uptime_ns = uptime_ns;
	top->state.samples = snapshot->totals.allocated.samples;
	top->state.frees = snapshot->totals.freed.samples;
	top->state.stacks = snapshot->totals.stacks;
	top->state.whole = snapshot->totals.ends[AP_END_START];
	top->state.lost = 0;
	for (int i = 0; i < AP_LOSSES; i++)
		top->state.lost += snapshot->losses[i].allocated.samples;
	top->warning_count = 0;
	return ap_top_arrange(top);
}

int ap_top_arrange(struct ap_top *top)
{
	return ap_top_rows_build(&top->rows, &top->sites, &top->view);
}

void ap_top_warn(void *context, const char *text)
{
	struct ap_top *top = context;

	if (top->warning_count < AP_TOP_WARNINGS)
		snprintf(top->warnings[top->warning_count++], AP_TOP_TEXT, "%s", text);
}
