// SPDX-License-Identifier: MIT
#include "site_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* ---- Ages ---- */

static uint64_t key_hash(const struct ap_site_key *key)
{
	return ap_hash(0, key, sizeof(*key));
}

static bool key_equal(const void *array, uint32_t index, const void *key)
{
	return !memcmp((const struct ap_site_key *)array + index, key, sizeof(struct ap_site_key));
}

/* The index in the result of ap_site_ages_new(), or -1. */
static int64_t live_site(const struct ap_snapshot *snapshot, const struct ap_table *table,
	const struct ap_live_key *key, const struct ap_live *live)
{
	struct ap_site_key site = {
		.stack = live->stack,
		.process = key->process,
		.thread = live->thread,
		.size_class = (uint32_t)ap_size_class(live->size),
	};

	if (live->stack < AP_LOSSES)
		return (int64_t)(snapshot->site_count + live->stack);
	return ap_table_find(table, key_hash(&site), key_equal, snapshot->site_keys, &site);
}

struct ap_site_ages *ap_site_ages_new(const struct ap_snapshot *snapshot)
{
	struct ap_site_ages *ages = calloc(snapshot->site_count + AP_LOSSES, sizeof(*ages));
	uint64_t duration = snapshot->read_ns - snapshot->begin_ns;
	struct ap_table table = {0};

	for (size_t i = 0; ages && i < snapshot->site_count; i++) {
		if (ap_table_add(&table, key_hash(&snapshot->site_keys[i]), (uint32_t)i)) {
			free(ages);
			ages = NULL;
		}
	}
	for (size_t i = 0; ages && i < snapshot->live_count; i++) {
		const struct ap_live *live = &snapshot->live[i];
		int64_t site = live_site(snapshot, &table, &snapshot->live_keys[i], live);
		uint64_t age = snapshot->read_ns - live->born_ns;
		struct ap_lifetime *sum;

		if (site < 0)
			continue;
		/* Born after the reading began. */
		if (live->born_ns > snapshot->read_ns)
			age = 0;
		sum = &ages[site].age[ap_age_class(age, duration)];
		sum->samples++;
		sum->objects += ap_objects_of(live->size, live->weight);
		sum->weight += live->weight;
		sum->squares += ap_square_of(live->size, live->weight);
	}
	ap_table_clear(&table);
	return ages;
}

/* ---- Parts ---- */

static int64_t objects_round(uint64_t fixed)
{
	return (int64_t)((fixed >> AP_OBJECT_SHIFT) + (fixed >> (AP_OBJECT_SHIFT - 1) & 1));
}

/* Counters that are shared out to parts: what is left, and what has been given. */
struct share {
	int64_t objects, bytes, samples, squares; /* what is left */
	uint64_t fixed;				  /* fixed-point objects of the parts so far */
	int64_t given;				  /* and the whole objects that these were given */
};

static struct share share_of(const struct ap_counters *counters)
{
	return (struct share){
		.objects = objects_round(counters->objects),
		.bytes = (int64_t)counters->weight,
		.samples = (int64_t)counters->samples,
		/* A hostile target can make it larger. */
		.squares = counters->squares > INT64_MAX ? INT64_MAX : (int64_t)counters->squares,
	};
}

static int64_t smaller(uint64_t want, int64_t left)
{
	return want > (uint64_t)left ? left : (int64_t)want;
}

/* Takes the counters of a class, as far as so much is left. Returns whether that is anything. */
static bool share_take(struct share *share, const struct ap_lifetime *want, struct share *taken)
{
	share->fixed += want->objects;
	taken->objects = objects_round(share->fixed) - share->given;
	if (taken->objects < 0 || taken->objects > share->objects)
		taken->objects = share->objects;
	taken->bytes = smaller(want->weight, share->bytes);
	taken->samples = smaller(want->samples, share->samples);
	taken->squares = smaller(want->squares, share->squares);
	share->given += taken->objects;
	share->objects -= taken->objects;
	share->bytes -= taken->bytes;
	share->samples -= taken->samples;
	share->squares -= taken->squares;
	return taken->objects || taken->bytes;
}

static struct ap_site_part *part_add(
	struct ap_site_part *part, unsigned int *count, const struct share *of, bool is_live)
{
	part += (*count)++;
	*part = (struct ap_site_part){
		.lifetime = -1,
		.age = -1,
		.value = {of->objects, of->bytes, is_live ? of->objects : 0,
			is_live ? of->bytes : 0},
		.samples = (uint64_t)of->samples,
		.variance = ldexp((double)of->squares, AP_SQUARE_SHIFT),
	};
	return part;
}

/* Adds what is in no class. Objects without bytes come from rounding, and go to the last class. */
static void rest_add(struct ap_site_part *part, unsigned int first, unsigned int *count,
	const struct share *share, bool is_live)
{
	if (!share->bytes && *count > first) {
		part[*count - 1].value[AP_ALLOC_OBJECTS] += share->objects;
		if (is_live)
			part[*count - 1].value[AP_INUSE_OBJECTS] += share->objects;
	} else if (share->bytes || share->objects) {
		part_add(part, count, share, is_live);
	}
}

unsigned int ap_site_split(const struct ap_site *site, const struct ap_site_ages *ages,
	struct ap_site_part part[AP_SITE_PARTS], bool *is_negative)
{
	struct share all = share_of(&site->allocated), freed = share_of(&site->freed);
	struct share live = {
		.objects = all.objects - freed.objects,
		.bytes = (int64_t)(site->allocated.weight - site->freed.weight),
		.samples = all.samples - freed.samples,
		.squares = all.squares > freed.squares ? all.squares - freed.squares : 0,
	};
	unsigned int count = 0, first;
	struct share taken;

	*is_negative = live.bytes < 0 || live.objects < 0 || live.samples < 0 || freed.bytes < 0;
	if (*is_negative) {
		part_add(part, &count, &all, false);
		return count;
	}
	for (int i = 0; i < AP_LIFETIMES; i++)
		if (share_take(&freed, &site->lifetime[i], &taken))
			part_add(part, &count, &taken, false)->lifetime = i;
	rest_add(part, 0, &count, &freed, false);
	first = count;
	/* The oldest first: blocks freed since the map was read were mostly young. */
	for (int i = AP_AGES; ages && i-- > 0;)
		if (share_take(&live, &ages->age[i], &taken))
			part_add(part, &count, &taken, true)->age = i;
	rest_add(part, first, &count, &live, true);
	return count;
}
