/* SPDX-License-Identifier: MIT */
/*
 * The system's huge pages: 2 MiB with one page fault and one entry in the TLB, where there are such
 * pages. Where there are none the kernel, or the machine below a virtual one, has to make one first,
 * and that can take longer than 512 small ones. (Seen on one machine within a minute: 0.18 ms and
 * 4.5 ms; 512 small pages take 0.8.) So the first of those that are asked for is touched at once,
 * and timed, and after a slow one none is asked for, for twenty times as long: what slow ones cost is
 * a twentieth of a process's time at most. They come in rows, as what others have freed and the host
 * still has behind it runs out. What is used meanwhile has all its small pages at once: that takes
 * half as long as one by one.
 *
 * And small pages are timed where they are used, since there are machines (the shadow page tables of
 * one without help from the processor) on which each takes 15 us, ten times what it takes elsewhere:
 * there even small processes had better have huge ones.
 */
#ifndef ALLOC_HUGEPAGE_H
#define ALLOC_HUGEPAGE_H

#include <stdbool.h>
#include <stddef.h>

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

/*
 * Asks for huge pages behind fresh memory, and may touch and time the first whole one; while they are
 * slow it has all small ones made instead, of up to 4 MiB. The memory stays zero. Under the region's
 * lock.
 */
void ap_hugepage_ask(char *start, size_t size);

/*
 * Fresh memory is to have small pages: touches and times the first, which stays zero. Under the same
 * lock.
 */
void ap_hugepage_refrain(char *start);

/* Whether small pages are so dear that there should be no more of them. Under the same lock. */
bool ap_hugepage_is_overdue(void);

#endif
