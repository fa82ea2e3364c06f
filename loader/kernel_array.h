/* SPDX-License-Identifier: MIT */
/* Arrays of the kernel that are written as memory, and replaced as a whole in a map of maps. */
#ifndef ALLOCPROF_KERNEL_ARRAY_H
#define ALLOCPROF_KERNEL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct ap_kernel_put;

/* Starts as {0}. */
struct ap_kernel_array {
	void *memory; /* NULL: not mapped */
	size_t size;
	struct ap_kernel_put *put; /* that the kernel has not returned from; NULL: none */
};

/* Maps the array behind a descriptor, which stays the caller's. 0 or a negative errno. */
int ap_kernel_array_map(struct ap_kernel_array *array, int fd, uint64_t elements, size_t element);
void ap_kernel_array_unmap(struct ap_kernel_array *array);

/* Makes one, and maps it. Its descriptor, or a negative errno. */
int ap_kernel_array_create(
	struct ap_kernel_array *array, const char *name, uint64_t elements, size_t element);

/*
 * Puts an array into a slot of a map of maps, and closes its descriptor: the map holds it then.
 * When this returns, programs find it there. The kernel has whoever does so wait until no program
 * uses what was there before, some 10 ms; as that is nothing to us, a thread waits. 0 or a negative
 * errno.
 */
int ap_kernel_array_put(struct ap_kernel_array *array, int maps, uint32_t slot, int fd);

/* Waits for that thread, as unmapping does: it must not be left with rights that we give up. */
void ap_kernel_array_settle(struct ap_kernel_array *array);

#endif
