/* SPDX-License-Identifier: MIT */
/*
 * What the tests of a damaged heap share: a wrong deed, done in a child, and the one line that it
 * must end in.
 */
#ifndef TESTS_ALLOC_DAMAGE_H
#define TESTS_ALLOC_DAMAGE_H

#include "common.h"

#include "sizeclass.h"

static void (*volatile do_free)(void *) = free;
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;

/* What the line must name; the child fills it in before it does wrong. */
static struct {
	void *pointer;
	size_t class; /* 0: none */
} * expected;

/* A group's setup: the children share it with the parent. */
static inline int expected_map(void **state)
{
	expected = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return expected == MAP_FAILED;
}

static inline void expect(void *pointer, size_t class)
{
	expected->pointer = pointer;
	expected->class = class;
}

/* All cases are tried, and all that fail are told. */
static int failures;

static inline __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	failures++;
}

static inline void no_complaints(void)
{
	int count = failures;

	failures = 0;
	assert_int_equal(count, 0);
}

static inline void check_line(const char *name, const char *text)
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
static inline void check_death(const char *name, size_t size, void (*body)(void *), void *argument)
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
static inline size_t class_for(size_t size)
{
	return size <= MEDIUM_MAX ? class_size(class_of(size)) : (size + 4095) & -4096;
}

static const size_t span_sizes[] = {1, 16, 48, 100, 1024, 1280, 8192, 10240, 40000, 65536};
static const size_t all_sizes[] = {1, 48, 1024, 8192, 10240, 65536, 65537, 1 << 20, 100 << 20};

#define FOR_EACH(size, array) \
	for (const size_t *size = array; size < array + sizeof(array) / sizeof(*array); size++)

static inline void *free_it(void *block)
{
	do_free(block);
	return NULL;
}

static inline void in_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument))
		_exit(1);
	pthread_join(thread, NULL);
}

/* Makes the owner look at what others have freed, and hand out every block that it has. */
static inline void use_up(size_t size)
{
	for (int i = 0; i < 5000; i++) {
		void *block = do_malloc(size);

		memset(block, 0x55, size < 64 ? size : 64);
	}
}

#endif
