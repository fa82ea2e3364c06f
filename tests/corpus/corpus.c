// SPDX-License-Identifier: MIT
/*
 * A program that fires the alloc probe from all sorts of stacks, in two rounds, each when a byte
 * comes on its standard input. Built with many compilers and options; what allocprof records in
 * the first round must be what gdb prints in the second.
 *
 * Nothing here may depend on the round: no static counters, no threads that outlive it.
 */
#include <alloca.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef PLUGIN
#include <dlfcn.h>
#endif

#include <allocprof/probe.h>

#include "corpus.h"

#define NOINLINE __attribute__((noinline))

/* No tail calls, and no code moved across. */
#define BARRIER() __asm__ volatile("" ::: "memory")

AP_SEMAPHORE volatile uint16_t alloc_semaphore;
AP_SEMAPHORE volatile uint16_t free_semaphore;

NOINLINE void fire(unsigned long size)
{
	register uint64_t arg0 __asm__(AP_ARG0) = 0x1000 * size;
	register uint64_t arg1 __asm__(AP_ARG1) = size;
	register uint64_t arg2 __asm__(AP_ARG2) = size;

	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore",
		AP_ARGS3) AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2)
			 : "memory");
}

static NOINLINE void recurse(unsigned int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		fire(1);
	BARRIER();
}

static NOINLINE void with_alloca(size_t length)
{
	char *memory = alloca(length);

	memset(memory, 1, length);
	fire(2);
	__asm__ volatile("" ::"r"(memory) : "memory");
}

static NOINLINE int with_vla(size_t length)
{
	int numbers[length];

	memset(numbers, 1, sizeof(numbers));
	fire(3);
	BARRIER();
	return numbers[length - 1];
}

/* A stack that is aligned anew: gcc keeps the CFA in memory then. */
static NOINLINE void realigned(size_t length)
{
	_Alignas(64) char aligned[128];
	char *memory = alloca(length);

	memset(aligned, 2, sizeof(aligned));
	memset(memory, 3, length);
	fire(4);
	__asm__ volatile("" ::"r"(aligned), "r"(memory) : "memory");
}

static NOINLINE void large_frame(void)
{
	char large[300000];

	memset(large, 4, sizeof(large));
	fire(5);
	__asm__ volatile("" ::"r"(large) : "memory");
}

/* Every register that a callee has to save. */
static NOINLINE long many_registers(long a, long b, long c, long d, long e, long f)
{
	long x = a * b, y = c * d, z = e * f, u = a ^ f, v = b ^ e, w = c ^ d;

	fire(6);
	BARRIER();
	return x + y * z - u * v + w + a + b + c + d + e + f;
}

static NOINLINE long many_arguments(
	long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	fire(7);
	BARRIER();
	return a + b + c + d + e + f + g + h + i + j;
}

static int compare(const void *a, const void *b)
{
	if (*(const int *)a == 3 && *(const int *)b == 1)
		fire(8);
	return *(const int *)a - *(const int *)b;
}

static void visit(const void *node, VISIT which, int depth)
{
	if (which == leaf && !depth)
		fire(9);
}

static NOINLINE void callbacks(void)
{
	int numbers[] = {3, 1, 2};
	static int key;
	void *root = NULL;

	qsort(numbers, 3, sizeof(*numbers), compare);
	tsearch(&key, &root, compare);
	twalk(root, visit);
	tdelete(&key, &root, compare);
}

/* ---- Signals ---- */

static void on_raise(int number)
{
	fire(10);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	fire(11);
	at->uc_mcontext.gregs[REG_RIP] += 2; /* behind the ud2 */
}

static NOINLINE void fault_in_leaf(void)
{
	__asm__ volatile("ud2");
}

/* With the stack pointer moved and registers pushed, in a function that calls nothing. */
static NOINLINE long fault_in_frame(long a, long b)
{
	volatile long space[16];

	space[a & 15] = b;
	__asm__ volatile("ud2" ::: "rbx", "r12", "r13", "r14", "r15", "memory");
	return space[b & 15];
}

static NOINLINE void signals(void)
{
	static char stack[65536];
	struct sigaction action = {.sa_handler = on_raise};
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, NULL);
	fault_in_leaf();
	fault_in_frame(3, 4);
	/* The same on a stack of its own. */
	sigaltstack(&other, NULL);
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGILL, &action, NULL);
	fault_in_frame(5, 6);
	other.ss_flags = SS_DISABLE;
	sigaltstack(&other, NULL);
	BARRIER();
}

/* ---- Other stacks ---- */

static void *thread_main(void *argument)
{
	recurse(7);
	fire((uintptr_t)argument);
	return NULL;
}

static void cleanup(void *argument)
{
	fire(13);
}

static void *thread_cancelled(void *argument)
{
	pthread_cleanup_push(cleanup, NULL);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

static void key_destroy(void *value)
{
	fire(14);
}

static void *thread_with_key(void *argument)
{
	pthread_setspecific(*(pthread_key_t *)argument, argument);
	return NULL;
}

static NOINLINE void threads(void)
{
	pthread_key_t key;
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, (void *)12);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, thread_cancelled, NULL);
	pthread_join(thread, NULL);
	pthread_key_create(&key, key_destroy);
	pthread_create(&thread, NULL, thread_with_key, &key);
	pthread_join(thread, NULL);
	pthread_key_delete(key);
}

static ucontext_t outside, inside;

static void coroutine_main(void)
{
	recurse(3);
	fire(15);
}

static NOINLINE void coroutine(void)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine_main, 0);
	swapcontext(&outside, &inside);
	fire(16);
	BARRIER();
}

static NOINLINE void jump(jmp_buf *target)
{
	fire(17);
	longjmp(*target, 1);
}

static NOINLINE void jumps(void)
{
	jmp_buf target;

	if (!setjmp(target))
		jump(&target);
	else
		fire(18);
	BARRIER();
}

/* ---- A library that binds its symbols lazily ---- */

#ifdef PLUGIN
static void *plugin_load(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	void *run = library ? dlsym(library, "plugin_run") : NULL;

	if (run)
		return run;
	puts(dlerror());
	exit(1);
}

static NOINLINE void plugin(void *run)
{
	((void (*)(void (*)(unsigned long)))run)(fire);
	BARRIER();
}
#endif

static NOINLINE void stacks(void)
{
	fire(100);
	recurse(110);
	with_alloca(1000);
	with_vla(100);
	realigned(77);
	large_frame();
	many_registers(1, 2, 3, 4, 5, 6);
	many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	callbacks();
	signals();
	threads();
	coroutine();
	jumps();
	cxx_stacks();
}

int main(int argc, char **argv)
{
	/* One loop, and not the two rounds one after the other. */
	volatile int round = 0;
	char byte;
#ifdef PLUGIN
	/* Copies of one library, one for each round: what has been bound is not bound again. */
	void *plugins[2] = {plugin_load(argv[1]), plugin_load(argv[2])};
#endif

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	while (round < 2 && read(0, &byte, 1) == 1) {
		stacks();
#ifdef PLUGIN
		plugin(plugins[round]);
#endif
		round++;
		puts("done");
	}
	return 0;
}
