// SPDX-License-Identifier: MIT
/*
 * Every system call by which the allocator gets or changes memory fails, at its n-th call for each
 * n in turn, and then from the n-th on. The program must see NULL and ENOMEM, keep its data, and
 * get memory again when there is some. Each case is a process of its own, so that the calls of the
 * allocator's start are among them.
 */
#include "common.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "sizeclass.h"

#ifdef __x86_64__

#define MIB    ((size_t)1 << 20)
#define BLOCKS (CLASSES * 2 + 8) /* two of each class, and large and huge ones */

/*
 * A seccomp filter traps the calls that this program's own code makes, which the allocator is
 * linked into; libc's, for the stacks of threads, pass. The handler counts them, and lets them fail
 * or makes them itself, at the one place that the filter lets through. Which calls fail: the at-th
 * and, if `on`, all later ones, of those whose letter is in `kinds`.
 */
static char kinds[8];
static long at, calls; /* atomic: calls */
static bool on;

static const struct {
	char kind;
	int number;
} trapped[] = {{'m', SYS_mmap}, {'p', SYS_mprotect}, {'a', SYS_madvise}, {'r', SYS_mremap},
	{'u', SYS_munmap}};

#define TRAPPED (sizeof(trapped) / sizeof(*trapped))

extern const char fault_return[]; /* what the instruction pointer is in the call let through */

static __attribute__((noinline)) long real_call(long number, const greg_t *registers)
{
	register long r10 __asm__("r10") = registers[REG_R10];
	register long r8 __asm__("r8") = registers[REG_R8];
	register long r9 __asm__("r9") = registers[REG_R9];

	__asm__ volatile("syscall\nfault_return:"
			 : "+a"(number)
			 : "D"(registers[REG_RDI]), "S"(registers[REG_RSI]),
			 "d"(registers[REG_RDX]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return number;
}

static bool must_fail(int number)
{
	char kind = 0;
	long call;

	for (size_t i = 0; i < TRAPPED; i++)
		if (trapped[i].number == number)
			kind = trapped[i].kind;
	if (!kind || !strchr(kinds, kind))
		return false;
	call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	return call == at || (on && call > at);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	registers[REG_RAX] =
		must_fail(info->si_syscall) ? -ENOMEM : real_call(info->si_syscall, registers);
}

#define WORD(field, half) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + (half))
#define JUMP(test, value, yes, no) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, value, yes, no)

static void traps_set(void)
{
	extern const char __executable_start[], etext[];
	uint64_t start = (uintptr_t)__executable_start, end = (uintptr_t)etext,
		 pass = (uintptr_t)fault_return;
	struct sock_filter filter[] = {
		WORD(instruction_pointer, 4),
		JUMP(JEQ, start >> 32, 0, 12),
		WORD(instruction_pointer, 0),
		JUMP(JEQ, (uint32_t)pass, 10, 0),
		JUMP(JGE, (uint32_t)start, 0, 9),
		JUMP(JGE, (uint32_t)end, 8, 0),
		WORD(nr, 0),
		JUMP(JEQ, trapped[0].number, 5, 0),
		JUMP(JEQ, trapped[1].number, 4, 0),
		JUMP(JEQ, trapped[2].number, 3, 0),
		JUMP(JEQ, trapped[3].number, 2, 0),
		JUMP(JEQ, trapped[4].number, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};

	_Static_assert(TRAPPED == 5, "the filter has a line for each");
	sigaction(SIGSYS, &action, NULL);
	/* Text on both sides of a 4 GiB boundary is too rare to handle: its calls just pass. */
	if (start >> 32 != end >> 32)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* Before the first allocation. FAULT is KINDS:N or KINDS:N+. */
__attribute__((constructor(101))) static void faults_start(void)
{
	const char *fault = getenv("FAULT");
	char plus = 0;

	if (!fault || sscanf(fault, "%7[a-z]:%ld%c", kinds, &at, &plus) < 2)
		return;
	on = plus == '+';
	traps_set();
}

/* What a process does with its memory. */

struct block {
	unsigned char *start;
	size_t size;
};

struct work {
	int count; /* of blocks */
	struct block blocks[BLOCKS];
	unsigned refused;
	bool failed;
};

static __attribute__((format(printf, 1, 2))) _Noreturn void damaged(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vdprintf(STDERR_FILENO, format, arguments);
	va_end(arguments);
	_exit(1);
}

static unsigned char pattern(const struct block *block, size_t i)
{
	return (unsigned char)(i * 7 + block->size);
}

static size_t step_of(size_t size)
{
	return size > 4096 ? size / 16 + 1 : 1;
}

static void block_fill(struct block *block)
{
	for (size_t i = 0; i < block->size; i += step_of(block->size))
		block->start[i] = pattern(block, i);
}

static void block_verify(const struct block *block, size_t upto)
{
	for (size_t i = 0; i < upto; i += step_of(block->size))
		if (block->start[i] != pattern(block, i))
			damaged("block of %zu damaged at %zu\n", block->size, i);
}

/* errno was 0 before the call that gave `block`. */
static bool is_refused(struct work *work, const void *block)
{
	if (block)
		return false;
	if (errno != ENOMEM)
		damaged("NULL, and errno is %d\n", errno);
	work->refused++;
	return true;
}

static size_t work_size(int i)
{
	static const size_t large[] = {65537, 200000, MIB, 3 * MIB, 2 * MIB, 65 * MIB, 70 * MIB};

	return i < CLASSES * 2 ? class_size(i / 2) - i % 2 : large[(i - CLASSES * 2) % 7];
}

static void work_allocate(struct work *work)
{
	for (int i = 0; i < work->count; i++) {
		struct block *block = &work->blocks[i];

		if (block->start)
			continue;
		block->size = work_size(i);
		errno = 0;
		if (i % 5 == 0) {
			block->start = calloc(1, block->size);
			for (size_t k = 0; block->start && k < block->size;
				k += step_of(block->size))
				if (block->start[k])
					damaged("calloc of %zu: not zero at %zu\n", block->size, k);
		} else if (i % 5 == 1) {
			block->start = memalign(i % 3 == 0   ? 4096
						: i % 3 == 1 ? MIB
							     : 100,
				block->size);
		} else {
			block->start = malloc(block->size);
		}
		if (!is_refused(work, block->start))
			block_fill(block);
	}
}

static void work_resize(struct work *work, bool grow)
{
	for (int i = 0; i < work->count; i++) {
		struct block *block = &work->blocks[i], next;

		if (!block->start)
			continue;
		next.size = grow ? block->size * 2 + 1 : block->size / 2 + 1;
		errno = 0;
		next.start = realloc(block->start, next.size);
		if (is_refused(work, next.start)) {
			block_verify(block, block->size);
			continue;
		}
		/* The same steps as when it was filled, so far as it has been kept. */
		for (size_t k = 0; k < block->size && k < next.size; k += step_of(block->size))
			if (next.start[k] != pattern(block, k))
				damaged("realloc from %zu to %zu: damaged at %zu\n", block->size,
					next.size, k);
		*block = next;
		block_fill(block);
	}
}

static void work_free(struct work *work, int every)
{
	for (int i = 0; i < work->count; i += every) {
		struct block *block = &work->blocks[i];

		if (!block->start)
			continue;
		block_verify(block, block->size);
		errno = 12345;
		free(block->start);
		if (errno != 12345)
			damaged("free changed errno to %d\n", errno);
		block->start = NULL;
	}
}

static void *work_do(void *argument)
{
	struct work *work = argument;

	work_allocate(work);
	work_resize(work, true);
	work_free(work, 2);
	malloc_trim(0);
	work_allocate(work);
	work_resize(work, false);
	work_free(work, 3);
	malloc_trim(0);
	work_allocate(work);
	return NULL;
}

/* The whole scenario: in this thread, and in two others that end with their blocks still there. */
static unsigned scenario(struct work work[3])
{
	pthread_t threads[2];
	bool started[2];
	unsigned refused = 0;

	/* The threads without the blocks that take long. */
	for (int i = 0; i < 3; i++)
		work[i].count = i ? CLASSES * 2 + 4 : BLOCKS;
	work_do(&work[0]);
	for (int i = 0; i < 2; i++) {
		started[i] = pthread_create(&threads[i], NULL, work_do, &work[i + 1]) == 0;
		if (started[i])
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < 3; i++) {
		work_free(&work[i], 1);
		refused += work[i].refused;
	}
	return refused;
}

/* Prints the number of calls that could fail, and of refusals. */
static int child_main(void)
{
	static struct work faulty[3], sound[3];
	unsigned refused = scenario(faulty);
	long counted = calls;

	kinds[0] = 0;
	if (scenario(sound))
		damaged("refused though there is memory again\n");
	dprintf(STDOUT_FILENO, "%ld %u\n", counted, refused);
	return 0;
}

static void child_exec(void *fault)
{
	setenv("FAULT", fault, 1);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execl("/proc/self/exe", "test_faults", "child", NULL);
	_exit(127);
}

static void run(const char *fault, long *counted, unsigned *refused)
{
	struct ending ending = child_run(child_exec, (void *)fault, 60);

	if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
		skip();
	if (ending.hung || ending.status)
		fail_msg("%s: %s status %x: %s", fault, ending.hung ? "hangs," : "", ending.status,
			ending.stderr_);
	assert_int_equal(sscanf(ending.stderr_, "%ld %u", counted, refused), 2);
}

/* Every n for a while, then longer and longer steps, to the last. */
static void run_all(const char *which, bool from_then_on, long dense)
{
	long total, ignored;
	unsigned refused, refusals = 0;
	char fault[32];

	snprintf(fault, sizeof(fault), "%s:0", which);
	run(fault, &total, &refused);
	assert_true(total > 0);
	assert_int_equal(refused, 0);
	for (long n = 1; n <= total; n += n < dense ? 1 : n / dense + 1) {
		snprintf(fault, sizeof(fault), "%s:%ld%s", which, n, from_then_on ? "+" : "");
		run(fault, &ignored, &refused);
		refusals += refused;
	}
	/*
	 * What gets memory refuses when it fails for good; a single failure may be made up for.
	 * What gives memory back must not.
	 */
	if (strchr("mp", which[0]) && from_then_on)
		assert_true(refusals > 0);
	else if (!strchr("mp", which[0]))
		assert_int_equal(refusals, 0);
}

static void test_mmap(void **state)
{
	run_all("m", false, 60);
	run_all("m", true, 30);
}

static void test_mprotect(void **state)
{
	run_all("p", false, 30);
	run_all("p", true, 15);
}

static void test_mremap(void **state)
{
	run_all("r", false, 30);
	run_all("r", true, 2);
}

static void test_madvise(void **state)
{
	run_all("a", false, 10);
	run_all("a", true, 2);
}

static void test_munmap(void **state)
{
	run_all("u", false, 20);
	run_all("u", true, 2);
}

static void test_everything(void **state)
{
	run_all("mparu", true, 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_mprotect),
		cmocka_unit_test(test_mremap),
		cmocka_unit_test(test_madvise),
		cmocka_unit_test(test_munmap),
		cmocka_unit_test(test_everything),
	};

	if (argc > 1)
		return child_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
	return 77;
}
#endif
