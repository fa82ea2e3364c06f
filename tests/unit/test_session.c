// SPDX-License-Identifier: MIT
/* The kernel side through its own interface, where whole programs cannot reach: forced collisions
 * of stack hashes, and a thread whose first frame has no table. Needs root and BPF. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <allocprof/probe.h>

#include "session.h"
#include "target.h"

#define ROUNDS 50

AP_SEMAPHORE volatile uint16_t alloc_semaphore;
AP_SEMAPHORE volatile uint16_t free_semaphore;

static __attribute__((noinline)) void fire(uint64_t pointer, uint64_t size)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;
	register uint64_t arg1 __asm__(AP_ARG1) = size;
	register uint64_t arg2 __asm__(AP_ARG2) = size * 3;

	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore",
		AP_ARGS3) AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2)
			 : "memory");
}

/* As many stacks as depths. */
static __attribute__((noinline)) void descend(unsigned int depth, uint64_t pointer, uint64_t size)
{
	if (depth)
		descend(depth - 1, pointer, size);
	else
		fire(pointer, size);
	__asm__ volatile("");
}

/*
 * A fire in code that no unwind table covers, since it is in a section outside all functions: there
 * with a frame pointer, and back.
 */
#if defined(__x86_64__)
#define BARE_ENTER "mov %%rbp, %%rbx; mov %[frame], %%rbp; jmp 1f\n"
#define BARE_LEAVE "mov %%rbx, %%rbp; jmp 2f\n"
#define BARE_KEPT  "rbx"
#elif defined(__aarch64__)
#define BARE_ENTER "mov x19, x29; mov x29, %[frame]; b 1f\n"
#define BARE_LEAVE "mov x29, x19; b 2f\n"
#define BARE_KEPT  "x19"
#endif
#define BARE_BEGIN ".pushsection .text.bare,\"ax\"\n1:\n"
#define BARE_END   ".popsection\n2:\n"
#define BARE_SITE  AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore", AP_ARGS3)

static __attribute__((noinline)) void fire_bare(const uint64_t frame[2])
{
	register uint64_t arg0 __asm__(AP_ARG0) = 0x1000;
	register uint64_t arg1 __asm__(AP_ARG1) = 101;
	register uint64_t arg2 __asm__(AP_ARG2) = 303;

	__asm__ volatile(BARE_ENTER BARE_BEGIN BARE_SITE BARE_LEAVE BARE_END
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2), [frame] "r"(frame)
			 : "memory", BARE_KEPT);
}

/* Without stacks it fires once, from a thread's first frame that has no table. */
static void target_main(int go, int done, unsigned int stacks)
{
	const uint64_t first[2] = {0, 0};
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	if (!stacks)
		fire_bare(first);
	for (unsigned int i = 0; i < ROUNDS; i++)
		for (unsigned int depth = 0; depth < stacks; depth++)
			descend(depth, 0x1000 * (i * stacks + depth + 1), 101 + depth);
	if (write(done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Records a child that fires from `stacks` stacks, ROUNDS times each. */
static void record(
	const struct ap_session_options *options, unsigned int stacks, struct ap_snapshot *ret)
{
	struct ap_target target = {.pidfd = -1};
	struct ap_session *session;
	struct ap_error error;
	int go[2], done[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* The child ends with this process, whatever happens. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		target_main(go[0], done[1], stacks);
	}
	assert_int_equal(ap_target_open(&target, pid, &error), 0);
	assert_int_equal(ap_target_scan(&target, &error), 0);
	assert_int_equal(ap_target_check_probes(&target, &error), 0);
	assert_int_equal(ap_session_open(&session, pid, options, &error), 0);
	assert_int_equal(ap_session_unwind(session, &target.table), 0);
	for (size_t i = 0; i < target.probed_count; i++)
		assert_int_equal(ap_session_attach(session, target.probed[i].object,
					 &target.probed[i].usdt, pid, &error),
			0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	assert_int_equal(ap_session_detach(session), 0);
	assert_int_equal(ap_session_snapshot(session, ret), 0);
	ap_session_close(session);
	ap_target_clear(&target);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
}

/*
 * Checks that the site of each stack, by its depth, has what was fired. Returns
 * the number of sites.
 */
static unsigned int check_sites(const struct ap_snapshot *snapshot)
{
	uint64_t seen = 0;
	uint32_t shallow = UINT32_MAX;

	for (size_t i = 0; i < snapshot->stack_count; i++)
		if (snapshot->stacks[i].depth < shallow)
			shallow = snapshot->stacks[i].depth;
	for (size_t i = 0; i < snapshot->site_count; i++) {
		const struct ap_stack *stack =
			ap_snapshot_stack(snapshot, snapshot->site_keys[i].stack);
		uint64_t size;

		assert_non_null(stack);
		size = 101 + stack->depth - shallow;
		assert_int_equal(snapshot->sites[i].allocated.samples, ROUNDS);
		assert_int_equal(snapshot->sites[i].allocated.bytes, ROUNDS * size);
		assert_int_equal(snapshot->sites[i].allocated.weight, ROUNDS * size * 3);
		assert_int_equal(snapshot->sites[i].allocated.objects,
			(uint64_t)ROUNDS * 3 << AP_OBJECT_SHIFT);
		assert_memory_equal(&snapshot->sites[i].allocated, &snapshot->sites[i].freed,
			sizeof(struct ap_counters));
		assert_false(seen >> (size - 101) & 1);
		seen |= 1ULL << (size - 101);
	}
	return snapshot->site_count;
}

static void test_no_collision(void **state)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;

	record(&options, 30, &snapshot);
	assert_int_equal(check_sites(&snapshot), 30);
	assert_int_equal(snapshot.totals.stacks, 30);
	ap_snapshot_clear(&snapshot);
}

static void test_equal_hashes_kept_apart(void **state)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;

	options.hash_mask = 0;
	record(&options, 16, &snapshot);
	assert_int_equal(check_sites(&snapshot), 16);
	for (size_t i = 0; i < snapshot.stack_count; i++)
		assert_int_equal(snapshot.stack_ids[i], AP_STACK_FIRST + i);
	assert_int_equal(snapshot.losses[AP_LOSS_COLLISION].allocated.samples, 0);
	ap_snapshot_clear(&snapshot);
}

static void test_too_many_of_one_hash(void **state)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;

	options.hash_mask = 0;
	record(&options, 20, &snapshot);
	assert_int_equal(check_sites(&snapshot), 16);
	assert_int_equal(snapshot.losses[AP_LOSS_COLLISION].allocated.samples, 4 * ROUNDS);
	/* Frees are counted at a reserved site, too. */
	assert_int_equal(snapshot.losses[AP_LOSS_COLLISION].freed.samples, 4 * ROUNDS);
	assert_int_equal(snapshot.totals.allocated.samples, 20 * ROUNDS);
	assert_int_equal(snapshot.totals.freed.samples, 20 * ROUNDS);
	ap_snapshot_clear(&snapshot);
}

/* What is constant when the programs are verified: threads, sizes and depths. */
static void test_threads_sizes_and_depths(void **state)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;
	char comm[sizeof(struct ap_thread)] = "";

	options.by_thread = true;
	options.min_size = 105;
	options.max_size = 119;
	options.max_depth = 5;
	record(&options, 30, &snapshot);
	/* Of sizes from 101 to 130 there are 15; they fall in one class. */
	assert_int_equal(snapshot.totals.allocated.samples, 15 * ROUNDS);
	assert_int_equal(snapshot.totals.filtered.samples, 15 * ROUNDS);
	assert_int_equal(snapshot.totals.freed.samples, 15 * ROUNDS);
	/* The innermost five frames are those of descend(), of one size as of another. */
	assert_int_equal(snapshot.site_count, 1);
	assert_int_equal(snapshot.site_keys[0].size_class, 6);
	assert_int_equal(snapshot.stacks[0].depth, 5);
	assert_int_equal(snapshot.stacks[0].end, AP_END_DEEP);
	assert_int_equal(snapshot.thread_count, 1);
	assert_int_equal(snapshot.site_keys[0].thread, snapshot.thread_ids[0]);
	prctl(PR_GET_NAME, comm);
	assert_memory_equal(snapshot.threads[0].comm, comm, sizeof(comm));
	ap_snapshot_clear(&snapshot);
}

static void test_first_frame_without_table(void **state)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;

	record(&options, 0, &snapshot);
	assert_int_equal(snapshot.totals.allocated.samples, 1);
	assert_int_equal(snapshot.stack_count, 1);
	assert_int_equal(snapshot.stacks[0].depth, 1);
	assert_int_equal(snapshot.stacks[0].end, AP_END_START);
	ap_snapshot_clear(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_collision),
		cmocka_unit_test(test_equal_hashes_kept_apart),
		cmocka_unit_test(test_too_many_of_one_hash),
		cmocka_unit_test(test_threads_sizes_and_depths),
		cmocka_unit_test(test_first_frame_without_table),
	};

	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		puts("skip: needs root and a kernel with BTF");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
