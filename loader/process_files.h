/* SPDX-License-Identifier: MIT */
/*
 * The files of a process that are opened once and kept: its maps, its memory, its root
 * folder. The kernel checks rights when they are opened and not when they are used, so a
 * recording can go on after this process has given up its rights. They are good until the
 * process executes another program.
 */
#ifndef ALLOCPROF_PROCESS_FILES_H
#define ALLOCPROF_PROCESS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct ap_process_files {
	bool opened;
	pid_t tid;  /* the thread by which they were opened */
	int maps;   /* /proc/TID/maps */
	int memory; /* /proc/TID/mem, to read and write; -1: only its owner may open it */
	int root;   /* its root folder, O_PATH; -1: not readable */
};

/*
 * Opens them by a thread that is alive, and closes those that were open. Starts as {0}. 0 or a
 * negative errno.
 */
int ap_process_files_open(struct ap_process_files *files, pid_t tid);

/*
 * Read and write bytes of its memory within one page. Return the number of bytes, or a negative
 * errno. Without the memory file each call takes CAP_SYS_PTRACE.
 */
ssize_t ap_process_files_read(
	const struct ap_process_files *files, uint64_t address, void *to, size_t size);
ssize_t ap_process_files_write(
	const struct ap_process_files *files, uint64_t address, const void *from, size_t size);

/* The maps file as a stream at its start, to be closed with fclose(). NULL: errno says why. */
FILE *ap_process_files_maps(const struct ap_process_files *files);

/*
 * Opens with O_PATH what a path leads to for the process: symbolic links are followed below its
 * root. A descriptor or a negative errno.
 */
int ap_process_files_path(const struct ap_process_files *files, const char *path);

/*
 * Makes *ret a second owner of the open memory file; its other files are not open. 0
 * or a negative errno.
 */
int ap_process_files_memory_dup(const struct ap_process_files *files, struct ap_process_files *ret);

void ap_process_files_close(struct ap_process_files *files);

#endif
