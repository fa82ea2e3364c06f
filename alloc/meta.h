/* SPDX-License-Identifier: MIT */
/* Memory for the allocator's own structures: never given back, so that an address stays good. */
#ifndef ALLOC_META_H
#define ALLOC_META_H

#include <stddef.h>

/* Zeroed, aligned to a cache line. NULL: no memory. Takes the lock below, the innermost of all. */
void *ap_meta_alloc(size_t size);

/* Held across fork. */
void ap_meta_lock(void);
void ap_meta_unlock(void);

#endif
