/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stack walker: fills scratch->stack with the frames of the calling thread's user stack, leaf
 * first, and with the reason why it ends. It follows the tables of allocprof/unwind.h; in code that
 * has none, frame pointers.
 *
 * No helper unwinds for it: bpf_get_stack fails or answers with another thread's stack when the
 * thread has been preempted inside the program.
 *
 * Registers are read late: a caller's frame pointer stays where a callee has saved it until a rule
 * asks for it. Most never do.
 */
#ifndef ALLOCPROF_WALK_BPF_H
#define ALLOCPROF_WALK_BPF_H

#include "frame_cache.bpf.h"
#include "machine.bpf.h"
#include "maps.bpf.h"
#include "scratch.bpf.h"
#include "wish.bpf.h"

/* Frames of one call of walk_some(): 16 times this is more than AP_FRAMES. */
#define WALK_FRAMES 8
#define WALK_CALLS  16

enum walk_status { WALK_ON, WALK_OVER };

static __always_inline int walk_end(struct scratch *scratch, enum ap_end end)
{
	scratch->stack.end = end;
	return WALK_OVER;
}

/*
 * A word of the stack, into word[0]. By way of the BPF stack: hardened kernels look up what memory
 * a copy from user space goes to, which takes longer than the copy when it is a map's.
 */
static __always_inline int word_read(struct walk *walk, __u64 address)
{
	__u64 word = 0;

	walk->word_at = address;
	if (bpf_probe_read_user(&word, sizeof(word), (void *)address))
		return 1;
	walk->word[0] = word;
	return 0;
}

/* ---- Tables ---- */

/*
 * Whether what is mapped is what the table was made of: 0, or the end. After a fork only written
 * memory is in the child's page tables: its files are there as they were in its parent, but not to
 * be read before it has touched them, or the loader has.
 */
static __noinline int mapping_check(struct walk *walk, const struct ap_unwind_mapping *mapping)
{
	if (!mapping->check_at)
		return 0;
	if (!word_read(walk, mapping->check_at))
		return walk->word[0] == mapping->check ? 0 : AP_END_CODE;
	if (!walk->is_forked)
		return AP_END_READ;
	walk->unchecked = mapping->check_at;
	return 0;
}

static __always_inline int mapping_holds(const struct ap_unwind_mapping *mapping, __u64 address)
{
	return address >= mapping->start && address < mapping->end;
}

/* Makes walk->mapping the one at this place in the list, if it holds the address. 0, or the end. */
static __noinline int mapping_enter(struct walk *walk, __u32 at, __u64 address)
{
	struct ap_unwind_mapping *mapping;
	__u32 key = walk->list;
	void *mappings;
	int status;

	mappings = bpf_map_lookup_elem(&unwind_mappings, &key);
	if (!mappings)
		return AP_END_CODE;
	key = at;
	mapping = bpf_map_lookup_elem(mappings, &key);
	if (!mapping || !mapping_holds(mapping, address))
		return AP_END_CODE;
	status = mapping_check(walk, mapping);
	if (status)
		return status;
	walk->mapping = *mapping;
	walk->mapping_at = at;
	return 0;
}

/* Makes walk->mapping the one that holds the address. 0, or the end. */
static __noinline int mapping_find(struct walk *walk, __u64 address)
{
	struct ap_unwind_mapping *mapping;
	__u32 key = walk->list, low, count;
	void *mappings;
	__u64 list;

	mappings = bpf_map_lookup_elem(&unwind_mappings, &key);
	if (!mappings)
		return AP_END_CODE;
	key = 0;
	mapping = bpf_map_lookup_elem(mappings, &key);
	if (!mapping)
		return AP_END_CODE;
	list = *(volatile __u64 *)&mapping->start;
	low = list >> 32;
	count = list;
	/* The last one that starts at the address or before is in [low, low + count). */
#pragma clang loop unroll(disable)
	for (int i = 0; i < 20; i++) {
		__u32 half = count >> 1;

		if (!half)
			break;
		key = low + half;
		mapping = bpf_map_lookup_elem(mappings, &key);
		if (!mapping)
			return AP_END_CODE;
		if (mapping->start <= address)
			low += half;
		count -= half;
	}
	return mapping_enter(walk, low, address);
}

/* The number of the rule for an address in walk->mapping. */
static __noinline __u32 rule_number(struct walk *walk, __u64 address)
{
	__u64 offset = address - walk->mapping.start + walk->mapping.table_offset;
	__u32 key = walk->mapping.segment, at, count;
	struct ap_unwind_block *block;
	struct ap_unwind_page *page;
	void *array;

	if (offset >> AP_PAGE_SHIFT >= walk->mapping.pages)
		return AP_RULE_NONE;
	array = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!array)
		return AP_RULE_NONE;
	key = walk->mapping.first_page + (__u32)(offset >> AP_PAGE_SHIFT);
	page = bpf_map_lookup_elem(array, &key);
	if (!page || !page->count)
		return AP_RULE_NONE;
	key = walk->mapping.segment;
	array = bpf_map_lookup_elem(&unwind_blocks, &key);
	if (!array)
		return AP_RULE_NONE;
	key = page->block;
	block = bpf_map_lookup_elem(array, &key);
	if (!block)
		return AP_RULE_NONE;
	at = page->first;
	count = page->count;
	offset &= AP_PAGE_SIZE - 1;
#pragma clang loop unroll(disable)
	for (int i = 0; i < AP_PAGE_SHIFT + 1; i++) {
		__u32 half = count >> 1;

		if (!half)
			break;
		if (block->row[(at + half) & (AP_BLOCK_ROWS - 1)].at <= offset)
			at += half;
		count -= half;
	}
	return block->row[at & (AP_BLOCK_ROWS - 1)].rule;
}

/* ---- Registers ---- */

/* A register of the frame, into word[0]. 0, or the end. */
static __noinline int register_read(struct walk *walk, __u32 number)
{
	if (number == AP_REG_SP) {
		walk->word[0] = walk->sp;
		return 0;
	}
	if (number == AP_REG_FP) {
		if (walk->fp_lost)
			return AP_END_UNSUPPORTED;
		if (walk->fp_at) {
			if (word_read(walk, walk->fp_at))
				return AP_END_READ;
			walk->fp = walk->word[0];
			walk->fp_at = 0;
		}
		walk->word[0] = walk->fp;
		return 0;
	}
	if (number == AP_REG_BX && !walk->bx_lost) {
		if (walk->bx_at) {
			if (word_read(walk, walk->bx_at))
				return AP_END_READ;
			walk->bx = walk->word[0];
			walk->bx_at = 0;
		}
		walk->word[0] = walk->bx;
		return 0;
	}
	if (number >= AP_REGISTERS)
		return AP_END_UNSUPPORTED;
	if (walk->saved_at) {
		if (word_read(walk, walk->saved_at + 8 * machine_signal_slot(number)))
			return AP_END_READ;
		return 0;
	}
	if (!walk->is_first)
		return AP_END_UNSUPPORTED;
	walk->word[0] = walk->registers[number];
	return 0;
}

/* ---- Steps: from a frame to its caller's ---- */

static __noinline int step_signal(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	walk->is_first = 0;
	walk->saved_at = walk->sp + AP_SIGNAL_REGISTERS;
	if (word_read(walk, walk->saved_at + 8 * AP_SIGNAL_PC))
		return walk_end(scratch, AP_END_READ);
	walk->pc = walk->word[0];
	if (word_read(walk, walk->saved_at + 8 * machine_signal_slot(AP_REG_SP)))
		return walk_end(scratch, AP_END_READ);
	walk->sp = walk->word[0];
	walk->fp_at = walk->saved_at + 8 * machine_signal_slot(AP_REG_FP);
	walk->bx_at = walk->saved_at + 8 * machine_signal_slot(AP_REG_BX);
	walk->fp_lost = walk->bx_lost = 0;
	walk->is_exact = 1;
	return WALK_ON;
}

/*
 * A frame pointer of 0 marks the thread's start: the ABI asks it of _start. The caller's frame must
 * be above, and what is called a return address must be one.
 */
static __noinline int step_frame_pointer(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	__u64 frame;
	int end;

	end = register_read(walk, AP_REG_FP);
	if (end)
		return walk_end(scratch, end == AP_END_READ ? AP_END_READ : AP_END_FRAME);
	frame = walk->word[0];
	if (!frame)
		return walk_end(scratch, AP_END_START);
	if (frame < walk->sp || frame & 7)
		return walk_end(scratch, AP_END_FRAME);
	walk->word_at = frame;
	if (bpf_probe_read_user(walk->word, sizeof(walk->word), (void *)frame))
		return walk_end(scratch, AP_END_READ);
	walk->sp = frame + sizeof(walk->word);
	walk->fp = walk->word[0];
	walk->fp_at = 0;
	walk->pc = walk->word[1] & AP_CODE_MASK;
	walk->fp_lost = 0;
	walk->bx_lost = 1;
	/*
	 * As in walk_step(), but this 0 is a return address whatever led to the frame; and there is
	 * no call before it to look for.
	 */
	if (!walk->pc)
		return walk_end(scratch, AP_END_START);
	if (word_read(walk, walk->pc - 8) || !machine_is_call(walk->word[0]))
		return walk_end(scratch, AP_END_FRAME);
	return WALK_ON;
}

/* walk->cfa. 0, or the end. */
static __noinline int cfa_find(struct walk *walk, const struct ap_unwind_rule *rule)
{
	int end = register_read(walk, rule->cfa_register);

	if (end)
		return end;
	walk->cfa = walk->word[0] + (__s64)rule->cfa_offset;
	if (rule->cfa == AP_CFA_PLT && machine_plt_pushed(walk->pc, rule->cfa_add))
		walk->cfa += 8;
	if (rule->cfa == AP_CFA_DEREFERENCE) {
		if (word_read(walk, walk->cfa))
			return AP_END_READ;
		walk->cfa = walk->word[0] + (__s64)rule->cfa_add;
	}
	return 0;
}

/* The return address, into word[0]. 0, or the end. */
static __always_inline int ra_read(struct walk *walk, const struct ap_unwind_rule *rule)
{
	if (rule->ra == AP_SAVED_REG)
		return register_read(walk, rule->ra_offset);
	return word_read(walk, walk->cfa + (__s64)rule->ra_offset) ? AP_END_READ : 0;
}

static __always_inline int step_table(struct scratch *scratch, const struct ap_unwind_rule *rule)
{
	struct walk *walk = &scratch->walk;
	int end;

	if (rule->cfa == AP_CFA_REGISTER && rule->cfa_register == AP_REG_SP) {
		walk->cfa = walk->sp + (__s64)rule->cfa_offset;
	} else {
		end = cfa_find(walk, rule);
		if (end)
			return walk_end(scratch, end);
	}
	if (walk->cfa < walk->sp || (walk->cfa == walk->sp && !walk->is_first))
		return walk_end(scratch, AP_END_ORDER);
	/* Saved at frame pointer + offset: of this frame, so before it is the caller's. */
	if (rule->fp == AP_SAVED_FP) {
		end = register_read(walk, AP_REG_FP);
		if (end)
			return walk_end(scratch, end);
		walk->fp_at = walk->fp + (__s64)rule->fp_offset;
	}
	if (rule->fp == AP_SAVED_CFA)
		walk->fp_at = walk->cfa + (__s64)rule->fp_offset;
	if (rule->fp != AP_SAVED_SAME)
		walk->fp_lost = rule->fp == AP_SAVED_LOST;
	if (rule->bx == AP_SAVED_CFA)
		walk->bx_at = walk->cfa + (__s64)rule->bx_offset;
	if (rule->bx != AP_SAVED_SAME)
		walk->bx_lost = rule->bx != AP_SAVED_CFA;
	end = ra_read(walk, rule);
	if (end)
		return walk_end(scratch, end);
	walk->pc = walk->word[0] & AP_CODE_MASK;
	walk->sp = walk->cfa;
	return WALK_ON;
}

/* Adds the frame to the stack. Its rule; NULL: the walk has ended here. */
static __noinline struct ap_unwind_rule *frame_add(
	struct scratch *scratch, __u64 address, __u32 depth)
{
	struct walk *walk = &scratch->walk;
	struct frame *frame = frame_slot(address);
	struct ap_unwind_rule *rule;
	__u64 stored = address & ~AP_FRAME_KNOWN;
	__u32 number;
	int status = 0;

	if (depth >= AP_FRAMES)
		return NULL;
	/* Callers are often in the same file. */
	if (frame && frame_is_known(frame, walk, address) &&
		(mapping_holds(&walk->mapping, address) ||
			!mapping_enter(walk, frame->mapping, address))) {
		scratch->stack.frame[depth] = frame->stored;
		return &frame->rule;
	}
	if (!mapping_holds(&walk->mapping, address))
		status = mapping_find(walk, address);
	if (!status)
		stored = AP_FRAME(walk->mapping.id, address - walk->mapping.origin);
	scratch->stack.frame[depth] = stored;
	if (status == AP_END_CODE)
		wish_make(address, 0, scratch->site_key.process);
	if (status) {
		walk_end(scratch, status);
		return NULL;
	}
	number = rule_number(walk, address);
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!rule)
		walk_end(scratch, AP_END_UNSUPPORTED);
	else if (frame)
		frame_keep(frame, walk, address, stored, rule);
	return rule;
}

/* The frame at walk->pc, and on to its caller's. */
static __noinline int walk_step(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	struct ap_stack *stack = &scratch->stack;
	struct ap_unwind_rule *rule;
	__u32 depth = stack->depth;
	int status;

	/*
	 * A return address of 0 marks the thread's first frame. A thread that itself is at 0 has
	 * called through a null pointer.
	 */
	if (!walk->pc)
		return walk_end(scratch, walk->is_exact ? AP_END_CODE : AP_END_START);
	if (depth >= AP_FRAMES || depth >= max_depth)
		return WALK_OVER;
	stack->depth = depth + 1;
	rule = frame_add(scratch, walk->pc - !walk->is_exact, depth);
	if (!rule)
		return WALK_OVER;
	if (rule->cfa == AP_CFA_END)
		return walk_end(scratch, AP_END_START);
	if (rule->cfa == AP_CFA_UNSUPPORTED)
		return walk_end(scratch, AP_END_UNSUPPORTED);
	if (rule->cfa == AP_CFA_SIGNAL)
		return step_signal(scratch);
	status = rule->cfa == AP_CFA_NONE ? step_frame_pointer(scratch) : step_table(scratch, rule);
	walk->is_first = 0;
	walk->is_exact = 0;
	walk->saved_at = 0;
	return status;
}

/* Some frames more of the thread's scratch. */
static __always_inline int walk_some(void)
{
	struct scratch *scratch = scratch_mine();

	if (!scratch)
		return WALK_OVER;
#pragma clang loop unroll(disable)
	for (int i = 0; i < WALK_FRAMES; i++)
		if (walk_step(scratch) != WALK_ON)
			return WALK_OVER;
	return WALK_ON;
}

/*
 * Two ways to repeat it without the verifier following every frame. bpf_loop() is there since 5.17.
 * Before, a global function is verified once, however often it is called; newer kernels do not
 * allow it while preemption is disabled.
 */
static long walk_looped(__u32 index, void *context)
{
	return walk_some();
}

__noinline int walk_called(void)
{
	return walk_some();
}

static __always_inline void walk_begin(struct pt_regs *regs, struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	machine_registers(regs, walk->registers);
	walk->pc = PT_REGS_IP(regs);
	walk->sp = PT_REGS_SP(regs);
	walk->fp = walk->registers[AP_REG_FP];
	walk->bx = walk->registers[AP_REG_BX];
	walk->fp_at = walk->bx_at = walk->saved_at = 0;
	walk->fp_lost = walk->bx_lost = 0;
	walk->unchecked = 0;
	walk->mapping.start = walk->mapping.end = 0;
	walk->version = lists_version;
	walk->is_first = walk->is_exact = 1;
	scratch->stack.depth = 0;
	scratch->stack.end = AP_END_DEEP;
}

static __always_inline void walk_finish(struct scratch *scratch)
{
	if (scratch->stack.end == AP_END_READ)
		wish_make(0, scratch->walk.word_at, scratch->site_key.process);
	else if (scratch->walk.unchecked)
		wish_make(0, scratch->walk.unchecked, scratch->site_key.process);
}

static __noinline int walk_stack(struct pt_regs *regs, struct scratch *scratch)
{
	walk_begin(regs, scratch);
	bpf_loop(WALK_CALLS, walk_looped, NULL, 0);
	walk_finish(scratch);
	return 0;
}

static __noinline int walk_stack_without_loop(struct pt_regs *regs, struct scratch *scratch)
{
	walk_begin(regs, scratch);
#pragma clang loop unroll(disable)
	for (int i = 0; i < WALK_CALLS; i++)
		if (walk_called() != WALK_ON)
			break;
	walk_finish(scratch);
	return 0;
}

#endif
