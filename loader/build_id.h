/* SPDX-License-Identifier: MIT */
/* The build id of an ELF file: the note that tells which debug file belongs to it. */
#ifndef ALLOCPROF_BUILD_ID_H
#define ALLOCPROF_BUILD_ID_H

#define AP_BUILD_ID_SIZE 65

/*
 * Reads NT_GNU_BUILD_ID from the program headers of the file as lower-case hex; "" when it has
 * none, when the file is no ELF file of this machine's byte order, or the note is longer than 32
 * bytes. Moves no file offset. 0, or a negative errno from reading; out is "" then too.
 */
int ap_build_id_read(int fd, char out[AP_BUILD_ID_SIZE]);

#endif
