// SPDX-License-Identifier: MIT
#include "kernel_array.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "error.h"

#define PUT_POLL_US 50

int ap_kernel_array_map(struct ap_kernel_array *array, int fd, uint64_t elements, size_t element)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*array = (struct ap_kernel_array){0};
	array->size = (elements * element + page - 1) / page * page;
	array->memory = mmap(NULL, array->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (array->memory != MAP_FAILED)
		return 0;
	array->memory = NULL;
	return ap_errno();
}

void ap_kernel_array_unmap(struct ap_kernel_array *array)
{
	ap_kernel_array_settle(array);
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

struct ap_kernel_put {
	pthread_t thread;
	int maps, fd;
	uint32_t slot;
	int err;
	atomic_bool done;
};

static void *put_main(void *argument)
{
	struct ap_kernel_put *put = argument;

	put->err = bpf_map_update_elem(put->maps, &put->slot, &put->fd, BPF_ANY) ? ap_errno() : 0;
	put->done = true;
	return NULL;
}

/* Signals are left to the main thread. */
static int put_start(struct ap_kernel_put *put)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&put->thread, NULL, put_main, put);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static bool slot_has(int maps, uint32_t slot, uint32_t id)
{
	uint32_t found;

	return !bpf_map_lookup_elem(maps, &slot, &found) && found == id;
}

/* Waits until programs can see the new array. */
static void put_watch(struct ap_kernel_put *put)
{
	struct bpf_map_info info = {0};
	uint32_t length = sizeof(info);

	if (bpf_obj_get_info_by_fd(put->fd, &info, &length))
		return;
	while (!put->done && !slot_has(put->maps, put->slot, info.id))
		usleep(PUT_POLL_US);
}

int ap_kernel_array_put(struct ap_kernel_array *array, int maps, uint32_t slot, int fd)
{
	struct ap_kernel_put *put;
	int err = -ENOMEM;

	ap_kernel_array_settle(array);
	put = calloc(1, sizeof(*put));
	if (put) {
		*put = (struct ap_kernel_put){.maps = maps, .fd = fd, .slot = slot};
		err = put_start(put);
	}
	if (err) {
		/* Without a thread, this one waits. */
		free(put);
		err = bpf_map_update_elem(maps, &slot, &fd, BPF_ANY) ? ap_errno() : 0;
		close(fd);
		return err;
	}
	array->put = put;
	put_watch(put);
	if (!put->done)
		return 0;
	err = put->err;
	ap_kernel_array_settle(array);
	return err;
}

void ap_kernel_array_settle(struct ap_kernel_array *array)
{
	struct ap_kernel_put *put = array->put;

	if (!put)
		return;
	pthread_join(put->thread, NULL);
	close(put->fd);
	free(put);
	array->put = NULL;
}
