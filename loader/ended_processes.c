// SPDX-License-Identifier: MIT
#include "ended_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether both tables have the same mappings under the ids that both have. */
static bool tables_agree(const struct ap_mapping_table *a, const struct ap_mapping_table *b)
{
	size_t count = a->count < b->count ? a->count : b->count;

	return count && !memcmp(a->mappings, b->mappings, count * sizeof(*a->mappings));
}

static int table_take(struct ap_mapping_table *table, const struct ap_mapping_table *longer)
{
	ap_mapping_table_clear(table);
	return ap_mapping_table_fork(table, longer);
}

uint32_t ap_ended_of(struct ap_ended *ended, const struct ap_target *target)
{
	struct ap_ended_group *group;

	for (uint32_t i = 0; i < ended->count; i++) {
		group = &ended->groups[i];
		if (i == AP_ENDED_MAX)
			return AP_ENDED_KEY(i);
		if (strcmp(group->comm, target->comm) ||
			!tables_agree(&group->table, &target->table))
			continue;
		if (target->table.count > group->table.count &&
			table_take(&group->table, &target->table))
			return 0;
		return AP_ENDED_KEY(i);
	}
	if (ap_array_grow((void **)&ended->groups, ended->count, &ended->room, sizeof(*group)))
		return 0;
	group = &ended->groups[ended->count];
	*group = (struct ap_ended_group){.table.shared = ended->files};
	if (ended->count < AP_ENDED_MAX) {
		snprintf(group->comm, sizeof(group->comm), "%s", target->comm);
		snprintf(group->name, sizeof(group->name), "%s (ended)", target->comm);
		if (ap_mapping_table_fork(&group->table, &target->table)) {
			ap_mapping_table_clear(&group->table);
			return 0;
		}
	} else {
		snprintf(group->name, sizeof(group->name), "others that have ended");
	}
	return AP_ENDED_KEY(ended->count++);
}

void ap_ended_clear(struct ap_ended *ended)
{
	for (uint32_t i = 0; i < ended->count; i++)
		ap_mapping_table_clear(&ended->groups[i].table);
	free(ended->groups);
	ap_site_pool_clear(&ended->pool);
	*ended = (struct ap_ended){.files = ended->files};
}
