// SPDX-License-Identifier: MIT
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocprof/process.h>
#include <allocprof/unwind.h>

#include "estimate.h"
#include "site_split.h"
#include "symbolize.h"
#include "table.h"
#include "work.h"

/* The locations of the frames of a process so far: most stacks share most of their frames. */
struct frames {
	struct filed {
		uint64_t frame;
		uint32_t location;
	} * filed;
	uint32_t count, room;
	struct ap_table by_frame;
};

struct recorder {
	struct ap_profile *profile;
	struct ap_symbolizer *symbolizer;
	const struct ap_snapshot *snapshot;
	const struct ap_record_process *process; /* whose sites are being added */
	int root;				 /* the location above all its stacks; -1: none */
	struct frames frames;			 /* the frames of that process */
	struct ap_site_ages *ages;
	struct ap_record_faults *faults;
};

/* The index of a site's thread in the profile, or -1. */
static int thread_add(struct recorder *recorder, uint32_t thread)
{
	const struct ap_snapshot *snapshot = recorder->snapshot;
	char name[sizeof(struct ap_thread) + 1] = "";

	if (!thread)
		return -1;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->thread_ids[i] == thread)
			memcpy(name, snapshot->threads[i].comm, sizeof(struct ap_thread));
	return ap_profile_add_thread(recorder->profile, name, thread);
}

/* A sample for each part of the site at this index, under its labels of size and thread. */
static int parts_add(struct recorder *recorder, const uint32_t *location, uint32_t depth,
	struct ap_labels labels, const struct ap_site *site, size_t index)
{
	struct ap_site_part part[AP_SITE_PARTS];
	bool is_negative;
	unsigned int count = ap_site_split(site, &recorder->ages[index], part, &is_negative);

	recorder->faults->negative += is_negative;
	for (unsigned int i = 0; i < count; i++) {
		int added;

		labels.lifetime = (int8_t)part[i].lifetime;
		labels.age = (int8_t)part[i].age;
		added = ap_profile_add_labeled(recorder->profile, location, depth, &labels,
			part[i].value, part[i].samples);
		if (added < 0)
			return added;
		ap_estimate_know(
			&recorder->profile->samples[added], part[i].value, part[i].variance);
	}
	return 0;
}

/* The location that stands for a stack by a name in brackets. */
static int named_location(struct recorder *recorder, const char *name)
{
	char bracketed[72];

	snprintf(bracketed, sizeof(bracketed), "[%s]", name);
	return ap_profile_reserved(recorder->profile, bracketed);
}

static int reserved_add(
	struct recorder *recorder, const char *name, const struct ap_site *site, size_t index)
{
	uint32_t location;
	int named;

	if (!site->allocated.samples)
		return 0;
	named = named_location(recorder, name);
	if (named < 0)
		return named;
	location = (uint32_t)named;
	return parts_add(recorder, &location, 1, AP_LABELS_NONE, site, index);
}

/*
 * The mapping of an address that was in no known mapping when the sample was taken; NULL when
 * different files have been mapped there.
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

/* Frames are addresses inside the call, or of the instruction itself, so is_return is false. */
static int frame_file(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
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

static bool frame_equal(const void *array, uint32_t index, const void *key)
{
	return ((const struct filed *)array)[index].frame == *(const uint64_t *)key;
}

static int frame_location(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, uint64_t frame, struct frames *frames)
{
	uint64_t hash = ap_hash_u64(0, frame);
	int64_t index = ap_table_find(&frames->by_frame, hash, frame_equal, frames->filed, &frame);
	struct filed filed;
	int location;

	if (index >= 0)
		return (int)frames->filed[index].location;
	location = frame_file(profile, symbolizer, table, frame);
	if (location < 0)
		return location;
	filed = (struct filed){frame, (uint32_t)location};
	index = ap_table_append(&frames->by_frame, hash, (void **)&frames->filed, &frames->count,
		&frames->room, &filed, sizeof(filed));
	return index < 0 ? (int)index : location;
}

static void frames_clear(struct frames *frames)
{
	free(frames->filed);
	ap_table_clear(&frames->by_frame);
	*frames = (struct frames){0};
}

static int stack_locations(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, const struct ap_stack *stack, struct frames *frames,
	uint32_t location[AP_FRAMES + 1])
{
	uint32_t depth = 0;
	char name[64];
	int index;

	if (stack->depth > AP_FRAMES)
		return -EINVAL;
	for (; depth < stack->depth; depth++) {
		index = frame_location(profile, symbolizer, table, stack->frame[depth], frames);
		if (index < 0)
			return index;
		location[depth] = index;
	}
	if (stack->end != AP_END_START) {
		snprintf(name, sizeof(name), AP_TRUNCATED "%s]", ap_end_name(stack->end));
		index = ap_profile_reserved(profile, name);
		if (index < 0)
			return index;
		location[depth++] = index;
	}
	return (int)depth;
}

int ap_record_stack(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, const struct ap_stack *stack,
	uint32_t location[AP_FRAMES + 1])
{
	struct frames frames = {0};
	int depth = stack_locations(profile, symbolizer, table, stack, &frames, location);

	frames_clear(&frames);
	return depth;
}

static int site_add(struct recorder *recorder, size_t site)
{
	const struct ap_site_key *key = &recorder->snapshot->site_keys[site];
	const struct ap_site *counters = &recorder->snapshot->sites[site];
	const struct ap_stack *stack = ap_snapshot_stack(recorder->snapshot, key->stack);
	struct ap_labels labels = AP_LABELS_NONE;
	uint32_t locations[AP_FRAMES + 2];
	int depth = -EINVAL;

	if (stack && !key->zero && recorder->process && key->size_class < AP_SIZE_CLASSES)
		depth = stack_locations(recorder->profile, recorder->symbolizer,
			recorder->process->table, stack, &recorder->frames, locations);
	if (depth == -EINVAL) {
		recorder->faults->sites++;
		return reserved_add(recorder, "damaged key", counters, site);
	}
	if (depth < 0)
		return depth;
	labels.size = (int8_t)key->size_class;
	if (recorder->root >= 0)
		locations[depth++] = (uint32_t)recorder->root;
	labels.thread = thread_add(recorder, key->thread);
	if (labels.thread < -1)
		return labels.thread;
	return parts_add(recorder, locations, (uint32_t)depth, labels, counters, site);
}

/* Only the live part: the allocated part is counted under the own stacks. */
static int live_full_add(struct recorder *recorder, const struct ap_counters *unfollowed)
{
	int named = named_location(recorder, ap_loss_name(AP_LOSS_LIVE_FULL));
	struct ap_site_part part[AP_SITE_PARTS];
	struct ap_site site = {.allocated = *unfollowed};
	uint32_t location = (uint32_t)named;
	bool is_negative;

	if (named < 0)
		return named;
	ap_site_split(&site, NULL, part, &is_negative);
	part->value[AP_ALLOC_OBJECTS] = part->value[AP_ALLOC_SPACE] = 0;
	named = ap_profile_add_labeled(
		recorder->profile, &location, 1, &AP_LABELS_NONE, part->value, part->samples);
	if (named < 0)
		return named;
	ap_estimate_know(&recorder->profile->samples[named], part->value, part->variance);
	return 0;
}

static int losses_add(struct recorder *recorder)
{
	const struct ap_site *loss = recorder->snapshot->losses;
	int err = 0;

	for (size_t i = 0; i < AP_LOSSES && !err; i++) {
		if (i != AP_LOSS_LIVE_FULL)
			err = reserved_add(recorder, ap_loss_name(i), &loss[i],
				recorder->snapshot->site_count + i);
		else if (loss[i].allocated.samples)
			err = live_full_add(recorder, &loss[i].allocated);
	}
	return err;
}

static void lifetimes_sum(struct ap_lifetime *sum, const struct ap_site *site)
{
	for (int i = 0; i < AP_SITE_LIFETIMES; i++)
		ap_lifetime_add(sum, &site->lifetime[i]);
}

/* Checks the equations of abi.h. */
static bool sums_differ(const struct ap_snapshot *snapshot)
{
	struct ap_counters allocated = {0}, freed = {0};
	struct ap_counters freed_total = snapshot->totals.freed;
	struct ap_lifetime lifetimes = {0};

	for (size_t i = 0; i < snapshot->site_count; i++) {
		ap_counters_add(&allocated, &snapshot->sites[i].allocated);
		ap_counters_add(&freed, &snapshot->sites[i].freed);
		lifetimes_sum(&lifetimes, &snapshot->sites[i]);
	}
	for (int i = 0; i < AP_LOSSES; i++) {
		if (i != AP_LOSS_LIVE_FULL)
			ap_counters_add(&allocated, &snapshot->losses[i].allocated);
		ap_counters_add(&freed, &snapshot->losses[i].freed);
		lifetimes_sum(&lifetimes, &snapshot->losses[i]);
	}
	ap_counters_add(&freed_total, &snapshot->losses[AP_LOSS_LIVE_FULL].allocated);
	return lifetimes.samples != snapshot->totals.freed.samples ||
	       lifetimes.weight != snapshot->totals.freed.weight ||
	       lifetimes.objects != snapshot->totals.freed.objects ||
	       lifetimes.squares != snapshot->totals.freed.squares ||
	       memcmp(&allocated, &snapshot->totals.allocated, sizeof(allocated)) ||
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

void ap_record_processes_free(struct ap_record_process *processes, size_t count)
{
	for (size_t i = 0; processes && i < count; i++)
		free((char *)processes[i].name);
	free(processes);
}

/* Begins the sites of a process. NULL: sites with a key of no process. */
static int process_enter(struct recorder *recorder, const struct ap_record_process *process)
{
	struct ap_line line = {0};
	int index;

	recorder->process = process;
	recorder->root = -1;
	frames_clear(&recorder->frames);
	if (!process || !process->name)
		return 0;
	ap_symbolizer_set_jit(recorder->symbolizer, process->jit);
	if (process->table->files.opened)
		ap_symbolizer_set_root(recorder->symbolizer, process->table->files.root);
	index = ap_profile_add_function(recorder->profile, process->name, NULL, NULL, 0);
	if (index < 0)
		return index;
	line.function = (uint32_t)index;
	recorder->root = ap_profile_add_location(recorder->profile, -1, 0, &line, 1);
	return recorder->root < 0 ? recorder->root : 0;
}

/*
 * Whether a key belongs to a process. Groups of ended processes have made-up keys, with a pid of 0.
 */
static bool is_of(const struct ap_record_process *process, uint32_t key)
{
	return key == process->process ||
	       (AP_PROCESS_PID(key) && AP_PROCESS_PID(key) == AP_PROCESS_PID(process->process));
}

/* Adds the sites of one process after the other, and last those of keys that belong to none. */
static int sites_add(struct recorder *recorder, const struct ap_record_process *processes,
	size_t count, struct ap_work *work)
{
	const struct ap_snapshot *snapshot = recorder->snapshot;
	bool *added = calloc(snapshot->site_count + 1, sizeof(*added));
	size_t done = 0;
	int err = added ? 0 : -ENOMEM;

	for (size_t turn = 0; turn <= count && !err; turn++) {
		const struct ap_record_process *process = turn < count ? &processes[turn] : NULL;

		err = process_enter(recorder, process);
		for (size_t i = 0; i < snapshot->site_count && !err; i++) {
			if (added[i] ||
				(process && !is_of(process, snapshot->site_keys[i].process)))
				continue;
			added[i] = true;
			ap_work_step(work, done++, snapshot->site_count, NULL);
			err = site_add(recorder, i);
		}
	}
	free(added);
	return err;
}

int ap_record_tree(struct ap_profile *profile, const struct ap_snapshot *snapshot,
	const struct ap_record_process *processes, size_t count, struct ap_symbolizer *symbolizer,
	struct ap_record_faults *faults, struct ap_work *work)
{
	struct recorder recorder = {
		.profile = profile,
		.symbolizer = symbolizer,
		.snapshot = snapshot,
		.ages = ap_site_ages_new(snapshot),
		.faults = faults,
	};
	const struct ap_mapping *program = processes->table->program;
	int err = recorder.ages ? 0 : -ENOMEM;

	if (!err && program) {
		err = ap_symbolize_mapping(profile, program);
		if (err >= 0) {
			profile->main_mapping = err;
			err = 0;
		}
	}
	memset(faults, 0, sizeof(*faults));
	faults->sums_differ = sums_differ(snapshot);
	if (!err)
		err = sites_add(&recorder, processes, count, work);
	if (!err)
		err = losses_add(&recorder);
	free(recorder.ages);
	frames_clear(&recorder.frames);
	profile->info.samples = snapshot->totals.allocated.samples;
	profile->info.frees = snapshot->totals.freed.samples;
	profile->info.lost = stacks_lost(snapshot);
	profile->info.whole_stacks = snapshot->totals.ends[AP_END_START];
	return err;
}

int ap_record(struct ap_profile *profile, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, struct ap_symbolizer *symbolizer, pid_t pid,
	struct ap_record_faults *faults, struct ap_work *work)
{
	struct ap_record_process process = {.process = (uint32_t)pid, .table = table};

	return ap_record_tree(profile, snapshot, &process, 1, symbolizer, faults, work);
}
