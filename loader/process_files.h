/* SPDX-License-Identifier: MIT */
/*
 * What of a process is opened once and kept: its maps file, its memory, its root. The kernel asks
 * for rights when they are opened, and not when they are used, so a recording goes on when this
 * process has given its rights up. Good until the process executes another program.
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

/* Of a thread that is alive. 0 or a negative errno. Files start as {0}; open ones are closed. */
int ap_process_files_open(struct ap_process_files *files, pid_t tid);

/*
 * Bytes of its memory, from one page; the number read or written, or a negative errno. Without the
 * memory file it takes CAP_SYS_PTRACE each time.
 */
ssize_t ap_process_files_read(
	const struct ap_process_files *files, uint64_t address, void *to, size_t size);
ssize_t ap_process_files_write(
	const struct ap_process_files *files, uint64_t address, const void *from, size_t size);

/* The maps file from its start, for fclose(). NULL: errno says why. */
FILE *ap_process_files_maps(const struct ap_process_files *files);

/*
 * What its paths lead to for the process: O_PATH, symbolic links followed under its root. A
 * descriptor or a negative errno.
 */
int ap_process_files_path(const struct ap_process_files *files, const char *path);

/* A second owner of the memory, with the thread as the first has it; the rest is not open. */
int ap_process_files_memory_dup(const struct ap_process_files *files, struct ap_process_files *ret);

void ap_process_files_close(struct ap_process_files *files);

#endif
