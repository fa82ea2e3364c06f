// SPDX-License-Identifier: MIT
/*
 * When huge pages are asked for, by a clock that the test turns: what a page takes, and the time of
 * day. (Linked with --wrap for the three functions.)
 */
#include "common.h"

#include "hugepage.h"
#include "os.h"

#define MS    ((uint64_t)1000 * 1000)
#define PAGES 8

void __real_ap_os_huge(void *address, size_t size);
uint64_t __real_ap_os_now(void);
uint64_t __real_ap_os_thread_time(void);
void __wrap_ap_os_huge(void *address, size_t size);
uint64_t __wrap_ap_os_now(void);
uint64_t __wrap_ap_os_thread_time(void);

static bool turned;   /* the clocks are the test's; else they are what they are */
static uint64_t day;  /* what the time of day is */
static uint64_t page; /* what the next page that is timed takes */
static char *asked;   /* the end of what has been asked for */
static size_t bytes;  /* of it */
static int timed;     /* how many looks at the thread's time */

void __wrap_ap_os_huge(void *address, size_t size)
{
	if (!turned) {
		__real_ap_os_huge(address, size);
		return;
	}
	asked = (char *)address + size;
	bytes += size;
}

uint64_t __wrap_ap_os_now(void)
{
	return turned ? day : __real_ap_os_now();
}

/* Each second look is `page` later. */
uint64_t __wrap_ap_os_thread_time(void)
{
	if (!turned)
		return __real_ap_os_thread_time();
	timed++;
	return timed % 2 ? 1000 * MS : 1000 * MS + page;
}

static char *memory; /* PAGES huge pages and one more, aligned, and small as long as nobody asks */

static size_t resident(void)
{
	unsigned char in[(PAGES + 1) * HUGE_PAGE_SIZE / 4096];
	size_t count = 0;

	assert_int_equal(mincore(memory, sizeof(in) * 4096, in), 0);
	for (size_t i = 0; i < sizeof(in); i++)
		count += in[i] & 1;
	return count;
}

/* What is asked for of `size` bytes, at a time of day, if a page takes that long. */
static size_t ask(uint64_t when, uint64_t takes, char *start, size_t size)
{
	day = when;
	page = takes;
	bytes = 0;
	turned = true;
	ap_hugepage_ask(start, size);
	turned = false;
	return bytes;
}

static void test_fast_and_slow(void **state)
{
	size_t all = PAGES * HUGE_PAGE_SIZE;

	/* Fast: all of it, and the first page is there. */
	assert_int_equal(ask(1000 * MS, MS / 5, memory, all), all);
	assert_ptr_equal(asked, memory + all);
	assert_int_equal(timed, 2);
	assert_int_equal(resident(), 1);
	assert_int_equal(memory[0], 0);
	/* Within the same tick it is not timed again, however many ask. */
	assert_int_equal(ask(1000 * MS, 5 * MS, memory + HUGE_PAGE_SIZE, all), all);
	assert_int_equal(timed, 2);
	assert_int_equal(resident(), 1);
	/* Slow: no more than that page, and then none for twenty times as long. */
	assert_int_equal(ask(1004 * MS, 5 * MS, memory + HUGE_PAGE_SIZE, all), HUGE_PAGE_SIZE);
	assert_int_equal(timed, 4);
	assert_int_equal(resident(), 2);
	assert_int_equal(ask(1008 * MS, MS / 5, memory, all), 0);
	assert_int_equal(ask(1103 * MS, MS / 5, memory, all), 0);
	assert_int_equal(timed, 4);
	assert_int_equal(ask(1104 * MS, MS / 5, memory, all), all);
	assert_int_equal(timed, 6);
}

static void test_no_whole_page(void **state)
{
	char *start = memory + 4096;
	size_t size = 3 * HUGE_PAGE_SIZE, before = resident();

	/* The first whole page is behind a start that is not aligned: here there is none to time. */
	assert_int_equal(ask(2000 * MS, 5 * MS, start, 2 * HUGE_PAGE_SIZE - 8192),
		2 * HUGE_PAGE_SIZE - 8192);
	assert_int_equal(timed, 6);
	assert_int_equal(ask(2004 * MS, MS / 5, start, 2 * HUGE_PAGE_SIZE - 4096),
		2 * HUGE_PAGE_SIZE - 4096);
	assert_int_equal(timed, 8);
	assert_int_equal(ask(2008 * MS, 5 * MS, start, size), 2 * HUGE_PAGE_SIZE - 4096);
	assert_ptr_equal(asked, memory + 2 * HUGE_PAGE_SIZE);
	assert_int_equal(timed, 10);
	/* Touched at its start before, by the first test. */
	assert_int_equal(resident(), before);
}

/* While huge pages are slow, all small ones of what will be used are there at once. */
static void test_small_at_once(void **state)
{
	char *one = memory + 5 * HUGE_PAGE_SIZE, *two = one + HUGE_PAGE_SIZE;
	size_t before = resident(), pages = HUGE_PAGE_SIZE / 4096;

	if (madvise(one - 4096, 4096, MADV_POPULATE_WRITE))
		skip(); /* Linux 5.14 */
	before++;
	assert_int_equal(ask(3000 * MS, 5 * MS, one, HUGE_PAGE_SIZE), HUGE_PAGE_SIZE);
	assert_int_equal(resident(), before + pages);
	assert_int_equal(ask(3004 * MS, MS / 5, two, 2 * HUGE_PAGE_SIZE), 0);
	assert_int_equal(resident(), before + 3 * pages);
	/* More may be a block of which little is used. */
	assert_int_equal(ask(3008 * MS, MS / 5, memory, 4 * HUGE_PAGE_SIZE), 0);
	assert_int_equal(resident(), before + 3 * pages);
	for (size_t i = 0; i < 3 * HUGE_PAGE_SIZE; i += 4096)
		assert_int_equal(one[i], 0);
}

/* Four dear pages in a row make huge ones overdue, until one is cheap. */
static void test_dear_small_pages(void **state)
{
	static const struct {
		uint64_t takes;
		bool overdue;
	} pages[] = {{15000, false}, {15000, false}, {15000, false}, {1500, false}, {15000, false},
		{15000, false}, {15000, false}, {15000, true}, {15000, true}, {1500, false}};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		page = pages[i].takes;
		turned = true;
		ap_hugepage_refrain(memory + 4096);
		turned = false;
		assert_int_equal(ap_hugepage_is_overdue(), pages[i].overdue);
	}
	assert_int_equal(memory[4096], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fast_and_slow),
		cmocka_unit_test(test_no_whole_page),
		cmocka_unit_test(test_small_at_once),
		cmocka_unit_test(test_dear_small_pages),
	};
	char *start = mmap(NULL, (PAGES + 2) * HUGE_PAGE_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return 1;
	memory = (char *)(((uintptr_t)start + HUGE_PAGE_SIZE - 1) & -HUGE_PAGE_SIZE);
	/* Whatever the system does of its own accord. */
	madvise(memory, (PAGES + 1) * HUGE_PAGE_SIZE, MADV_NOHUGEPAGE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
