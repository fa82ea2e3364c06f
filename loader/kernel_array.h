/* SPDX-License-Identifier: MIT */
/*
 * BPF array maps that are written through memory mappings, and replaced as a
 * whole in a map of maps.
 */
#ifndef ALLOCPROF_KERNEL_ARRAY_H
#define ALLOCPROF_KERNEL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct ap_kernel_put;

/* Starts as {0}. */
struct ap_kernel_array {
	void *memory; /* NULL: not mapped */
	size_t size;
	struct ap_kernel_put *put; /* a replacement that the kernel has not finished; NULL: none */
};

/* Maps the array behind a descriptor, which stays the caller's. 0 or a negative errno. */
int ap_kernel_array_map(struct ap_kernel_array *array, int fd, uint64_t elements, size_t element);
void ap_kernel_array_unmap(struct ap_kernel_array *array);

/*
 * Creates an array and maps it. Returns its descriptor, which is the caller's, or a negative errno.
 */
int ap_kernel_array_create(
	struct ap_kernel_array *array, const char *name, uint64_t elements, size_t element);

/*
 * Puts an array into a slot of a map of maps, and closes its descriptor, also on failure: the map
 * holds the array. When this returns, programs find it there. The kernel lets the update return
 * only when no program uses the previous array any more, some 10 ms later; nobody here depends on
 * that, so a thread waits for it. 0 or a negative errno.
 */
int ap_kernel_array_put(struct ap_kernel_array *array, int maps, uint32_t slot, int fd);

/*
 * Waits for that thread, as ap_kernel_array_unmap() does. To be called before rights are given up,
 * which the thread would keep.
 */
void ap_kernel_array_settle(struct ap_kernel_array *array);

#endif
