// SPDX-License-Identifier: MIT
#include "meta.h"

#include "lock.h"
#include "os.h"
#include "types.h"

#define CHUNK ((size_t)128 * 1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;

void ap_meta_lock(void)
{
	lock_take(&lock);
}

void ap_meta_unlock(void)
{
	lock_give(&lock);
}

void *ap_meta_alloc(size_t size)
{
	void *memory = NULL;

	size = (size + 63) & ~(size_t)63;
	ap_meta_lock();
	if ((size_t)(end - next) < size) {
		size_t chunk = size > CHUNK ? (size + PAGE_SIZE - 1) & -PAGE_SIZE : CHUNK;
		char *fresh = ap_os_map(chunk);

		if (!fresh)
			goto out;
		next = fresh;
		end = fresh + chunk;
	}
	memory = next;
	next += size;
out:
	ap_meta_unlock();
	return memory;
}
