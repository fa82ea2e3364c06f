// SPDX-License-Identifier: MIT
#include "top_sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocprof/process.h>

#include "allocator.h"
#include "clock.h"
#include "record.h"
#include "symbolize.h"

int ap_top_sites_open(struct ap_top_sites *sites, pid_t pid)
{
	sites->pid = pid;
	sites->window = AP_TOP_WINDOW;
	sites->profile = ap_profile_new();
	sites->symbolizer = ap_symbolizer_new();
	return sites->profile && sites->symbolizer ? 0 : -ENOMEM;
}

void ap_top_sites_clear(struct ap_top_sites *sites)
{
	ap_profile_free(sites->profile);
	if (sites->symbolizer)
		ap_symbolizer_keep(sites->symbolizer);
	ap_symbolizer_free(sites->symbolizer);
	free(sites->sites);
	ap_table_clear(&sites->by_stack);
	free(sites->frames);
	*sites = (struct ap_top_sites){0};
}

struct ap_estimate ap_top_estimate(const struct ap_top_values *values)
{
	return (struct ap_estimate){.value = (double)values->live, .variance = values->variance};
}

void ap_top_values_add(struct ap_top_values *to, const struct ap_top_values *more)
{
	to->live = ap_value_add(to->live, more->live);
	to->variance += more->variance;
	to->rate += more->rate;
	to->objects = ap_value_add(to->objects, more->objects);
	to->growth = ap_value_add(to->growth, more->growth);
}

/* ---- Names ---- */

static bool location_uncertain(const struct ap_profile *profile, uint32_t location)
{
	const struct ap_location *of = &profile->locations[location];

	if (of->mapping < 0)
		return !ap_location_is_reserved(profile, of);
	return !strncmp(profile->mappings[of->mapping].file, "[anon", 5);
}

/* Gives a site the frames of these locations. */
static int frames_set(
	struct ap_top_sites *sites, struct ap_top_site *site, uint32_t *location, uint32_t depth)
{
	struct ap_sample sample = {.location = location, .depth = depth};
	struct ap_shown_frames shown = {0};
	int err = ap_profile_frames(sites->profile, &sample, sites->show_allocator, &shown);

	/*
	 * A stack that is symbolized again usually has as many frames as before,
	 * and keeps its place.
	 */
	if (shown.count > site->count || err)
		site->first = sites->frame_count;
	site->count = 0;
	site->uncertain = false;
	for (uint32_t i = 0; i < depth; i++)
		site->uncertain |= location_uncertain(sites->profile, location[i]);
	for (uint32_t i = 0; i < shown.count && !err; i++) {
		if (site->first + i == sites->frame_count) {
			err = ap_array_grow((void **)&sites->frames, sites->frame_count,
				&sites->frame_room, sizeof(*sites->frames));
			if (err)
				break;
			sites->frame_count++;
		}
		sites->frames[site->first + i] = shown.frame[i];
		site->count++;
	}
	site->caller = shown.count ? ap_site_frame(sites->profile, shown.frame, shown.count) : 0;
	free(shown.frame);
	return err;
}

static int site_name(struct ap_top_sites *sites, struct ap_top_site *site,
	const struct ap_stack *stack, const struct ap_mapping_table *table)
{
	uint32_t location[AP_FRAMES + 1];
	int depth = -EINVAL;
	char name[64];

	if (stack)
		depth = ap_record_stack(sites->profile, sites->symbolizer, table, stack, location);
	if (depth == -EINVAL) {
		snprintf(name, sizeof(name), "[%s]",
			site->stack < AP_LOSSES ? ap_loss_name((enum ap_loss)site->stack)
						: "damaged key");
		depth = ap_profile_reserved(sites->profile, name);
		if (depth < 0)
			return depth;
		location[0] = (uint32_t)depth;
		depth = 1;
	}
	return depth < 0 ? depth : frames_set(sites, site, location, (uint32_t)depth);
}

/* ---- Counters ---- */

static bool site_equal(const void *array, uint32_t index, const void *key)
{
	return ((const struct ap_top_site *)array)[index].stack == *(const uint64_t *)key;
}

/* The site of a stack, created when new. */
static int64_t site_get(struct ap_top_sites *sites, uint64_t stack)
{
	uint64_t hash = ap_hash_u64(0, stack);
	int64_t index = ap_table_find(&sites->by_stack, hash, site_equal, sites->sites, &stack);
	struct ap_top_site fresh = {.stack = stack};

	if (index >= 0)
		return index;
	return ap_table_append(&sites->by_stack, hash, (void **)&sites->sites, &sites->count,
		&sites->room, &fresh, sizeof(fresh));
}

/* Symbolizes a site if it is new, and adds the counters of one key. */
static int site_add(struct ap_top_sites *sites, uint64_t id, const struct ap_stack *stack,
	const struct ap_mapping_table *table, const struct ap_site *counters)
{
	uint32_t known = sites->count;
	int64_t index = site_get(sites, id);
	struct ap_top_site *site;
	int err = 0;

	if (index < 0)
		return (int)index;
	site = &sites->sites[index];
	if (index == known || (site->uncertain && sites->rename))
		err = site_name(sites, site, stack, table);
	ap_counters_add(&site->allocated, &counters->allocated);
	ap_counters_add(&site->freed, &counters->freed);
	/* Summed up by key, since the blocks of one key are of about the same size. */
	site->value.variance += ap_estimate_live_variance(&counters->allocated, &counters->freed);
	return err;
}

/* How many refreshes back rates reach. */
static uint32_t reach(const struct ap_top_sites *sites)
{
	return sites->refreshes < sites->window ? sites->refreshes : sites->window;
}

/*
 * Computes the values of a site. A hostile target can have more freed than allocated, which counts
 * as nothing live.
 */
static void site_count(struct ap_top_sites *sites, struct ap_top_site *site)
{
	uint32_t slot = sites->refreshes % AP_TOP_WINDOW;
	uint32_t from = (sites->refreshes - reach(sites)) % AP_TOP_WINDOW;
	uint64_t since = site->allocated.weight - site->past[from];
	struct ap_top_values *value = &site->value;

	value->live = (int64_t)(site->allocated.weight - site->freed.weight);
	value->objects = (int64_t)(site->allocated.objects - site->freed.objects);
	if (value->live < 0 || value->objects < 0) {
		value->live = value->objects = 0;
		value->variance = 0;
	}
	value->growth = value->live - site->live_at_reset;
	/*
	 * Blocks for which the live map had no room: their allocation counts at their own stacks.
	 */
	value->rate = 0;
	if (sites->seconds > 0 && site->stack != AP_LOSS_LIVE_FULL)
		value->rate = (double)since / sites->seconds;
	site->past[slot] = site->allocated.weight;
}

static int losses_add(struct ap_top_sites *sites, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table)
{
	int err = 0;

	for (uint32_t i = 0; i < AP_LOSSES && !err; i++)
		if (snapshot->losses[i].allocated.samples)
			err = site_add(sites, i, NULL, table, &snapshot->losses[i]);
	return err;
}

/* Whether a key is one that the BPF programs write. */
static bool key_is_whole(const struct ap_top_sites *sites, const struct ap_site_key *key)
{
	return !key->zero && AP_PROCESS_PID(key->process) == (uint32_t)sites->pid &&
	       key->stack >= AP_STACK_FIRST;
}

int ap_top_sites_update(struct ap_top_sites *sites, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t now_ns)
{
	uint64_t from = sites->at_ns[(sites->refreshes - reach(sites)) % AP_TOP_WINDOW];
	int err = 0;

	for (uint32_t i = 0; i < sites->count; i++) {
		sites->sites[i].allocated = sites->sites[i].freed = (struct ap_counters){0};
		sites->sites[i].value.variance = 0;
	}
	for (size_t i = 0; i < snapshot->site_count && !err; i++) {
		const struct ap_site_key *key = &snapshot->site_keys[i];
		const struct ap_stack *stack = NULL;

		if (key_is_whole(sites, key))
			stack = ap_snapshot_stack(snapshot, key->stack);
		/* A damaged key must not be taken for that of a loss or of another stack. */
		err = site_add(
			sites, stack ? key->stack : ~key->stack, stack, table, &snapshot->sites[i]);
	}
	if (!err)
		err = losses_add(sites, snapshot, table);
	if (err)
		return err;
	sites->seconds = sites->refreshes ? (double)(now_ns - from) / AP_SECOND_NS : 0;
	sites->total = (struct ap_top_values){0};
	for (uint32_t i = 0; i < sites->count; i++) {
		site_count(sites, &sites->sites[i]);
		ap_top_values_add(&sites->total, &sites->sites[i].value);
	}
	sites->at_ns[sites->refreshes++ % AP_TOP_WINDOW] = now_ns;
	sites->rename = false;
	return 0;
}

void ap_top_sites_reset(struct ap_top_sites *sites)
{
	uint32_t last = (sites->refreshes - 1) % AP_TOP_WINDOW;

	if (!sites->refreshes)
		return;
	for (uint32_t i = 0; i < sites->count; i++) {
		struct ap_top_site *site = &sites->sites[i];

		site->past[0] = site->past[last];
		site->live_at_reset = site->value.live;
		site->value.growth = 0;
	}
	sites->at_ns[0] = sites->at_ns[last];
	sites->refreshes = 1;
	sites->reset = true;
	sites->total.growth = 0;
}

bool ap_top_sites_uncertain(const struct ap_top_sites *sites)
{
	for (uint32_t i = 0; i < sites->count; i++)
		if (sites->sites[i].uncertain)
			return true;
	return false;
}

void ap_top_sites_rename(struct ap_top_sites *sites)
{
	sites->rename = true;
}
