// SPDX-License-Identifier: MIT
#include "kernel_array.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "error.h"

int ap_kernel_array_map(struct ap_kernel_array *array, int fd, uint64_t elements, size_t element)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	array->size = (elements * element + page - 1) / page * page;
	array->memory = mmap(NULL, array->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (array->memory != MAP_FAILED)
		return 0;
	array->memory = NULL;
	return ap_errno();
}

void ap_kernel_array_unmap(struct ap_kernel_array *array)
{
	if (array->memory)
		munmap(array->memory, array->size);
	*array = (struct ap_kernel_array){0};
}

int ap_kernel_array_create(
	struct ap_kernel_array *array, const char *name, uint64_t elements, size_t element)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	int fd, err;

	if (elements > UINT32_MAX)
		return -E2BIG;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), (uint32_t)element,
		(uint32_t)elements, &options);
	if (fd < 0)
		return ap_errno();
	err = ap_kernel_array_map(array, fd, elements, element);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ap_kernel_array_put(int maps, uint32_t slot, int fd)
{
	int err = bpf_map_update_elem(maps, &slot, &fd, BPF_ANY) ? ap_errno() : 0;

	close(fd);
	return err;
}
