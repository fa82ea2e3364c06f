/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps, and what the loader decides before it loads them. The sizes of `stacks`, `sites`,
 * `live` and `scratch` are set by the loader. Hash maps are preallocated: nothing is allocated
 * while a thread stands in the probe.
 */
#ifndef ALLOCPROF_MAPS_BPF_H
#define ALLOCPROF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <allocprof/abi.h>

/* What one run of a program works on. Too large for the BPF stack, and see scratch.bpf.h. */
struct scratch {
	struct ap_site_key site_key;
	struct ap_live_key live_key;
	struct ap_live live;
	struct ap_counters sample;
	__u64 frame[2]; /* saved frame pointer and return address */
	struct ap_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct ap_stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ap_site_key);
	__type(value, struct ap_site);
} sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ap_live_key);
	__type(value, struct ap_live);
} live SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ap_totals);
} totals SEC(".maps");

/* The reserved sites, by enum ap_loss. An array: charging a loss cannot fail. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, AP_LOSSES);
	__type(key, __u32);
	__type(value, struct ap_site);
} losses SEC(".maps");

/* By thread (the kernel's pid and tgid): a thread that is inside a program has an element. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* All zero, the first value of a new element. Nothing writes here. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} blank_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ap_site);
} blank_site SEC(".maps");

/*
 * Adds an element that is not there yet: 0, -EEXIST, -E2BIG. An int, unlike what the helper is
 * declared to return: before 6.4 the kernel calls the map's own function, which returns an int, and
 * the upper half of the register is whatever it is (on 5.10 -EEXIST compares unequal as a long).
 */
static __always_inline int map_insert(void *map, const void *key, const void *value)
{
	return (int)bpf_map_update_elem(map, key, value, BPF_NOEXIST);
}

/* The id of the process in all keys, as the loader knows it. The kernel filters the probes by
 * address space, so whatever arrives is this process's, also from a vfork child. */
const volatile unsigned int process_id = 0;

/* The bits of a stack's hash that are used. Tests clear some to force collisions. */
const volatile unsigned long long hash_mask = ~0ULL;

/* Whether the kernel has the kfuncs of preempt.bpf.h. */
const volatile _Bool has_preempt_disable = 0;

#endif
