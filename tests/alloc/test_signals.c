// SPDX-License-Identifier: MIT
/*
 * A signal at every instruction of malloc and free. A process goes through its paths, from the
 * first block on, step by step under ptrace, and before each step it gets a signal, whose handler
 * looks at everything that is allocated by then and uses what a handler may use; in loops the first
 * few times. In the end every block is what it was.
 */
#include "common.h"

#include <sys/ptrace.h>
#include <sys/user.h>

#undef PAGE_SIZE /* the allocator has its own */

#include "probe.h"

#ifdef __x86_64__

#define SLOTS	512
#define REPEATS 2 /* signals at one instruction, of each walk */
#define PERIOD	1024
#define IN_HAND 24

struct block {
	unsigned char *start;
	size_t size;
};

static struct block blocks[SLOTS];
static volatile unsigned long handled;
static int nowhere;

static _Noreturn void damaged(const char *what)
{
	dprintf(STDERR_FILENO, "%s", what);
	_exit(1);
}

static void blocks_check(void)
{
	for (int i = 0; i < SLOTS; i++) {
		const struct block *block = &blocks[i];

		/* Both ends: allocators write there. */
		if (block->start && (block->start[0] != (unsigned char)i ||
					    block->start[block->size - 1] != (unsigned char)i))
			damaged("a block is damaged\n");
	}
}

static void on_signal(int sig)
{
	int saved = errno;
	struct timespec now;

	if (++handled % 100 == 0)
		blocks_check();
	errno = 77;
	if (write(nowhere, "x", 1) != 1 || clock_gettime(CLOCK_MONOTONIC, &now) || getpid() <= 1)
		damaged("the handler's own calls fail\n");
	errno = saved;
	__asm__ volatile("int3"); /* the tracer waits for this */
}

static void block_put(int i, size_t size)
{
	blocks[i].size = size;
	/* NULL while it is freed: a handler must not look at it. */
	blocks[i].start = malloc(size);
	if (!blocks[i].start)
		damaged("NULL\n");
}

static void block_fill(int i)
{
	blocks[i].start[0] = (unsigned char)i;
	blocks[i].start[blocks[i].size - 1] = (unsigned char)i;
}

static void block_drop(int i)
{
	void *start = blocks[i].start;

	blocks[i].start = NULL;
	free(start);
}

/* What is allocated and freed step by step, in a process that has not allocated before. */
static void walk_start(void)
{
	static const size_t sizes[] = {16, 100, 1000, 20000, 200000};
	unsigned char *kept[sizeof(sizes) / sizeof(*sizes)];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		kept[i] = malloc(sizes[i]);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		free(kept[i]);
}

/* Refills of a class, its list of frees taken back, and spans that fill and empty. */
static void walk_class(void)
{
	unsigned char *held[IN_HAND];

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < IN_HAND; i++) {
			held[i] = malloc(4096);
			held[i][0] = held[i][4095] = (unsigned char)i;
		}
		for (int i = 0; i < IN_HAND; i++) {
			if (held[i][0] != i || held[i][4095] != i)
				damaged("a block of the walk is damaged\n");
			free(held[i]);
		}
	}
}

static void walk_other(void)
{
	unsigned char *block = calloc(3, 100), *aligned = memalign(4096, 5000);

	block = realloc(block, 1000);
	block = realloc(block, 3000);
	block[2999] = 1;
	block = realloc(block, 70000);
	if (block[2999] != 1)
		damaged("realloc did not keep what there was\n");
	block = realloc(block, 10);
	free(aligned);
	free(block);
	malloc_trim(0);
}

/* Frees of blocks of another thread: it has ended. */
static void *thread_allocate(void *unused)
{
	for (int i = 256; i < SLOTS; i++) {
		block_put(i, 48 + i);
		block_fill(i);
	}
	return NULL;
}

static void walk_remote(void)
{
	for (int i = 256; i < 288; i++)
		block_drop(i);
}

struct walk {
	const char *name;
	void (*body)(void);
	bool others;  /* blocks are there before, this thread's and another's */
	bool sampled; /* and a profiler listens */
};

static const struct walk walks[] = {
	{"start", walk_start, false, false},
	{"class", walk_class, true, false},
	{"class, sampled", walk_class, true, true},
	{"other", walk_other, true, false},
	{"other, sampled", walk_other, true, true},
	{"remote", walk_remote, true, false},
	{"remote, sampled", walk_remote, true, true},
};

static void stop_here(void)
{
	kill(getpid(), SIGSTOP);
}

static int tracee_main(const struct walk *walk)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
#if AP_PROBES
	if (walk->sampled) {
		__atomic_store_n(&ap_period_set, PERIOD, __ATOMIC_RELAXED);
		ap_free_semaphore = ap_alloc_word.semaphore = 1;
	}
#endif
	for (int i = 0; walk->others && i < 256; i++) {
		block_put(i, 16 + i * 7);
		block_fill(i);
	}
	if (walk->others) {
		if (pthread_create(&thread, NULL, thread_allocate, NULL))
			return 2;
		pthread_join(thread, NULL);
	}
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 77;
	stop_here();
	walk->body();
	stop_here();
	blocks_check();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < SLOTS; i++) {
			if (blocks[i].start)
				block_drop(i);
			block_put(i, 1 + (i * 997 + round * 13) % 30000);
			block_fill(i);
		}
		blocks_check();
	}
	return 0;
}

/* ---- The tracer ---- */

static struct user_regs_struct registers_of(pid_t pid)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, 0, &registers))
		fail_msg("PTRACE_GETREGS: %s", strerror(errno));
	return registers;
}

/* Lets it go on, and waits until it stops: by which signal. */
static int stop_of(pid_t pid, enum __ptrace_request how, int sig)
{
	int status;

	if (ptrace(how, pid, 0, (long)sig))
		fail_msg("ptrace %d: %s", how, strerror(errno));
	if (waitpid(pid, &status, 0) != pid)
		fail_msg("waitpid: %s", strerror(errno));
	if (!WIFSTOPPED(status))
		fail_msg("ended with status %x", status);
	return WSTOPSIG(status);
}

/*
 * A signal before the next instruction; back there when its handler has returned. Whether the walk
 * has ended: its last stop was on the way.
 */
static bool signal_here(pid_t pid, const struct user_regs_struct *here)
{
	struct user_regs_struct now;
	int stop = stop_of(pid, PTRACE_CONT, SIGUSR1);
	bool ended = stop == SIGSTOP;

	if (ended)
		stop = stop_of(pid, PTRACE_CONT, 0);
	assert_int_equal(stop, SIGTRAP);
	do {
		assert_int_equal(stop_of(pid, PTRACE_SINGLESTEP, 0), SIGTRAP);
		now = registers_of(pid);
	} while (now.rip != here->rip || now.rsp != here->rsp);
	return ended;
}

static pid_t tracee_start(int index)
{
	char number[16];
	pid_t pid;
	int status;

	snprintf(number, sizeof(number), "%d", index);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL);
		execl("/proc/self/exe", "test_signals", number, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	if (!WIFSTOPPED(status))
		fail_msg("ended with status %x", status);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL), 0);
	return pid;
}

static void walk_run(int index)
{
	pid_t pid = tracee_start(index);
	struct user_regs_struct here, last = {0};
	int sent = 0, stop = SIGTRAP, status;
	/* By the end of the address: two that share it share their signals. */
	static unsigned char seen[1 << 20];

	memset(seen, 0, sizeof(seen));
	while (stop == SIGTRAP) {
		here = registers_of(pid);
		/* A repeated string instruction is one. */
		if (here.rip != last.rip && seen[here.rip % sizeof(seen)] < REPEATS) {
			seen[here.rip % sizeof(seen)]++;
			sent++;
			if (signal_here(pid, &here))
				break;
		}
		last = here;
		stop = stop_of(pid, PTRACE_SINGLESTEP, 0);
	}
	assert_true(stop == SIGTRAP || stop == SIGSTOP);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("%s: ended with status %x", walks[index].name, status);
	print_message("%s: %d signals\n", walks[index].name, sent);
	assert_true(sent > 100);
}

static void test_every_instruction(void **state)
{
	for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++)
		walk_run((int)i);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_instruction),
	};

	if (argc > 1)
		return tracee_main(&walks[strtoul(argv[1], NULL, 10)]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77;
}

#endif
