/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The unwind tables, as the loader writes them and the BPF programs read them.
 *
 * A pc leads to its frame's rule in four steps: the mapping that holds it, by binary search in the
 * sorted mappings; the page of 16 KiB of the file's code, by division; the row in the page, by
 * binary search; the rule of that number. A page has at most as many rows as bytes, so the rows of
 * a page always lie in one block, and the search runs over memory that was looked up once.
 *
 * A row is 4 bytes. Rules are shared by all files of the process.
 */
#ifndef ALLOCPROF_UNWIND_H
#define ALLOCPROF_UNWIND_H

#include <allocprof/abi.h>
#include <allocprof/machine.h>

#define AP_PAGE_SHIFT 14
#define AP_PAGE_SIZE  (1U << AP_PAGE_SHIFT)
#define AP_BLOCK_ROWS AP_PAGE_SIZE

/*
 * Slots for the arrays of pages and blocks. Each start takes one, and files loaded later take one
 * for every 1 MiB or more.
 */
#define AP_SEGMENTS 1024

/* How many lists of mappings there can be; processes with the same mappings share one. */
#define AP_LISTS 4096

/* Frames that each CPU keeps, 1 << this: 32 KiB. */
#define AP_FRAME_CACHE_SHIFT 9

/* Room for the rules of all files together. The 120 largest libraries of a desktop have 9,700. */
#define AP_RULES_MAX 32768

/* How a frame's CFA is computed: the stack pointer of its caller before the call. */
enum ap_cfa {
	AP_CFA_NONE,	    /* no table for this code: try the frame pointer */
	AP_CFA_REGISTER,    /* register + offset */
	AP_CFA_DEREFERENCE, /* *(register + offset) + add */
	AP_CFA_PLT,	    /* sp + offset, and 8 more from byte `add` of a PLT's entry on */
	AP_CFA_SIGNAL,	    /* the kernel's signal frame */
	AP_CFA_END,	    /* nobody has called this: the start of the thread */
	AP_CFA_UNSUPPORTED, /* the table says something that is not in this list */
};

/* Where the caller's value of a register is. */
enum ap_saved {
	AP_SAVED_SAME,
	AP_SAVED_CFA, /* at CFA + offset */
	AP_SAVED_FP,  /* at frame pointer + offset */
	AP_SAVED_REG, /* in register `offset`, of the return address only */
	AP_SAVED_LOST,
};

struct ap_unwind_rule {
	__u8 cfa; /* enum ap_cfa */
	__u8 cfa_register;
	__u8 fp, bx, ra; /* enum ap_saved */
	__u8 zero[3];
	__s32 cfa_offset, cfa_add;
	__s32 fp_offset, bx_offset, ra_offset;
	__s32 zero_end;
};

/* The numbers of two rules that every table has. */
#define AP_RULE_NONE	    0
#define AP_RULE_UNSUPPORTED 1

/* The rule from byte `at` of a page up to the next row. The first row of a page is at 0. */
struct ap_unwind_row {
	__u16 at;
	__u16 rule;
};

struct ap_unwind_block {
	struct ap_unwind_row row[AP_BLOCK_ROWS];
};

struct ap_unwind_page {
	__u32 block; /* in the array of the segment */
	__u16 first; /* row in the block */
	__u16 count; /* 0: no table for this page */
};

/*
 * A code mapping. What is mapped there may have changed since the loader looked: a part of the
 * file's build id is compared with the target's memory.
 *
 * Element 0 is none: its `start` says where the list is, first << 32 | count.
 */
struct ap_unwind_mapping {
	__u64 start, end;   /* where it holds: a part, if another one was put over it */
	__u64 origin;	    /* where the whole mapping starts: offsets of frames count from there */
	__u64 table_offset; /* of start in the file's table, in bytes of code */
	__u32 segment;
	__u32 first_page;
	__u32 pages;	/* 0: no table: JIT code */
	__u32 id;	/* struct ap_mapping.id */
	__u64 check_at; /* address in the target; 0: it cannot be checked */
	__u64 check;	/* the 8 bytes expected there */
};

/*
 * A frame as it is stored: its mapping and the offset in that, so that another file mapped there
 * later is not taken for it; or the address itself, when it is in no known mapping. The address of
 * a caller is the byte before the return address, which is inside the call.
 */
#define AP_FRAME_KNOWN	       (1ULL << 63)
#define AP_FRAME_ID_SHIFT      40
#define AP_FRAME_ID_MAX	       (1U << 23)
#define AP_FRAME_OFFSET_MASK   ((1ULL << AP_FRAME_ID_SHIFT) - 1)
#define AP_FRAME(id, offset)   (AP_FRAME_KNOWN | (__u64)(id) << AP_FRAME_ID_SHIFT | (offset))
#define AP_FRAME_ID(frame)     ((__u32)((frame) >> AP_FRAME_ID_SHIFT) & (AP_FRAME_ID_MAX - 1))
#define AP_FRAME_OFFSET(frame) ((frame)&AP_FRAME_OFFSET_MASK)

/* A request of a BPF program to the loader, in the ring buffer. */
struct ap_wish {
	__u64 code;    /* address of code in no known mapping, which should be read; 0: none */
	__u64 memory;  /* an address that is not resident and should be; 0: none */
	__u32 process; /* whose, as in keys */
	__u32 zero;
};

_Static_assert(sizeof(struct ap_unwind_rule) == 32, "shared with BPF");
_Static_assert(sizeof(struct ap_unwind_row) == 4, "a row is 4 bytes");
_Static_assert(sizeof(struct ap_unwind_block) == 65536, "shared with BPF");
_Static_assert(sizeof(struct ap_unwind_page) == 8, "shared with BPF");
_Static_assert(sizeof(struct ap_unwind_mapping) == 64, "shared with BPF");
_Static_assert(sizeof(struct ap_wish) == 24, "shared with BPF");

#endif
