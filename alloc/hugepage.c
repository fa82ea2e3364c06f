// SPDX-License-Identifier: MIT
#include "hugepage.h"

#include "os.h"

/* A page that takes longer than this is slow: longer than 512 small ones of 1.6 us. */
#define SLOW_NS ((uint64_t)1000 * 1000)

/* For how many times as long there is none after a slow one. */
#define PAUSE ((uint64_t)20)

/* What is touched at once where huge pages are slow: more may be one block, and never be used. */
#define POPULATE_MAX (2 * HUGE_PAGE_SIZE)

/* A small page that takes longer than this is dear; so are all, if so many in a row are. */
#define DEAR_NS	 ((uint64_t)5000)
#define DEAR_ROW 4

static uint64_t pause_end; /* when to ask again, by ap_os_now() */
static uint64_t timed_at;  /* when one was timed last */
static unsigned dear;	   /* small pages in a row that were */

/* What it takes to touch a fresh page, which stays zero. */
static uint64_t touch_time(char *page)
{
	uint64_t before = ap_os_thread_time();

	*(volatile char *)page = 0;
	return ap_os_thread_time() - before;
}

static void small_populate(char *start, size_t size)
{
	if (size <= POPULATE_MAX)
		ap_os_populate(start, size);
}

void ap_hugepage_refrain(char *start)
{
	dear = touch_time(start) > DEAR_NS ? dear + 1 : 0;
}

bool ap_hugepage_is_overdue(void)
{
	return dear >= DEAR_ROW;
}

void ap_hugepage_ask(char *start, size_t size)
{
	char *page = (char *)(((uintptr_t)start + HUGE_PAGE_SIZE - 1) & -HUGE_PAGE_SIZE);
	uint64_t now = ap_os_now(), spent;
	size_t timed = page + HUGE_PAGE_SIZE - start;

	if (now < pause_end) {
		small_populate(start, size);
		return;
	}
	/*
	 * One for each tick of that clock, some milliseconds: who reserves a lot and touches little
	 * has at most that much more resident.
	 */
	if (size < timed || now == timed_at) {
		ap_os_huge(start, size);
		return;
	}
	timed_at = now;
	ap_os_huge(start, timed);
	spent = touch_time(page);
	if (spent > SLOW_NS) {
		pause_end = now + PAUSE * spent;
		small_populate(start, size);
	} else if (timed < size) {
		ap_os_huge(start + timed, size - timed);
	}
}
