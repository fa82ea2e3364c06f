/* SPDX-License-Identifier: MIT */
/* pprof's files in memory: written, decompressed, read. */
#ifndef ALLOCPROF_TESTS_PPROF_BYTES_H
#define ALLOCPROF_TESTS_PPROF_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "format.h"
#include "gzip.h"

/* Bytes in memory, as a stream. */
static inline int bytes_read(
	const void *bytes, size_t length, struct ap_profile **ret, char reason[128])
{
	FILE *in = length ? fmemopen((void *)bytes, length, "r") : fopen("/dev/null", "r");
	int err;

	assert_non_null(in);
	*ret = NULL;
	reason[0] = '\0';
	err = ap_format_pprof_read(in, ret, reason, 128);
	fclose(in);
	if (err)
		assert_string_not_equal(reason, "");
	assert_true((err == 0) == (*ret != NULL));
	return err;
}

static inline char *profile_written(const struct ap_profile *profile, size_t *length)
{
	struct ap_format_options options = {0};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, length);

	assert_non_null(out);
	assert_int_equal(ap_format_pprof_write(out, profile, &options), 0);
	fclose(out);
	return bytes;
}

static inline uint8_t *decompressed(const char *bytes, size_t length, size_t *ret_length)
{
	FILE *in = fmemopen((void *)bytes, length, "r");
	uint8_t *plain;

	assert_non_null(in);
	assert_int_equal(ap_gzip_read(in, 1 << 30, &plain, ret_length), 0);
	fclose(in);
	return plain;
}

#endif
