/* SPDX-License-Identifier: MIT */
/* What the parts of the corpus of stacks have of each other. */
#ifndef CORPUS_H
#define CORPUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Fires otel_memory:alloc: the stack here is what is compared. */
void fire(unsigned long size);

/* corpus.cc: exceptions in flight, virtual calls, callbacks of the library. */
void cxx_stacks(void);

#ifdef __cplusplus
}
#endif

#endif
