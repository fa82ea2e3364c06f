/* SPDX-License-Identifier: MIT */
/*
 * What programs do wrong with their heap: each must end in SIGABRT after one line that names the
 * pointer and, where there is one, the size class; never in silent reuse.
 */
#include "common.h"

#include <sched.h>

#include "region.h"
#include "sizeclass.h"

static void (*volatile do_free)(void *) = free;
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static size_t (*volatile do_usable)(void *) = malloc_usable_size;

/* What the line must name; the child fills it in before it does wrong. */
static struct {
	void *pointer;
	size_t class; /* 0: none */
} * expected;

static void expect(void *pointer, size_t class)
{
	expected->pointer = pointer;
	expected->class = class;
}

/* All cases are tried, and all that fail are told. */
static int failures;

static __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	failures++;
}

static void no_complaints(void)
{
	int count = failures;

	failures = 0;
	assert_int_equal(count, 0);
}

static void check_line(const char *name, const char *text)
{
	char pointer[32], class[48];
	const char *end = strchr(text, '\n');

	snprintf(pointer, sizeof(pointer), " 0x%lx", (unsigned long)expected->pointer);
	snprintf(class, sizeof(class), " (size class %zu)", expected->class);
	if (strncmp(text, "allocprof: ", 11) || !end || end[1])
		complain("%s: not one line of ours: \"%s\"", name, text);
	else if (!strstr(text, pointer))
		complain("%s: does not name%s: %s", name, pointer, text);
	else if (expected->class && !strstr(text, class))
		complain("%s: does not name%s: %s", name, class, text);
}

/* The body does wrong, in a child. `size` is for the name. */
static void check_death(const char *name, size_t size, void (*body)(void *), void *argument)
{
	struct ending ending;
	char text[100];

	snprintf(text, sizeof(text), "%s, %zu", name, size);
	expect(NULL, 0);
	ending = child_run(body, argument, 20);
	if (ending.hung)
		complain("%s: hangs", text);
	else if (!WIFSIGNALED(ending.status) || WTERMSIG(ending.status) != SIGABRT)
		complain("%s: not caught, status %x: %s", text, ending.status, ending.stderr_);
	else
		check_line(text, ending.stderr_);
}

/* The block size that a request of `size` gets. */
static size_t class_for(size_t size)
{
	return size <= MEDIUM_MAX ? class_size(class_of(size)) : (size + 4095) & -4096;
}

static const size_t span_sizes[] = {1, 16, 48, 100, 1024, 1280, 8192, 10240, 40000, 65536};
static const size_t all_sizes[] = {1, 48, 1024, 8192, 10240, 65536, 65537, 1 << 20, 100 << 20};

#define FOR_EACH(size, array) \
	for (const size_t *size = array; size < array + sizeof(array) / sizeof(*array); size++)

/* Double frees. */

static void double_free_at_once(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, size <= MEDIUM_MAX ? class_for(size) : 0);
	do_free(block);
	do_free(block);
	do_free(neighbour);
}

/* With others of the class freed and allocated in between, but not this one. */
static void double_free_later(void *argument)
{
	size_t size = *(size_t *)argument;
	void *blocks[40];

	for (int i = 0; i < 40; i++)
		blocks[i] = do_malloc(size);
	expect(blocks[20], class_for(size));
	do_free(blocks[20]);
	for (int i = 0; i < 20; i++)
		do_free(blocks[i]);
	for (int i = 0; i < 20; i++) {
		void *block = do_malloc(size);

		if (block == blocks[20]) {
			/* Handed out again: put it aside, and back where it was. */
			do_free(block);
			break;
		}
	}
	do_free(blocks[20]);
}

static void double_free_of_all(void *argument)
{
	size_t size = *(size_t *)argument;
	void *blocks[600];

	/* More than a span holds, so that spans are released meanwhile. */
	for (int i = 0; i < 600; i++)
		blocks[i] = do_malloc(size);
	for (int i = 0; i < 600; i++)
		do_free(blocks[i]);
	malloc_trim(0);
	expect(blocks[300], 0);
	do_free(blocks[300]);
}

static void double_free_across_realloc(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *moved = do_realloc(block, size * 4 + 200000);

	if (moved == block) /* nothing wrong to do */
		abort();
	expect(block, 0);
	do_free(block);
}

static void *free_it(void *block)
{
	do_free(block);
	return NULL;
}

static void *free_it_twice(void *block)
{
	do_free(block);
	do_free(block);
	return NULL;
}

static void in_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument))
		_exit(1);
	pthread_join(thread, NULL);
}

/* The line is written and the process ends also when the thread has been cancelled. */
static void *cancelled(void *argument)
{
	pthread_cancel(pthread_self());
	double_free_at_once(argument);
	return NULL;
}

static void double_free_in_cancelled(void *argument)
{
	in_thread(cancelled, argument);
}

/* Makes the owner look at what others have freed, and hand out every block that it has. */
static void use_up(size_t size)
{
	for (int i = 0; i < 5000; i++) {
		void *block = do_malloc(size);

		memset(block, 0x55, size < 64 ? size : 64);
	}
}

/* Freed by its owner, and then by another thread: the owner finds out when it collects. */
static void double_free_by_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	do_free(block);
	in_thread(free_it, block);
	use_up(size);
	do_free(neighbour);
}

static void double_free_after_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	in_thread(free_it, block);
	do_free(block);
	use_up(size);
	do_free(neighbour);
}

static void double_free_in_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	in_thread(free_it_twice, block);
	use_up(size);
	do_free(neighbour);
}

static void *allocate(void *argument)
{
	size_t size = *(size_t *)argument;
	static void *blocks[3];

	for (int i = 0; i < 3; i++)
		blocks[i] = do_malloc(size);
	return blocks;
}

/* The thread that allocated has ended. */
static void double_free_of_orphan(void *argument)
{
	size_t size = *(size_t *)argument;
	pthread_t thread;
	void *result, **blocks;

	if (pthread_create(&thread, NULL, allocate, argument))
		_exit(1);
	pthread_join(thread, &result);
	blocks = result;
	expect(blocks[1], class_for(size));
	do_free(blocks[1]);
	do_free(blocks[1]);
}

static void test_double_free(void **state)
{
	FOR_EACH(size, all_sizes)
	check_death("double free at once", *size, double_free_at_once, (void *)size);
	FOR_EACH(size, span_sizes)
	{
		check_death(
			"double free, cancelled", *size, double_free_in_cancelled, (void *)size);
		check_death("double free later", *size, double_free_later, (void *)size);
		check_death("double free of all", *size, double_free_of_all, (void *)size);
		check_death("across realloc", *size, double_free_across_realloc, (void *)size);
		check_death("by another thread", *size, double_free_by_other, (void *)size);
		check_death("after another thread", *size, double_free_after_other, (void *)size);
		check_death("in another thread", *size, double_free_in_other, (void *)size);
		check_death("of an orphan", *size, double_free_of_orphan, (void *)size);
	}
	no_complaints();
}

/*
 * Pointers into blocks: every one. abort is left by a jump, so that one process can try them all;
 * ap_fatal is called with no lock held.
 */
static sigjmp_buf caught;
static int message_pipe[2];

static void on_abort(int sig)
{
	siglongjmp(caught, 1);
}

/* True: action(pointer) was caught, with the right line. */
static bool is_caught(void (*action)(void *), void *pointer, size_t class)
{
	static char text[512], wanted[64];
	ssize_t length;

	if (sigsetjmp(caught, 1) == 0) {
		action(pointer);
		return false;
	}
	length = read(message_pipe[0], text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = 0;
	snprintf(wanted, sizeof(wanted), " %p (size class %zu)\n", pointer, class);
	return strstr(text, wanted) && strchr(text, '\n')[1] == 0;
}

static void free_action(void *pointer)
{
	do_free(pointer);
}

static void shrink_action(void *pointer)
{
	do_realloc(pointer, 1);
}

static void grow_action(void *pointer)
{
	do_realloc(pointer, 300000);
}

struct interior {
	size_t size, step;
	void (*action)(void *);
};

static void interior_body(void *argument)
{
	const struct interior *interior = argument;
	size_t size = class_for(interior->size), tried = 0;
	char *block, *neighbour;
	int report = dup(STDERR_FILENO);

	if (pipe(message_pipe))
		_exit(1);
	dup2(message_pipe[1], STDERR_FILENO);
	signal(SIGABRT, on_abort);
	/* The second block of its span, so that there is one before it. */
	neighbour = do_malloc(interior->size);
	block = do_malloc(interior->size);
	for (size_t at = 1; at < size; at = at < 64 ? at + 1 : at + interior->step, tried++) {
		if (!is_caught(interior->action, block + at, size)) {
			dprintf(report, "block of %zu, offset %zu: not caught\n", size, at);
			_exit(1);
		}
	}
	do_free(block);
	do_free(neighbour);
	dprintf(report, "%zu\n", tried);
}

static void test_interior(void **state)
{
	static void (*const actions[])(void *) = {free_action, shrink_action, grow_action};

	for (int k = 0; k < 3; k++) {
		FOR_EACH(size, all_sizes)
		{
			struct interior interior = {
				*size, *size > 100000 ? 4096 - 16 : 16, actions[k]};
			struct ending ending;

			if (*size == 1 || *size > 2 << 20)
				continue;
			ending = child_run(interior_body, &interior, 60);
			if (ending.hung || ending.status)
				complain("action %d: %s%s", k, ending.hung ? "hangs" : "",
					ending.stderr_);
			else if (atoi(ending.stderr_) == 0)
				complain("action %d: nothing tried", k);
		}
	}
	no_complaints();
}

/* Pointers that malloc never returned. */

static char in_bss[256] __attribute__((aligned(64)));
static char in_data[256] __attribute__((aligned(64))) = "data";
static const char in_rodata[256] __attribute__((aligned(64))) = "rodata";
static pthread_mutex_t in_mutex = PTHREAD_MUTEX_INITIALIZER;

static void foreign_free(void *pointer)
{
	expect(pointer, 0);
	do_free(pointer);
}

static void foreign_realloc(void *pointer)
{
	expect(pointer, 0);
	do_realloc(pointer, 100);
}

static void foreign_usable(void *pointer)
{
	expect(pointer, 0);
	do_usable(pointer);
}

static void test_foreign(void **state)
{
	static void (*const actions[])(void *) = {foreign_free, foreign_realloc, foreign_usable};
	char on_stack[256] __attribute__((aligned(64)));
	char *mapped =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *low = mmap((void *)(8UL << 30), 1 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *huge = do_malloc(100 << 20), *large = do_malloc(1 << 20), *some = do_malloc(100);
	void *pointers[] = {on_stack, on_stack + 16, in_bss, in_data, (void *)in_rodata, &in_mutex,
		(void *)(uintptr_t)foreign_free, mapped, mapped + 65536, mapped + 4096 + 16, low,
		low + 64, huge + 16, huge + 4096, huge + (100 << 20), (void *)1, (void *)16,
		(void *)4096, (void *)65536, (void *)(1UL << 32), (void *)(1UL << 46), (void *)-1L,
		(void *)-16L, (void *)(1UL << 63), (void *)ap_spans, span_at(some),
		(char *)(ap_limit << SLICE_SHIFT) + (1UL << 30)};

	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
			char name[80];

			snprintf(name, sizeof(name), "foreign %p, action %d, case", pointers[i], k);
			check_death(name, i, actions[k], pointers[i]);
		}
	do_free(huge);
	do_free(large);
	do_free(some);
	munmap(mapped, 1 << 20);
	munmap(low, 1 << 20);
	no_complaints();
}

/* Where a block of the size would be that has not been cut from its span yet. */
static void free_of_uncut(void *argument)
{
	size_t size = *(const size_t *)argument;
	char *block = do_malloc(size);
	struct ap_span *span = span_at(block);
	size_t last;

	if (span->kind == SPAN_TAIL)
		span -= span->slices;
	last = span->capacity - 1;
	if (span->carved > last)
		_exit(1); /* the case does not arise: the test must be mended */
	block = span_start(span) + last * span->block_size;
	expect(block, span->block_size);
	do_free(block);
}

static void test_uncut(void **state)
{
	static const size_t sizes[] = {16, 48, 64, 1000, 4096, 8192, 10240, 65536};

	FOR_EACH(size, sizes)
	check_death("free of a block never cut", *size, free_of_uncut, (void *)size);
	no_complaints();
}

/* Writes to blocks that were freed: found when they are handed out again. */

struct smash {
	size_t size, from, length;
};

static void smash_and_allocate(void *argument)
{
	const struct smash *smash = argument;
	char *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = do_malloc(smash->size);
	/* Every other one, so that no span is given back: what is there then matters to nobody. */
	for (int i = 1; i < 20; i += 2)
		do_free(blocks[i]);
	expect(blocks[7], class_for(smash->size));
	memset(blocks[7] + smash->from, 0x41, smash->length);
	use_up(smash->size);
}

/* The same to one that another thread has freed. */
static void smash_remote(void *argument)
{
	const struct smash *smash = argument;
	char *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = do_malloc(smash->size);
	for (int i = 1; i < 20; i += 2)
		in_thread(free_it, blocks[i]);
	expect(blocks[7], class_for(smash->size));
	memset(blocks[7] + smash->from, 0x41, smash->length);
	use_up(smash->size);
}

static void test_smashed(void **state)
{
	FOR_EACH(size, span_sizes)
	{
		struct smash whole = {*size, 0, *size < 16 ? 16 : *size}, first = {*size, 0, 1},
			     key = {*size, 0, 8};

		check_death("smashed", *size, smash_and_allocate, &whole);
		check_death("first byte smashed", *size, smash_and_allocate, &first);
		check_death("key smashed", *size, smash_and_allocate, &key);
		check_death("smashed after a remote free", *size, smash_remote, &whole);
		check_death("key smashed after a remote free", *size, smash_remote, &key);
	}
	no_complaints();
}

/* Overflow of a block into a free neighbour. */
static void overflow(void *argument)
{
	size_t size = class_for(*(size_t *)argument);
	char *blocks[200], *before = NULL;

	for (int i = 0; i < 200; i++)
		blocks[i] = do_malloc(size);
	/* Two that stand side by side; the second is freed, and some others. */
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < 200; k++)
			if (blocks[k] == blocks[i] + size)
				before = blocks[i];
	if (!before)
		abort();
	for (int i = 0; i < 200; i++)
		if (blocks[i] == before + size || (i % 3 == 0 && blocks[i] != before))
			do_free(blocks[i]);
	expect(before + size, size);
	memset(before, 0x41, size + 8);
	use_up(size);
}

static void test_overflow(void **state)
{
	FOR_EACH(size, span_sizes)
	check_death("overflow", *size, overflow, (void *)size);
	no_complaints();
}

/* What is reported when stderr is closed: nothing, but the process ends all the same. */
static void closed_stderr(void *argument)
{
	void *block = do_malloc(100);

	close(STDERR_FILENO);
	do_free(block);
	do_free(block);
}

static void test_closed_stderr(void **state)
{
	struct ending ending = child_run(closed_stderr, NULL, 20);

	assert_true(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGABRT);
	assert_int_equal(ending.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_double_free),
		cmocka_unit_test(test_interior),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_uncut),
		cmocka_unit_test(test_smashed),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_closed_stderr),
	};

	expected = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
