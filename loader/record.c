// SPDX-License-Identifier: MIT
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <allocprof/unwind.h>

#include "symbolize.h"

struct recording {
	struct ap_profile *profile;
	struct ap_symbolizer *symbolizer;
	const struct ap_snapshot *snapshot;
	const struct ap_mapping_table *table;
	uint32_t process;
	struct ap_record_faults *faults;
};

static int64_t objects_round(uint64_t fixed)
{
	return (fixed >> AP_OBJECT_SHIFT) + (fixed >> (AP_OBJECT_SHIFT - 1) & 1);
}

/* Counters are unsigned and add up modulo 2^64; a hostile target can make more freed than
 * allocated, by a pointer allocated twice. */
static void site_values(
	struct recording *recording, const struct ap_site *site, int64_t value[AP_VALUES])
{
	int64_t live_objects =
		objects_round(site->allocated.objects) - objects_round(site->freed.objects);
	int64_t live_bytes = site->allocated.weight - site->freed.weight;

	if (live_bytes < 0 || live_objects < 0) {
		recording->faults->negative++;
		live_bytes = live_objects = 0;
	}
	value[AP_ALLOC_OBJECTS] = objects_round(site->allocated.objects);
	value[AP_ALLOC_SPACE] = site->allocated.weight;
	value[AP_INUSE_OBJECTS] = live_objects;
	value[AP_INUSE_SPACE] = live_bytes;
}

static int sample_add(struct recording *recording, const uint32_t *location, uint32_t depth,
	const int64_t value[AP_VALUES])
{
	int index = ap_profile_add_sample(recording->profile, location, depth, value);

	return index < 0 ? index : 0;
}

/* Under one name in brackets instead of a stack. */
static int named_add(struct recording *recording, const char *name, const int64_t value[AP_VALUES])
{
	uint32_t location;
	char bracketed[64];
	int index;

	snprintf(bracketed, sizeof(bracketed), "[%s]", name);
	index = ap_profile_reserved(recording->profile, bracketed);
	if (index < 0)
		return index;
	location = index;
	return sample_add(recording, &location, 1, value);
}

static int reserved_add(struct recording *recording, const char *name, const struct ap_site *site)
{
	int64_t value[AP_VALUES];

	if (!site->allocated.samples)
		return 0;
	site_values(recording, site, value);
	return named_add(recording, name, value);
}

/* The mapping of an address that was in none when it was seen; NULL when two files have been there.
 */
static const struct ap_mapping *mapping_later(
	const struct ap_mapping_table *table, uint64_t address)
{
	const struct ap_mapping *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct ap_mapping *mapping = table->mappings[i];

		if (address < mapping->start || address >= mapping->end)
			continue;
		if (found && found->object != mapping->object)
			return NULL;
		found = mapping;
	}
	return found;
}

/* Frames are addresses inside the call, or of the instruction itself: none is to be moved. */
static int frame_location(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, uint64_t frame)
{
	const struct ap_mapping *mapping;
	uint64_t address = frame;

	if (!(frame & AP_FRAME_KNOWN)) {
		mapping = mapping_later(table, address);
	} else if (AP_FRAME_ID(frame) < table->count) {
		mapping = table->mappings[AP_FRAME_ID(frame)];
		address = mapping->start + AP_FRAME_OFFSET(frame);
	} else {
		mapping = NULL;
		address = AP_FRAME_OFFSET(frame);
	}
	return ap_symbolize_location(symbolizer, profile, mapping, address, false);
}

int ap_record_stack(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, const struct ap_stack *stack,
	uint32_t location[AP_FRAMES + 1])
{
	uint32_t depth = 0;
	char name[64];
	int index;

	if (stack->depth > AP_FRAMES)
		return -EINVAL;
	for (; depth < stack->depth; depth++) {
		index = frame_location(profile, symbolizer, table, stack->frame[depth]);
		if (index < 0)
			return index;
		location[depth] = index;
	}
	if (stack->end != AP_END_START) {
		snprintf(name, sizeof(name), "[truncated: %s]", ap_end_name(stack->end));
		index = ap_profile_reserved(profile, name);
		if (index < 0)
			return index;
		location[depth++] = index;
	}
	return (int)depth;
}

static int site_add(
	struct recording *recording, const struct ap_site_key *key, const struct ap_site *site)
{
	const struct ap_stack *stack = ap_snapshot_stack(recording->snapshot, key->stack);
	uint32_t locations[AP_FRAMES + 1];
	int64_t value[AP_VALUES];
	int depth = -EINVAL;

	if (stack && !key->zero && key->process == recording->process)
		depth = ap_record_stack(recording->profile, recording->symbolizer, recording->table,
			stack, locations);
	if (depth == -EINVAL) {
		recording->faults->sites++;
		return reserved_add(recording, "damaged key", site);
	}
	if (depth < 0)
		return depth;
	site_values(recording, site, value);
	return sample_add(recording, locations, (uint32_t)depth, value);
}

static int losses_add(struct recording *recording)
{
	int err = 0;

	for (int i = 0; i < AP_LOSSES && !err; i++) {
		struct ap_site loss = recording->snapshot->losses[i];

		/* Allocated under its own stack already; only what is live stands here. */
		if (i != AP_LOSS_LIVE_FULL) {
			err = reserved_add(recording, ap_loss_name(i), &loss);
		} else if (loss.allocated.samples) {
			int64_t value[AP_VALUES] = {
				[AP_INUSE_OBJECTS] = objects_round(loss.allocated.objects),
				[AP_INUSE_SPACE] = loss.allocated.weight,
			};

			err = named_add(recording, ap_loss_name(i), value);
		}
	}
	return err;
}

static void counters_sum(struct ap_counters *sum, const struct ap_counters *more)
{
	sum->samples += more->samples;
	sum->objects += more->objects;
	sum->bytes += more->bytes;
	sum->weight += more->weight;
}

/* The equations of abi.h. */
static bool sums_differ(const struct ap_snapshot *snapshot)
{
	struct ap_counters allocated = {0}, freed = {0};
	struct ap_counters freed_total = snapshot->totals.freed;

	for (size_t i = 0; i < snapshot->site_count; i++) {
		counters_sum(&allocated, &snapshot->sites[i].allocated);
		counters_sum(&freed, &snapshot->sites[i].freed);
	}
	for (int i = 0; i < AP_LOSSES; i++) {
		if (i != AP_LOSS_LIVE_FULL)
			counters_sum(&allocated, &snapshot->losses[i].allocated);
		counters_sum(&freed, &snapshot->losses[i].freed);
	}
	counters_sum(&freed_total, &snapshot->losses[AP_LOSS_LIVE_FULL].allocated);
	return memcmp(&allocated, &snapshot->totals.allocated, sizeof(allocated)) ||
	       memcmp(&freed, &freed_total, sizeof(freed));
}

static uint64_t stacks_lost(const struct ap_snapshot *snapshot)
{
	uint64_t lost = 0;

	for (int i = 0; i < AP_LOSSES; i++)
		if (i != AP_LOSS_LIVE_FULL)
			lost += snapshot->losses[i].allocated.samples;
	return lost;
}

int ap_record(struct ap_profile *profile, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, const struct ap_jit *jit, pid_t pid,
	struct ap_record_faults *faults)
{
	struct recording recording = {
		.profile = profile,
		.symbolizer = ap_symbolizer_new(),
		.snapshot = snapshot,
		.table = table,
		.process = pid,
		.faults = faults,
	};
	int err = recording.symbolizer ? 0 : -ENOMEM;

	if (!err)
		ap_symbolizer_set_jit(recording.symbolizer, jit);
	if (!err && table->program) {
		err = ap_symbolize_mapping(profile, table->program);
		if (err >= 0) {
			profile->main_mapping = err;
			err = 0;
		}
	}
	memset(faults, 0, sizeof(*faults));
	faults->sums_differ = sums_differ(snapshot);
	for (size_t i = 0; i < snapshot->site_count && !err; i++)
		err = site_add(&recording, &snapshot->site_keys[i], &snapshot->sites[i]);
	if (!err)
		err = losses_add(&recording);
	ap_symbolizer_free(recording.symbolizer);
	profile->info.samples = snapshot->totals.allocated.samples;
	profile->info.frees = snapshot->totals.freed.samples;
	profile->info.lost = stacks_lost(snapshot);
	profile->info.whole_stacks = snapshot->totals.ends[AP_END_START];
	return err;
}
