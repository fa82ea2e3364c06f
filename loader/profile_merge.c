// SPDX-License-Identifier: MIT
/* Adding one profile to another, or subtracting it. */
#include "profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "table.h"

/* What mappings of two runs have in common if they are the same, and the index of the mapping. */
struct mapping_identity {
	uint64_t size, offset;
	const char *file; /* the build id if there is one */
};

static struct mapping_identity mapping_identity(const struct ap_profile_mapping *mapping)
{
	return (struct mapping_identity){
		.size = mapping->limit - mapping->start,
		.offset = mapping->offset,
		.file = *mapping->build_id ? mapping->build_id : mapping->file,
	};
}

static uint64_t identity_hash(const struct mapping_identity *identity)
{
	uint64_t hash = ap_hash(0, identity->file, strlen(identity->file));

	return ap_hash_u64(ap_hash_u64(hash, identity->size), identity->offset);
}

static bool identity_equal(const void *array, uint32_t index, const void *key)
{
	struct mapping_identity a =
		mapping_identity((const struct ap_profile_mapping *)array + index);
	const struct mapping_identity *b = key;

	return a.size == b->size && a.offset == b->offset && strcmp(a.file, b->file) == 0;
}

/* The index in the profile for each index in the other one. */
struct renaming {
	uint32_t *mapping, *function, *location, *thread;
};

static int merge_mappings(
	struct ap_profile *profile, const struct ap_profile *other, uint32_t *renamed)
{
	struct ap_table known = {0};
	int err = 0;

	for (uint32_t i = 0; i < profile->mapping_count && !err; i++) {
		struct mapping_identity key = mapping_identity(&profile->mappings[i]);
		uint64_t hash = identity_hash(&key);

		if (ap_table_find(&known, hash, identity_equal, profile->mappings, &key) < 0)
			err = ap_table_add(&known, hash, i);
	}
	for (uint32_t i = 0; i < other->mapping_count && !err; i++) {
		const struct ap_profile_mapping *mapping = &other->mappings[i];
		struct mapping_identity key = mapping_identity(mapping);
		int64_t found = ap_table_find(
			&known, identity_hash(&key), identity_equal, profile->mappings, &key);

		if (found < 0)
			found = ap_profile_add_mapping(profile, mapping->start, mapping->limit,
				mapping->offset, mapping->file, mapping->build_id);
		if (found < 0)
			err = (int)found;
		else
			renamed[i] = (uint32_t)found;
	}
	ap_table_clear(&known);
	return err;
}

static int merge_location(struct ap_profile *profile, const struct ap_profile *other,
	const struct ap_location *location, const struct renaming *renamed)
{
	int32_t mapping = location->mapping;
	uint64_t address = location->address;
	struct ap_line *line = reallocarray(NULL, location->lines + 1, sizeof(*line));
	int index;

	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; i < location->lines; i++) {
		line[i] = location->line[i];
		line[i].function = renamed->function[line[i].function];
	}
	if (mapping >= 0) {
		uint32_t now = renamed->mapping[mapping];

		address += profile->mappings[now].start - other->mappings[mapping].start;
		mapping = (int32_t)now;
	}
	index = ap_profile_add_location(profile, mapping, address, line, location->lines);
	free(line);
	return index;
}

static int64_t multiply_saturating(int64_t a, int factor)
{
	int64_t product;

	if (__builtin_mul_overflow(a, factor, &product))
		return (a < 0) == (factor < 0) ? INT64_MAX : INT64_MIN;
	return product;
}

static int merge_sample(struct ap_profile *profile, const struct ap_profile *other,
	const struct ap_sample *sample, int factor, const struct renaming *renamed)
{
	uint32_t *location = reallocarray(NULL, sample->depth + 1, sizeof(*location));
	struct ap_labels labels = sample->labels;
	int64_t value[AP_VALUES];
	int index;

	if (!location)
		return -ENOMEM;
	for (uint32_t i = 0; i < sample->depth; i++)
		location[i] = renamed->location[sample->location[i]];
	if (labels.thread >= 0)
		labels.thread = (int32_t)renamed->thread[labels.thread];
	for (int i = 0; i < AP_VALUES; i++)
		value[i] = multiply_saturating(sample->value[i], factor);
	index = ap_profile_add_labeled(
		profile, location, sample->depth, &labels, value, sample->samples);
	free(location);
	for (int i = 0; i < AP_VALUES && index >= 0; i++) {
		struct ap_estimate estimate = {0};

		ap_estimate_add(&estimate, other, sample, i);
		profile->samples[index].variance[i] += estimate.variance;
	}
	return index;
}

/*
 * Stores the variance of each sample in it: after a merge it can no longer be computed from the
 * number of samples.
 */
static void variances_settle(struct ap_profile *profile)
{
	for (uint32_t i = 0; i < profile->sample_count && !profile->is_merged; i++) {
		for (int v = 0; v < AP_VALUES; v++) {
			struct ap_estimate estimate = {0};

			ap_estimate_add(&estimate, profile, &profile->samples[i], v);
			profile->samples[i].variance[v] = estimate.variance;
		}
	}
	profile->is_merged = true;
}

int ap_profile_difference(struct ap_profile *difference, const struct ap_profile *profile,
	const struct ap_profile *base)
{
	int err = ap_profile_merge(difference, profile, 1);

	/* The samples of both are in the same order, unless stacks have been joined. */
	for (uint32_t i = 0; !err && difference->sample_count == profile->sample_count &&
			     i < profile->sample_count;
		i++) {
		double *variance = difference->samples[i].variance;

		if (!ap_estimate_cancels(profile, &profile->samples[i], base))
			continue;
		variance[AP_INUSE_OBJECTS] = -variance[AP_INUSE_OBJECTS];
		variance[AP_INUSE_SPACE] = -variance[AP_INUSE_SPACE];
	}
	return err ? err : ap_profile_merge(difference, base, -1);
}

int ap_profile_merge(struct ap_profile *profile, const struct ap_profile *other, int factor)
{
	struct renaming renamed = {
		.mapping = calloc(other->mapping_count + 1, sizeof(uint32_t)),
		.function = calloc(other->function_count + 1, sizeof(uint32_t)),
		.location = calloc(other->location_count + 1, sizeof(uint32_t)),
		.thread = calloc(other->thread_count + 1, sizeof(uint32_t)),
	};
	int err = -ENOMEM;

	if (!renamed.mapping || !renamed.function || !renamed.location || !renamed.thread)
		goto out;
	variances_settle(profile);
	err = merge_mappings(profile, other, renamed.mapping);
	for (uint32_t i = 0; i < other->function_count && err >= 0; i++) {
		const struct ap_function *function = &other->functions[i];

		err = ap_profile_add_function(profile, function->name, function->system_name,
			function->file, function->start_line);
		renamed.function[i] = (uint32_t)err;
	}
	for (uint32_t i = 0; i < other->location_count && err >= 0; i++) {
		err = merge_location(profile, other, &other->locations[i], &renamed);
		renamed.location[i] = (uint32_t)err;
	}
	for (uint32_t i = 0; i < other->thread_count && err >= 0; i++) {
		err = ap_profile_add_thread(profile, other->threads[i].name, other->threads[i].tid);
		renamed.thread[i] = (uint32_t)err;
	}
	for (uint32_t i = 0; i < other->sample_count && err >= 0; i++)
		err = merge_sample(profile, other, &other->samples[i], factor, &renamed);
out:
	free(renamed.mapping);
	free(renamed.function);
	free(renamed.location);
	free(renamed.thread);
	return err < 0 ? err : 0;
}

void ap_profile_scale(struct ap_profile *profile, enum ap_value value, double factor)
{
	profile->total[value] = 0;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		struct ap_sample *sample = &profile->samples[i];
		int64_t *scaled = &sample->value[value];
		double product = round((double)*scaled * factor);

		/* 2^63 can be represented as a double, INT64_MAX cannot. */
		if (product >= 0x1p63)
			*scaled = INT64_MAX;
		else
			*scaled = product > -0x1p63 ? (int64_t)product : INT64_MIN;
		sample->variance[value] *= factor * factor;
		profile->total[value] = ap_value_add(profile->total[value], *scaled);
	}
}
