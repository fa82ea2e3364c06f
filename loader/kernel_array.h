/* SPDX-License-Identifier: MIT */
/* Arrays of the kernel that are written as memory, and replaced as a whole in a map of maps. */
#ifndef ALLOCPROF_KERNEL_ARRAY_H
#define ALLOCPROF_KERNEL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
struct ap_kernel_array {
	void *memory; /* NULL: not mapped */
	size_t size;
};

/* Maps the array behind a descriptor, which stays the caller's. 0 or a negative errno. */
int ap_kernel_array_map(struct ap_kernel_array *array, int fd, uint64_t elements, size_t element);
void ap_kernel_array_unmap(struct ap_kernel_array *array);

/* Makes one, and maps it. Its descriptor, or a negative errno. */
int ap_kernel_array_create(
	struct ap_kernel_array *array, const char *name, uint64_t elements, size_t element);

/*
 * Puts an array into a slot of a map of maps, and closes its descriptor: the map holds it then.
 * Takes the kernel some 10 ms, until no program uses the one before. 0 or a negative errno.
 */
int ap_kernel_array_put(int maps, uint32_t slot, int fd);

#endif
