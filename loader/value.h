/* SPDX-License-Identifier: MIT */
/* The values of a profile as text. */
#ifndef ALLOCPROF_VALUE_H
#define ALLOCPROF_VALUE_H

#include <stdint.h>

#include "profile.h"

#define AP_VALUE_TEXT 32

/* "live bytes", "allocated objects"; other types, of other profilers, keep their names. */
const char *ap_value_name(const struct ap_value_type *type);

/* "41.2 MiB", "12345", "1.23 M". Returns out. */
char *ap_value_format(char out[AP_VALUE_TEXT], int64_t value, const struct ap_value_type *type);

#endif
