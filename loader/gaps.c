// SPDX-License-Identifier: MIT
#include "gaps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "record.h"

/* A sum, and its parts by mapping. */
struct sum {
	double all, lacking;
	double *by_mapping;
};

static void sum_lack(struct sum *sum, int32_t mapping, double weight)
{
	sum->lacking += weight;
	if (mapping >= 0)
		sum->by_mapping[mapping] += weight;
}

static const struct ap_function *function_of(
	const struct ap_profile *profile, const struct ap_location *location)
{
	return location->lines ? &profile->functions[location->line[location->lines - 1].function]
			       : NULL;
}

/* Locations without an address, such as the frame of a process, always have a name. */
static bool is_unnamed(const struct ap_profile *profile, const struct ap_location *location)
{
	const struct ap_function *function = function_of(profile, location);

	return location->mapping >= 0 && (!function || !*function->system_name);
}

/* Not for stacks cut because the code was not known yet: where those end tells nothing. */
static bool is_cut(const struct ap_profile *profile, const struct ap_location *location)
{
	const struct ap_function *function = function_of(profile, location);
	const char *unknown = ap_end_name(AP_END_CODE);
	const size_t length = strlen(AP_TRUNCATED);

	return location->mapping < 0 && function &&
	       !strncmp(function->name, AP_TRUNCATED, length) &&
	       strncmp(function->name + length, unknown, strlen(unknown)) != 0;
}

static void sample_add(const struct ap_profile *profile, const struct ap_sample *sample,
	struct sum *names, struct sum *stacks)
{
	double weight = (double)sample->value[AP_ALLOC_SPACE];
	int32_t mapping = -1;

	stacks->all += weight;
	for (uint32_t i = 0; i < sample->depth; i++) {
		const struct ap_location *location = &profile->locations[sample->location[i]];

		if (location->mapping >= 0)
			names->all += weight;
		if (is_unnamed(profile, location))
			sum_lack(names, location->mapping, weight);
		if (is_cut(profile, location))
			sum_lack(stacks, mapping, weight);
		mapping = location->mapping;
	}
}

static struct ap_gap gap_of(const struct sum *sum, const struct ap_profile *profile)
{
	struct ap_gap gap = {.share = sum->all > 0 ? sum->lacking / sum->all : 0};
	double most = 0;

	for (uint32_t i = 0; i < profile->mapping_count; i++) {
		if (sum->by_mapping[i] <= most)
			continue;
		most = sum->by_mapping[i];
		gap.file = profile->mappings[i].file;
	}
	return gap;
}

int ap_gaps_find(struct ap_gaps *gaps, const struct ap_profile *profile)
{
	struct sum names = {.by_mapping = calloc(profile->mapping_count + 1, sizeof(double))};
	struct sum stacks = {.by_mapping = calloc(profile->mapping_count + 1, sizeof(double))};
	int err = names.by_mapping && stacks.by_mapping ? 0 : -ENOMEM;

	if (!err) {
		for (uint32_t i = 0; i < profile->sample_count; i++)
			sample_add(profile, &profile->samples[i], &names, &stacks);
		gaps->names = gap_of(&names, profile);
		gaps->stacks = gap_of(&stacks, profile);
	}
	free(names.by_mapping);
	free(stacks.by_mapping);
	return err;
}
