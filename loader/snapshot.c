// SPDX-License-Identifier: MIT
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "clock.h"

static const char *const loss_names[AP_LOSSES] = {
	[AP_LOSS_SCRATCH] = "too many threads in the probe",
	[AP_LOSS_STACKS] = "stack map full",
	[AP_LOSS_COLLISION] = "too many stacks of one hash",
	[AP_LOSS_SITES] = "site map full",
	[AP_LOSS_LIVE_FULL] = "live map full",
};

static const char *const end_names[AP_ENDS] = {
	[AP_END_START] = "start of the thread",
	[AP_END_FRAME] = "no unwind table",
	[AP_END_READ] = "stack not readable",
	[AP_END_DEEP] = "too deep",
	[AP_END_CODE] = "code not known yet",
	[AP_END_UNSUPPORTED] = "unsupported unwind rule",
	[AP_END_ORDER] = "caller below its callee",
};

const char *ap_loss_name(enum ap_loss loss)
{
	return (unsigned int)loss < AP_LOSSES ? loss_names[loss] : "unknown loss";
}

const char *ap_end_name(enum ap_end end)
{
	return (unsigned int)end < AP_ENDS ? end_names[end] : "unknown end";
}

void ap_counters_add(struct ap_counters *sum, const struct ap_counters *more)
{
	sum->samples += more->samples;
	sum->objects += more->objects;
	sum->bytes += more->bytes;
	sum->weight += more->weight;
	sum->squares += more->squares;
}

void ap_lifetime_add(struct ap_lifetime *sum, const struct ap_lifetime *more)
{
	sum->samples += more->samples;
	sum->objects += more->objects;
	sum->weight += more->weight;
	sum->squares += more->squares;
}

/*
 * Reads one element at a time, for kernels without batches. An element deleted
 * meanwhile is left out.
 */
static int dump_slowly(
	int map, uint32_t key_size, uint32_t value_size, uint32_t room, struct ap_map_dump *dump)
{
	const void *previous = NULL;
	char *key;

	for (dump->count = 0; dump->count < room;) {
		key = dump->keys + dump->count * key_size;
		if (bpf_map_get_next_key(map, previous, key))
			return errno == ENOENT ? 0 : -errno;
		previous = key;
		if (!bpf_map_lookup_elem(map, key, dump->values + dump->count * value_size))
			dump->count++;
		else if (errno != ENOENT)
			return -errno;
	}
	return 0;
}

int ap_map_dump_read(int map, uint32_t key_size, uint32_t value_size, struct ap_map_dump *dump)
{
	struct bpf_map_info info = {0};
	uint32_t length = sizeof(info), count, position;
	int err;

	if (bpf_obj_get_info_by_fd(map, &info, &length))
		return -errno;
	if (info.key_size != key_size || info.value_size != value_size)
		return -EINVAL;
	/*
	 * Room for everything in one batch: a batch smaller than a bucket would fail. Untouched
	 * pages of a large allocation cost nothing.
	 */
	dump->keys = calloc(info.max_entries, key_size);
	dump->values = calloc(info.max_entries, value_size);
	if (!dump->keys || !dump->values)
		return -ENOMEM;
	count = info.max_entries;
	err = bpf_map_lookup_batch(map, NULL, &position, dump->keys, dump->values, &count, NULL);
	/* ENOENT means that the whole map has been read. */
	if (!err || errno == ENOENT) {
		dump->count = count;
		return 0;
	}
	if (errno != EINVAL && errno != ENOTSUP && errno != EOPNOTSUPP)
		return -errno;
	return dump_slowly(map, key_size, value_size, info.max_entries, dump);
}

struct order {
	uint64_t id;
	size_t index;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

/* Sorts both arrays of a dump by the 8 bytes at the start of the keys, and shrinks them. */
static int dump_sort(struct ap_map_dump *dump, size_t key_size, size_t value_size)
{
	size_t count = dump->count;
	struct order *order = calloc(count + 1, sizeof(*order));
	char *keys = calloc(count + 1, key_size);
	char *values = calloc(count + 1, value_size);

	if (!order || !keys || !values) {
		free(order);
		free(keys);
		free(values);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		memcpy(&order[i].id, dump->keys + i * key_size, sizeof(order[i].id));
		order[i].index = i;
	}
	qsort(order, count, sizeof(*order), order_compare);
	for (size_t i = 0; i < count; i++) {
		memcpy(keys + i * key_size, dump->keys + order[i].index * key_size, key_size);
		memcpy(values + i * value_size, dump->values + order[i].index * value_size,
			value_size);
	}
	free(order);
	free(dump->keys);
	free(dump->values);
	dump->keys = keys;
	dump->values = values;
	return 0;
}

static int map_read(int map, size_t key_size, size_t value_size, struct ap_map_dump *dump)
{
	int err = ap_map_dump_read(map, key_size, value_size, dump);

	return err ? err : dump_sort(dump, key_size, value_size);
}

uint64_t ap_live_weight(int live, uint32_t process)
{
	struct ap_map_dump dump = {0};
	uint64_t weight = 0;

	if (!ap_map_dump_read(live, sizeof(struct ap_live_key), sizeof(struct ap_live), &dump))
		for (size_t i = 0; i < dump.count; i++)
			if (((struct ap_live_key *)dump.keys)[i].process == process)
				weight += ((struct ap_live *)dump.values)[i].weight;
	free(dump.keys);
	free(dump.values);
	return weight;
}

int ap_snapshot_read(struct ap_snapshot *ret, const struct ap_snapshot_maps *maps)
{
	struct ap_map_dump sites = {0}, stacks = {0}, live = {0}, threads = {0};
	uint32_t key = 0;
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->read_ns = ap_clock_ns(CLOCK_MONOTONIC);
	err = ap_map_dump_read(maps->live, sizeof(*ret->live_keys), sizeof(*ret->live), &live);
	if (err)
		goto out;
	err = ap_map_dump_read(
		maps->threads, sizeof(*ret->thread_ids), sizeof(*ret->threads), &threads);
	if (err)
		goto out;
	/*
	 * Sites before stacks: a stack is inserted before its site, so every site
	 * read has its stack.
	 */
	err = map_read(maps->sites, sizeof(*ret->site_keys), sizeof(*ret->sites), &sites);
	if (err)
		goto out;
	err = map_read(maps->stacks, sizeof(*ret->stack_ids), sizeof(*ret->stacks), &stacks);
	if (err)
		goto out;
	if (bpf_map_lookup_elem(maps->totals, &key, &ret->totals)) {
		err = -errno;
		goto out;
	}
	for (key = 0; key < AP_LOSSES; key++) {
		if (bpf_map_lookup_elem(maps->losses, &key, &ret->losses[key])) {
			err = -errno;
			goto out;
		}
	}
	ret->site_keys = (void *)sites.keys;
	ret->sites = (void *)sites.values;
	ret->site_count = sites.count;
	ret->stack_ids = (void *)stacks.keys;
	ret->stacks = (void *)stacks.values;
	ret->stack_count = stacks.count;
	ret->live_keys = (void *)live.keys;
	ret->live = (void *)live.values;
	ret->live_count = live.count;
	ret->thread_ids = (void *)threads.keys;
	ret->threads = (void *)threads.values;
	ret->thread_count = threads.count;
	return 0;
out:
	free(sites.keys);
	free(sites.values);
	free(stacks.keys);
	free(stacks.values);
	free(live.keys);
	free(live.values);
	free(threads.keys);
	free(threads.values);
	return err;
}

static int id_compare(const void *key, const void *element)
{
	uint64_t left = *(const uint64_t *)key, right = *(const uint64_t *)element;

	return left < right ? -1 : left > right;
}

const struct ap_stack *ap_snapshot_stack(const struct ap_snapshot *snapshot, uint64_t id)
{
	const uint64_t *found;

	if (!snapshot->stack_count)
		return NULL;
	found = bsearch(&id, snapshot->stack_ids, snapshot->stack_count, sizeof(id), id_compare);
	return found ? &snapshot->stacks[found - snapshot->stack_ids] : NULL;
}

void ap_snapshot_clear(struct ap_snapshot *snapshot)
{
	free(snapshot->site_keys);
	free(snapshot->sites);
	free(snapshot->stack_ids);
	free(snapshot->stacks);
	free(snapshot->live_keys);
	free(snapshot->live);
	free(snapshot->thread_ids);
	free(snapshot->threads);
	memset(snapshot, 0, sizeof(*snapshot));
}
