/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps, and what the loader decides before it loads them. The sizes of `stacks`, `sites`,
 * `live`, `threads` and `scratches` are set by the loader. Hash maps are preallocated: nothing is
 * allocated while a thread stands in the probe.
 */
#ifndef ALLOCPROF_MAPS_BPF_H
#define ALLOCPROF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <allocprof/abi.h>
#include <allocprof/unwind.h>
#include "processes.bpf.h"

/* Where a stack walk is. A register is at an address of user memory, or, when that is 0, known. */
struct walk {
	__u64 pc, sp;
	__u64 fp, fp_at;
	__u64 bx, bx_at;
	__u64 cfa;
	__u64 saved_at; /* signal frame that has the registers of this frame; 0: there is none */
	__u64 registers[AP_REGISTERS]; /* at the probe, by DWARF number */
	__u64 word[2];		       /* what was last read from user memory ... */
	__u64 word_at;		       /* ... and where */
	__u32 list;		       /* number of the list of the process's mappings */
	__u32 is_forked;	       /* the list is that of its parent */
	__u64 unchecked; /* an address that would have told whether a mapping is still the same, but
			    could not be read; 0: there was none */
	struct ap_unwind_mapping mapping; /* the one of the last pc: callers are often in it, too */
	__u32 mapping_at;		  /* its place in the list */
	__u32 version;			  /* of all lists, when the walk began */
	__u32 fp_lost, bx_lost;
	__u32 is_first; /* the frame is the first one */
	__u32 is_exact; /* pc is where the thread is, and not where it returns to */
};

/* What one run of a program works on. Too large for the BPF stack, and see scratch.bpf.h. */
struct scratch {
	struct ap_site_key site_key;
	struct ap_live_key live_key;
	struct ap_live live;
	struct walk walk;
	struct ap_stack stack;
};

/* What is known of an address: frame_cache.bpf.h. A cache line. */
struct frame {
	__u64 address;
	__u64 stored;	     /* in stacks */
	__u32 list, version; /* as in struct walk */
	__u32 mapping;	     /* its place in the list */
	__u32 zero;
	struct ap_unwind_rule rule;
};

_Static_assert(sizeof(struct frame) == 64, "a cache line");

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

/* The names of threads, by the kernel's number of them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ap_thread);
} threads SEC(".maps");

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

/* Where the program holds the CPU: each CPU's. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} cpu_scratch SEC(".maps");

/* Elsewhere, by thread (the kernel's pid and tgid): one that is inside a program has an element. */
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
 * The unwind tables, see allocprof/unwind.h. The arrays inside are made by the loader, of the size
 * that is needed, and memory-mapped while it fills them.
 */
#define ARRAYS_OF(value, count)                                                      \
	{                                                                            \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);                            \
		__uint(max_entries, count);                                          \
		__type(key, __u32);                                                  \
		__array(                                                             \
			values, struct {                                             \
				__uint(type, BPF_MAP_TYPE_ARRAY);                    \
				__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP); \
				__uint(max_entries, 1);                              \
				__uint(key_size, sizeof(__u32));                     \
				__uint(value_size, sizeof(value));                   \
			});                                                          \
	}

struct ARRAYS_OF(struct ap_unwind_block, AP_SEGMENTS) unwind_blocks SEC(".maps");
struct ARRAYS_OF(struct ap_unwind_page, AP_SEGMENTS) unwind_pages SEC(".maps");

/*
 * An array for each list, of the mappings in the order of their addresses; it is replaced as a
 * whole. List 0 is the recorded process's; children that have the same share it.
 */
struct ARRAYS_OF(struct ap_unwind_mapping, AP_LISTS) unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, AP_RULES_MAX);
	__type(key, __u32);
	__type(value, struct ap_unwind_rule);
} unwind_rules SEC(".maps");

/* The loader makes room for each CPU's. Can be mapped: so its elements begin at a cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame);
} frame_cache SEC(".maps");

/* What the programs ask the loader for, struct ap_wish. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wishes SEC(".maps");

/* Those that have found no room. What is in there has the loader look all the same. */
unsigned long long wishes_lost = 0;

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

/*
 * AP_PROCESS_EXEC for each program that the process has executed since: what an earlier one held is
 * gone with it, and stands under other keys. 0 while a tree is recorded, where `processes` has it.
 */
volatile unsigned int executed = 0;

/* The kernel lets the programs hold the CPU: preempt.bpf.h. */
const volatile _Bool cpu_held = 1;

/* The loader has published so many lists of mappings. */
volatile unsigned int lists_version = 0;

/* A tree of processes is recorded: the probes fire for everybody, and `processes` says who is of
 * the tree. */
const volatile _Bool has_tree = 0;

/*
 * Set when the recording ends: from then on nothing is counted. The probes go one after the other,
 * which takes a tenth of a second, and a program can free all that it holds in that time.
 */
volatile unsigned int closed = 0;

/* The sizes that are recorded, both ends included. */
const volatile unsigned long long min_size = 0;
const volatile unsigned long long max_size = ~0ULL;

/* The frames that are kept of a stack, at most AP_FRAMES. */
const volatile unsigned int max_depth = AP_FRAMES;

/* Whether the threads of a stack are sites of their own. */
const volatile _Bool by_thread = 0;

/* The bits of a stack's hash that are used. Tests clear some to force collisions. */
const volatile unsigned long long hash_mask = ~0ULL;

#endif
