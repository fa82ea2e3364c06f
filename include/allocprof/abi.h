/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the BPF programs write and the loader reads: the keys and values of the kernel maps.
 *
 * Every counter only grows. What is live is allocated - freed; what happened between two moments is
 * the difference of two snapshots. The sums are exact: once no program is running,
 *
 *   sum of allocated over sites and losses, without AP_LOSS_LIVE_FULL  =  totals.allocated
 *   sum of freed over sites and losses  =  totals.freed + losses[AP_LOSS_LIVE_FULL].allocated
 *   sum of lifetimes over sites and losses  =  totals.freed
 *
 * Many threads add to them at once, with an atomic addition for each number. A reader may see a
 * sample in one number and not yet in another.
 *
 * A site is a stack, a class of sizes, and, with --by-thread, a thread.
 *
 * A stack id below AP_STACK_FIRST is no stack but a reserved site, an enum ap_loss.
 */
#ifndef ALLOCPROF_ABI_H
#define ALLOCPROF_ABI_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

#define AP_FRAMES      127
#define AP_STACK_FIRST 64

/* Fixed point of ap_counters.objects: 1 << AP_OBJECT_SHIFT is one object. */
#define AP_OBJECT_SHIFT 16

/*
 * The unit of `squares` below: 1 << AP_SQUARE_SHIFT square bytes. There is room for 2^82 square
 * bytes. A sum is at most the bytes allocated times the period, so that is reached after 8 EiB with
 * a period of 512 KiB, or after half a year of 16 GiB/s at 1,000 samples a second. With a period of
 * a few KiB and more, one sample is many units; below that, the unit is too coarse, and estimate.h
 * uses the other counters.
 */
#define AP_SQUARE_SHIFT 18

/*
 * Why a sample could not be filed under its stack. It is counted at the reserved site of that
 * reason instead.
 */
enum ap_loss {
	AP_LOSS_SCRATCH,   /* more threads inside the probe at once than there is scratch for */
	AP_LOSS_STACKS,	   /* the map of stacks is full */
	AP_LOSS_COLLISION, /* too many stacks of one hash */
	AP_LOSS_SITES,	   /* the map of sites is full */
	/* The map of live blocks is full. Such a block is filed under its stack as allocated and,
	 * since its free will not be recognized, as freed at once; `allocated` of this reserved
	 * site has it instead, and nothing else: an upper bound of what may still be live. */
	AP_LOSS_LIVE_FULL,
	AP_LOSSES
};

/* Why a stack ends where it does. */
enum ap_end {
	AP_END_START,	    /* the start of its thread: the stack is whole */
	AP_END_FRAME,	    /* no table for this code, and the frame pointer leads to no frame */
	AP_END_READ,	    /* the stack could not be read there */
	AP_END_DEEP,	    /* deeper than AP_FRAMES */
	AP_END_CODE,	    /* code that is in no mapping known yet */
	AP_END_UNSUPPORTED, /* the table has a rule that the unwinder does not know */
	AP_END_ORDER,	    /* the caller's frame would be below this one */
	AP_ENDS
};

struct ap_counters {
	__u64 samples;
	__u64 objects; /* estimated, fixed point: weight / size */
	__u64 bytes;   /* as requested by the sampled blocks themselves */
	__u64 weight;  /* estimated bytes: what the samples stand for */
	__u64 squares; /* weight * (weight - size) of each: the variance of weight: estimate.h */
};

/* The part of ap_site.freed with lifetimes of one class. */
struct ap_lifetime {
	__u64 samples;
	__u64 objects;
	__u64 weight;
	__u64 squares;
};

/*
 * Classes of lifetimes: shorter than this, then one for each decade, the last from
 * 10^6 times this on.
 */
#define AP_LIFETIME_SHORTEST_NS 1000000ULL
#define AP_SITE_LIFETIMES	8

struct ap_site {
	struct ap_counters allocated;
	struct ap_counters freed;
	struct ap_lifetime lifetime[AP_SITE_LIFETIMES];
};

/* ap_counters.objects of one sample, rounded to the nearest. A block of 0 bytes has weight 0 and
 * counts as one object. */
static inline __attribute__((always_inline)) __u64 ap_objects_of(__u64 size, __u64 weight)
{
	if (!size)
		return 1ULL << AP_OBJECT_SHIFT;
	return ((weight / size) << AP_OBJECT_SHIFT) +
	       (((weight % size) << AP_OBJECT_SHIFT) + size / 2) / size;
}

/*
 * ap_counters.squares of one sample. Weights from 4 GiB on are squared with less
 * precision. Modulo 2^64.
 */
static inline __attribute__((always_inline)) __u64 ap_square_of(__u64 size, __u64 weight)
{
	__u64 more = weight > size ? weight - size : 0;

	if (weight >> 32)
		return (weight >> AP_SQUARE_SHIFT / 2) * (more >> AP_SQUARE_SHIFT / 2);
	return (weight * more + (1ULL << (AP_SQUARE_SHIFT - 1))) >> AP_SQUARE_SHIFT;
}

struct ap_site_key {
	__u64 stack;
	__u32 process;
	__u32 thread;	  /* the kernel's id of it; 0: threads are not kept apart */
	__u32 size_class; /* of the requested size: from 2^this to below 2^(this + 1); 0 for 0 */
	__u32 zero;
};

/* A thread's name when it was last seen. */
struct ap_thread {
	char comm[16];
};

struct ap_stack {
	__u32 depth;
	__u32 end;		/* enum ap_end */
	__u64 frame[AP_FRAMES]; /* leaf first; as AP_FRAME() of unwind.h makes them */
};

struct ap_live_key {
	__u64 pointer;
	__u32 process;
	__u32 zero;
};

struct ap_live {
	__u64 stack; /* of the site that was charged; the size gives its size_class */
	__u64 size;
	__u64 weight;
	__u64 born_ns; /* CLOCK_MONOTONIC */
	__u32 thread;  /* as in the site's key */
	__u32 zero;
};

struct ap_totals {
	struct ap_counters allocated;
	struct ap_counters freed;
	__u64 frees_unknown; /* frees of blocks that this recording has not seen allocated */
	__u64 frees_missed;  /* blocks allocated again without a free: retired then */
	__u64 stacks;	     /* different stacks */
	__u64 entered, left; /* by the programs; equal when none is running */
	__u64 ends[8];	     /* samples by enum ap_end */
	/* Left out for their size before anything else was counted. Their frees are unknown ones.
	 */
	struct ap_counters filtered;
};

_Static_assert(sizeof(struct ap_counters) == 40, "shared with BPF");
_Static_assert(sizeof(struct ap_lifetime) == 32, "shared with BPF");
_Static_assert(sizeof(struct ap_site) == 336, "shared with BPF");
_Static_assert(sizeof(struct ap_site_key) == 24, "no padding: it is a hash key");
_Static_assert(sizeof(struct ap_thread) == 16, "shared with BPF");
_Static_assert(sizeof(struct ap_live_key) == 16, "no padding: it is a hash key");
_Static_assert(sizeof(struct ap_live) == 40, "shared with BPF");
_Static_assert(sizeof(struct ap_stack) == 1024, "a stack is 1 KiB of kernel memory");
_Static_assert(sizeof(struct ap_totals) == 224, "shared with BPF");
_Static_assert(AP_LOSSES <= AP_STACK_FIRST, "reserved sites stand below the stacks");
_Static_assert(AP_ENDS <= 8, "totals.ends has room for every reason");

/*
 * Functions of the kernel that the programs call where it has them, by numbers that no helper has.
 * The loader replaces the calls before the kernel sees them: loader/kfunc.h.
 */
#define AP_KFUNC_PREEMPT_DISABLE 0x7ff00001
#define AP_KFUNC_PREEMPT_ENABLE	 0x7ff00002

#endif
