/* SPDX-License-Identifier: MIT */
/* A name that fits in a frame of a picture. */
#ifndef ALLOCPROF_SHORT_NAME_H
#define ALLOCPROF_SHORT_NAME_H

#include <stddef.h>

/*
 * Writes a demangled C++ or Rust name without return type, arguments, template arguments and
 * qualifiers: "std::vector::push_back"; any other name as it is. Writes at most `room` bytes with
 * the final NUL; returns the bytes without it.
 */
size_t ap_short_name(char *out, size_t room, const char *name);

#endif
