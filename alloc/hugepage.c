// SPDX-License-Identifier: MIT
#include "hugepage.h"

#include "os.h"

/* A page that takes longer than this is slow: longer than 512 small ones where these are dear. */
#define SLOW_NS ((uint64_t)1000 * 1000)

/* For how many times as long there is none after a slow one. */
#define PAUSE ((uint64_t)20)

static uint64_t pause_end; /* when to ask again, by ap_os_now() */
static uint64_t timed_at;  /* when one was timed last */

void ap_hugepage_ask(char *start, size_t size)
{
	char *page = (char *)(((uintptr_t)start + HUGE_PAGE_SIZE - 1) & -HUGE_PAGE_SIZE);
	uint64_t now = ap_os_now(), spent;
	size_t timed = page + HUGE_PAGE_SIZE - start;

	if (now < pause_end)
		return;
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
	spent = ap_os_thread_time();
	*(volatile char *)page = 0;
	spent = ap_os_thread_time() - spent;
	if (spent > SLOW_NS)
		pause_end = now + PAUSE * spent;
	else if (timed < size)
		ap_os_huge(start + timed, size - timed);
}
