/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames that have been looked up before: of an address, what is stored of it and its rule. A sample
 * is rare, and meanwhile the tables have left the processor's caches: mappings, page, rows and rule
 * of a frame are a dozen cache lines in four places, this is one. Each CPU has its own, which is
 * only used while the program holds the CPU: elsewhere a half-written frame could be read.
 *
 * A frame is known as long as the loader publishes no other list of mappings. That what is mapped
 * there is what the list says is checked each time, as without.
 */
#ifndef ALLOCPROF_FRAME_CACHE_BPF_H
#define ALLOCPROF_FRAME_CACHE_BPF_H

#include "maps.bpf.h"

/* NULL: frames are not kept. */
static __always_inline struct frame *frame_slot(__u64 address)
{
	__u32 key;

	if (!cpu_held)
		return NULL;
	key = bpf_get_smp_processor_id() << AP_FRAME_CACHE_SHIFT |
	      (__u32)(address * 0x9e3779b97f4a7c15ULL >> (64 - AP_FRAME_CACHE_SHIFT));
	return bpf_map_lookup_elem(&frame_cache, &key);
}

static __always_inline int frame_is_known(
	const struct frame *frame, const struct walk *walk, __u64 address)
{
	return frame->address == address && frame->list == walk->list &&
	       frame->version == walk->version;
}

static __always_inline void frame_keep(struct frame *frame, const struct walk *walk, __u64 address,
	__u64 stored, const struct ap_unwind_rule *rule)
{
	frame->address = address;
	frame->stored = stored;
	frame->list = walk->list;
	frame->version = walk->version;
	frame->mapping = walk->mapping_at;
	frame->rule = *rule;
}

#endif
