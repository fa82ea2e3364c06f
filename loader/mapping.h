/* SPDX-License-Identifier: MIT */
/*
 * The executable mappings of a target, and the files behind them. Files are opened once and held
 * open, so that addresses can still be symbolized after the file was deleted or replaced, or the
 * target has died.
 */
#ifndef ALLOCPROF_MAPPING_H
#define ALLOCPROF_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "build_id.h"
#include "process_files.h"

/*
 * A file that the target has mapped. Owned by the table; shared by its mappings. The kernel's vDSO
 * is such a file, too: a copy of the target's memory, with the path "[vdso]".
 */
struct ap_object {
	char *path;	 /* as the target's maps file says it, without " (deleted)" */
	int fd;		 /* open for reading, close-on-exec; -1: could not be opened */
	uint64_t device; /* with inode: which file it is */
	uint64_t inode;
	char build_id[AP_BUILD_ID_SIZE]; /* "" when the file has none */
};

/* Closes its file and frees it. */
void ap_object_free(struct ap_object *object);

/* One executable mapping. Never removed from the table, so that its id stays good after dlclose. */
struct ap_mapping {
	uint32_t id;		  /* its index in the table */
	uint64_t start, end;	  /* addresses in the target: [start, end) */
	uint64_t offset;	  /* in the file, of start */
	struct ap_object *object; /* NULL: anonymous memory (JIT) */
	const char *name;	  /* the path, or "[anon]" */
	uint32_t tables;	  /* how many tables have it: forked processes share mappings */
};

/* The files of several tables, each opened once. Starts as {0}. */
struct ap_object_set {
	struct ap_object **objects;
	uint32_t count, room;
};

struct ap_mapping_table {
	pid_t pid;		       /* the thread whose maps were read last */
	struct ap_process_files files; /* of the same process */
	struct ap_mapping **mappings;  /* in the order in which they were first seen */
	uint32_t count, room;
	struct ap_object **objects;
	uint32_t object_count, object_room;
	struct ap_object_set *shared; /* owns the files, outlives the table; NULL: it owns them */
	uint32_t *current;	      /* ids of what the last reading saw, by address */
	uint32_t current_count;
	uint32_t read_count; /* count at the last reading: later ones have higher ids */
	const struct ap_mapping *program; /* first one of the program itself; NULL: unknown */
	bool is_full; /* there was no room for more mappings: their code stays unknown */
};

/* One line of a maps file. */
struct ap_maps_line {
	uint64_t start, end, offset, device, inode;
	int executable;
	const char *path; /* into the line; "" none */
};

/*
 * Reads /proc/PID/maps and adds what is new. PID may be any thread of the process, and has to be
 * another one when the first thread has exited, whose maps are empty. 0, or a negative errno;
 * -ESRCH: no such process, or one that has exited. What was found before an error stays. A table
 * starts as {0}.
 */
int ap_mapping_table_read(struct ap_mapping_table *table, pid_t pid);

/* Adds one mapping that the process of thread tid has just made. 0 or a negative errno. */
int ap_mapping_table_add(
	struct ap_mapping_table *table, pid_t tid, const struct ap_maps_line *line);

/*
 * Fills an empty table for a process that was forked from the other's: the same mappings under the
 * same ids. Both tables must have the same `shared`. 0 or -ENOMEM.
 */
int ap_mapping_table_fork(struct ap_mapping_table *table, const struct ap_mapping_table *parent);

/* The newest mapping that holds the address, or NULL. */
struct ap_mapping *ap_mapping_find(const struct ap_mapping_table *table, uint64_t address);

/* Closes the files, unless they are shared, and frees all. The table itself belongs to the caller.
 */
void ap_mapping_table_clear(struct ap_mapping_table *table);
void ap_object_set_clear(struct ap_object_set *set);

/* Parses a line of a maps file, which is changed. 0, or -EINVAL when it is no such line. */
int ap_maps_line_parse(char *line, struct ap_maps_line *ret);

#endif
