/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The set of stacks: an id for every different stack, the hash of its frames, or one of the next
 * few numbers when another stack has that hash. The frames are always compared, so no two stacks
 * share an id. Stacks are never removed; a stack in the map is whole from its insertion on. Behind
 * its frames stands what an earlier sample has left there.
 */
#ifndef ALLOCPROF_STACK_BPF_H
#define ALLOCPROF_STACK_BPF_H

#include "maps.bpf.h"

#define STACK_PROBES 16

static __noinline __u64 stack_hash(const struct ap_stack *stack)
{
	__u64 hash = ((__u64)stack->end << 32 | stack->depth) * 0x9e3779b97f4a7c15ULL;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < AP_FRAMES; i++) {
		if (i >= stack->depth)
			break;
		hash = (hash ^ stack->frame[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static __noinline int stack_equal(const struct ap_stack *a, const struct ap_stack *b)
{
	if (a->depth != b->depth || a->end != b->end)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < AP_FRAMES; i++) {
		if (i >= a->depth)
			break;
		if (a->frame[i] != b->frame[i])
			return 0;
	}
	return 1;
}

/*
 * The id of scratch->stack, filed now or before, is left in scratch->site_key.stack; or an
 * enum ap_loss when it could not be filed. Returns whether the stack is new.
 */
static __noinline int stack_file(struct scratch *scratch)
{
	struct ap_stack *known;
	__u64 *id = &scratch->site_key.stack;
	int err;

	*id = stack_hash(&scratch->stack) & hash_mask;
	if (*id < AP_STACK_FIRST || *id > -1ULL - STACK_PROBES)
		*id = AP_STACK_FIRST;
#pragma clang loop unroll(disable)
	for (int i = 0; i < STACK_PROBES; i++) {
		known = bpf_map_lookup_elem(&stacks, id);
		if (!known) {
			err = map_insert(&stacks, id, &scratch->stack);
			if (!err)
				return 1;
			if (err != -EEXIST) {
				*id = AP_LOSS_STACKS;
				return 0;
			}
			/* Another thread was first, perhaps with the same stack. */
			known = bpf_map_lookup_elem(&stacks, id);
		}
		if (known && stack_equal(known, &scratch->stack))
			return 0;
		(*id)++;
	}
	*id = AP_LOSS_COLLISION;
	return 0;
}

#endif
