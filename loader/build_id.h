/* SPDX-License-Identifier: MIT */
/* The build id of an ELF file: the note that tells which debug file belongs to it. */
#ifndef ALLOCPROF_BUILD_ID_H
#define ALLOCPROF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

/* Build ids of more than 32 bytes are taken for none. As text: hex digits and a NUL. */
#define AP_BUILD_ID_BYTES 32
#define AP_BUILD_ID_SIZE  (2 * AP_BUILD_ID_BYTES + 1)

/* As lower-case hex; false, and "", when it is empty or longer. */
bool ap_build_id_format(char out[AP_BUILD_ID_SIZE], const void *id, size_t length);

/*
 * Reads NT_GNU_BUILD_ID from the program headers of the file as lower-case hex; "" when it has
 * none, when the file is no ELF file of this machine's byte order, or the note is too long. Moves
 * no file offset. 0, or a negative errno from reading; out is "" then too.
 */
int ap_build_id_read(int fd, char out[AP_BUILD_ID_SIZE]);

#endif
