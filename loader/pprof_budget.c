// SPDX-License-Identifier: MIT
#include "pprof_budget.h"

#include <stdlib.h>

#define MEMORY_MAX	    ((size_t)4 << 30)
#define MEMORY_PER_BYTE	    24
#define MEMORY_ALWAYS	    ((size_t)16 << 20)
#define ALLOCATION_OVERHEAD 16

static void *budget_alloc(void *data, size_t size)
{
	struct ap_pprof_budget *budget = data;

	if (size > budget->left || budget->left - size < ALLOCATION_OVERHEAD)
		return NULL;
	budget->left -= size + ALLOCATION_OVERHEAD;
	return malloc(size);
}

static void budget_free(void *data, void *memory)
{
	free(memory);
}

void ap_pprof_budget_init(struct ap_pprof_budget *budget, size_t length)
{
	budget->left = length > MEMORY_MAX / MEMORY_PER_BYTE
			       ? MEMORY_MAX
			       : length * MEMORY_PER_BYTE + MEMORY_ALWAYS;
	budget->allocator = (ProtobufCAllocator){
		.alloc = budget_alloc, .free = budget_free, .allocator_data = budget};
}
