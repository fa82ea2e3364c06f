/* SPDX-License-Identifier: MIT */
/*
 * The memory that unpacking a pprof file may take. A real profile takes some ten times its packed
 * size; a file of empty messages, two bytes each, would take fifty times and more.
 */
#ifndef ALLOCPROF_PPROF_BUDGET_H
#define ALLOCPROF_PPROF_BUDGET_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

struct ap_pprof_budget {
	ProtobufCAllocator allocator; /* refers to the budget, which must stay where it is */
	size_t left;
};

/* Starts a budget for a file of `length` bytes. There is nothing to clear. */
void ap_pprof_budget_init(struct ap_pprof_budget *budget, size_t length);

#endif
