/* SPDX-License-Identifier: MIT */
/*
 * What the allocator asks of the system. Sizes and addresses are multiples of a page. None of
 * these changes errno: free must not, and malloc sets ENOMEM itself.
 */
#ifndef ALLOC_OS_H
#define ALLOC_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fresh zeroed memory, readable and writable, wherever the kernel likes; NULL: none to be had. */
void *ap_os_map(size_t size);

/* The same at this very address. False: there is no memory, or, *taken, something is there. */
bool ap_os_map_at(void *address, size_t size, bool *taken);

/* Address space that can't be touched yet; ap_os_allow makes part of it usable. */
void *ap_os_reserve(size_t size);
bool ap_os_allow(void *address, size_t size, bool write);

void ap_os_unmap(void *address, size_t size);

/* Gives the memory back and keeps the addresses; it reads as zeroes afterwards. False: refused. */
bool ap_os_purge(void *address, size_t size);

/* Makes pages fault at every access, or usable again. False: refused, they are as they were. */
bool ap_os_guard(void *address, size_t size, bool on);

/*
 * Puts pages behind the addresses, rounded outward, without a fault for each: in a virtual machine
 * that takes 1.44 us a page and not 1.60. Only a wish: Linux 5.14 has it.
 */
void ap_os_populate(void *address, size_t size);

/* Asks for huge pages, where the administrator leaves that to us. Only a wish. */
void ap_os_huge(void *address, size_t size);

/* Moves or resizes a mapping. NULL: impossible, the old one is as it was. */
void *ap_os_remap(void *address, size_t old_size, size_t new_size, bool may_move);

/* Nanoseconds of a clock that only goes forward; exact to some milliseconds, costs a few ns. */
uint64_t ap_os_now(void);

/* Nanoseconds that the thread has run, here and in the kernel; costs a system call. */
uint64_t ap_os_thread_time(void);

/* 64 bits that nobody can foretell, or at least that differ from process to process. */
uint64_t ap_os_random(void);

/* The limit of the address space (ulimit -v), SIZE_MAX if there is none; and the memory. */
size_t ap_os_address_limit(void);
size_t ap_os_memory(void);

#endif
