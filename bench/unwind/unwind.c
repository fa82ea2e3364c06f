// SPDX-License-Identifier: MIT
/*
 * What a sample with a stack of 30 frames costs the target: the time of a probe with allocprof's
 * programs on it, over that with a BPF program that does nothing. This process records itself.
 *
 * Prints the medians of 7 turns of 10,000 probes, the two taking turns.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <allocprof/probe.h>

#include "session.h"
#include "target.h"

#define TURNS  7
#define PROBES 10000
#define FRAMES 30 /* including those of libc and of the start */

AP_SEMAPHORE volatile uint16_t alloc_semaphore;
AP_SEMAPHORE volatile uint16_t free_semaphore;

static __attribute__((noinline)) void fire(uint64_t pointer)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;
	register uint64_t arg1 __asm__(AP_ARG1) = 16;
	register uint64_t arg2 __asm__(AP_ARG2) = 16;

	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore", AP_ARGS3)
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2)
			 : "memory");
}

/* The contract's other probe; never reached. */
static __attribute__((noinline, used)) void fire_free(uint64_t pointer)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;

	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
			 :
			 : "r"(arg0)
			 : "memory");
}

static double now_ns(void)
{
	struct timespec now;

	/* The time that other processes take does not count. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds per probe, fired from this many frames deeper. */
static __attribute__((noinline)) double measure(unsigned int deeper)
{
	static uint64_t pointer;
	double begin, took;

	if (deeper) {
		took = measure(deeper - 1);
		__asm__ volatile("" ::: "memory");
		return took;
	}
	begin = now_ns();
	for (unsigned int i = 0; i < PROBES; i++)
		fire(pointer += 16);
	return (now_ns() - begin) / PROBES;
}

/* An event on a probe's site of this program, without a program yet. */
static int event_open(const struct ap_object *object, const struct ap_usdt_site *site)
{
	char path[64];
	struct perf_event_attr attr = {.size = sizeof(attr)};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned int number = 0;

	if (!type || fscanf(type, "%u", &number) != 1)
		return -1;
	fclose(type);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", object->fd);
	attr.type = number;
	attr.config1 = (uintptr_t)path;
	attr.config2 = site->offset;
	return syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int empty_load(void)
{
	struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", instructions, 2, NULL);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), compare);
	return values[TURNS / 2];
}

/* One turn of allocprof: the tables are there already, from the cache of the session. */
static int turn_record(struct ap_target *target, const struct ap_probed *probed, double *took,
	struct ap_totals *totals, uint32_t *depth, struct ap_error *error)
{
	struct ap_session_options options = AP_SESSION_DEFAULTS;
	struct ap_snapshot snapshot;
	struct ap_session *session;
	int err = ap_session_open(&session, target->pid, &options, error);

	if (err)
		return err;
	err = ap_session_unwind(session, &target->table);
	if (!err)
		err = ap_session_attach(session, probed->object, &probed->usdt, target->pid, error);
	if (!err) {
		measure(FRAMES - 6);
		*took = measure(FRAMES - 6);
		err = ap_session_detach(session);
	}
	if (!err)
		err = ap_session_snapshot(session, &snapshot);
	if (!err) {
		*totals = snapshot.totals;
		*depth = snapshot.stack_count ? snapshot.stacks[0].depth : 0;
		ap_snapshot_clear(&snapshot);
	}
	ap_session_close(session);
	return err;
}

int main(void)
{
	struct ap_target target = {.pidfd = -1};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	const struct ap_probed *probed = NULL;
	const struct ap_usdt_site *site = NULL;
	double empty[TURNS], ours[TURNS], bare = measure(FRAMES - 6);
	struct ap_totals totals = {0};
	uint32_t depth = 0;
	int program, event, err;

	err = ap_target_open(&target, getpid(), &error);
	if (!err)
		err = ap_target_scan(&target, &error);
	if (err || !target.probed_count)
		goto out;
	probed = &target.probed[0];
	for (size_t i = 0; i < probed->usdt.count; i++)
		if (probed->usdt.site[i].kind == AP_USDT_ALLOC)
			site = &probed->usdt.site[i];
	program = empty_load();
	for (unsigned int i = 0; i < TURNS && !err; i++) {
		event = program < 0 || !site ? -1 : event_open(probed->object, site);
		if (event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program)) {
			err = -errno;
			break;
		}
		measure(FRAMES - 6);
		empty[i] = measure(FRAMES - 6);
		close(event);
		err = turn_record(&target, probed, &ours[i], &totals, &depth, &error);
	}
out:
	ap_target_clear(&target);
	if (err || !probed) {
		ap_error_print(stderr, &error);
		fprintf(stderr, "bench: %s\n", strerror(-err));
		return 1;
	}
	printf("without a consumer      %8.1f ns\n", bare);
	printf("an empty BPF program    %8.1f ns\n", median(empty));
	printf("allocprof, %3u frames   %8.1f ns, whole %llu of %llu\n", depth, median(ours),
		totals.ends[AP_END_START], totals.allocated.samples);
	printf("a sample over an empty  %8.1f ns\n", median(ours) - median(empty));
	return 0;
}
