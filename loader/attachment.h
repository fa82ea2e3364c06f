/* SPDX-License-Identifier: MIT */
/*
 * The probes of one file, attached for one process. There are two ways: uprobe_multi where the
 * kernel has one that works, and an event of perf's for each place. Either raises the semaphores,
 * and either ends with this process, however it ends.
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
	bool multi;			       /* they are loaded for uprobe_multi */
};

/* The places of one kind. */
struct ap_attach_links {
	int multi; /* the link of uprobe_multi; -1: none */
	struct bpf_link *perf[AP_USDT_SITES];
	size_t perf_count;
};

/* In place of a thread: whoever has the file mapped. */
#define AP_EVERYBODY (-1)

struct ap_attachment {
	const struct ap_object *object;
	pid_t tid; /* the thread that stands for its process, or AP_EVERYBODY; 0: not attached */
	struct ap_attach_links links[AP_USDT_KINDS];
};

/*
 * Attaches to all places of the file on behalf of a thread, which stands for its whole process; in
 * uprobe_multi's way it has to be the first. 0 or a negative errno; nothing is attached then.
 */
int ap_attachment_open(struct ap_attachment *attachment, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, const struct ap_attach_programs *programs);

/* Takes the probes out, also when this process is killed meanwhile. */
void ap_attachments_close(struct ap_attachment *attachments, size_t count);

#endif
