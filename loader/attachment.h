/* SPDX-License-Identifier: MIT */
/*
 * The probes of one file, attached for one process. There are two ways: one uprobe_multi link where
 * the kernel has one that works, otherwise a perf event for each probe site. With either the kernel
 * raises the semaphores, and takes the probes out when this process ends, however it ends.
 */
#ifndef ALLOCPROF_ATTACHMENT_H
#define ALLOCPROF_ATTACHMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "mapping.h"
#include "usdt.h"

struct bpf_link;
struct bpf_program;

#define AP_USDT_KINDS 2

/* What is attached and how. */
struct ap_attach_programs {
	struct bpf_program *of[AP_USDT_KINDS]; /* by enum ap_usdt_kind */
	bool multi; /* loaded for uprobe_multi; false: for perf uprobes */
};

/* What attaches the sites of one kind. */
struct ap_attach_links {
	int multi; /* the link of uprobe_multi; -1: none */
	struct bpf_link *perf[AP_USDT_SITES];
	size_t perf_count;
};

/* In place of a thread: every process that has the file mapped. */
#define AP_EVERYBODY (-1)

struct ap_attachment {
	const struct ap_object *object;
	pid_t tid; /* the thread that stands for its process, or AP_EVERYBODY; 0: not attached */
	struct ap_attach_links links[AP_USDT_KINDS];
};

/*
 * Attaches to all probe sites of the file in the process of a thread; with uprobe_multi that must
 * be the first thread of the process. 0, or a negative errno when nothing is attached.
 */
int ap_attachment_open(struct ap_attachment *attachment, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, const struct ap_attach_programs *programs);

/* Takes the probes out. They go even when this process is killed on the way: see keeper.h. */
void ap_attachments_close(struct ap_attachment *attachments, size_t count);

#endif
