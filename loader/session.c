// SPDX-License-Identifier: MIT
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <allocprof/unwind.h>

#include "allocprof.skel.h"
#include "preflight.h"

/* How long a thread may take to leave a program after the probes are out: only preemption delays
 * it, so this is very long. */
#define LEAVE_TRIES    500
#define LEAVE_PAUSE_NS (10 * 1000000L)

/* Of a stack that is not resident, at once. */
#define TOUCH_PAGES 16

/* A file's probes. The links of allocation and free are kept apart: see ap_session_detach(). */
struct attachment {
	const struct ap_object *object;
	pid_t tid;
	struct bpf_link *link[AP_USDT_SITES];
	enum ap_usdt_kind kind[AP_USDT_SITES];
	size_t count;
};

struct ap_session {
	struct allocprof_bpf *skeleton;
	struct bpf_program *on_alloc; /* the one of the two that is loaded */
	struct ap_unwind *unwind;
	struct ring_buffer *wishes;
	pid_t wishes_tid; /* while they are taken: whose memory */
	bool wants_mappings;
	struct attachment *attachments;
	size_t attachment_count;
};

/* libbpf has one print function for the whole process. */
static void (*print_to)(const char *text);

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;
	int length;

	if (!print_to)
		return 0;
	length = vasprintf(&text, format, args);
	if (length < 0)
		return 0;
	print_to(text);
	free(text);
	return length;
}

static int maps_size(struct allocprof_bpf *skeleton, const struct ap_session_options *options)
{
	int err = bpf_map__set_max_entries(skeleton->maps.stacks, options->max_stacks);

	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.sites, options->max_stacks);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.live, options->max_live);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.scratches, options->max_inside);
	return err;
}

/* Brings memory in by reading it, and what is above it on the stack. What cannot be read is none.
 */
static void memory_touch(pid_t tid, uint64_t address)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct iovec to, from;
	char byte;

	for (unsigned int i = 0; i < TOUCH_PAGES; i++) {
		from = (struct iovec){(void *)(uintptr_t)(address + i * page), 1};
		to = (struct iovec){&byte, 1};
		if (process_vm_readv(tid, &to, 1, &from, 1, 0) != 1)
			return;
	}
}

static int wish_take(void *context, void *data, size_t size)
{
	struct ap_session *session = context;
	const struct ap_wish *wish = data;

	if (size < sizeof(*wish))
		return 0;
	session->wants_mappings |= wish->code != 0;
	if (wish->memory)
		memory_touch(session->wishes_tid, wish->memory);
	return 0;
}

int ap_session_wish_fd(const struct ap_session *session)
{
	return ring_buffer__epoll_fd(session->wishes);
}

bool ap_session_wishes_take(struct ap_session *session, pid_t tid)
{
	session->wishes_tid = tid;
	session->wants_mappings = false;
	ring_buffer__consume(session->wishes);
	return session->wants_mappings;
}

/* The tables' side of the programs. */
static int unwind_open(struct ap_session *session)
{
	struct ap_unwind_maps maps = {
		.blocks = bpf_map__fd(session->skeleton->maps.unwind_blocks),
		.pages = bpf_map__fd(session->skeleton->maps.unwind_pages),
		.mappings = bpf_map__fd(session->skeleton->maps.unwind_mappings),
		.rules = bpf_map__fd(session->skeleton->maps.unwind_rules),
	};
	int err = ap_unwind_new(&session->unwind, &maps);

	if (err)
		return err;
	session->wishes = ring_buffer__new(
		bpf_map__fd(session->skeleton->maps.wishes), wish_take, session, NULL);
	return session->wishes ? 0 : -errno;
}

int ap_session_unwind(struct ap_session *session, const struct ap_mapping_table *table)
{
	return ap_unwind_update(session->unwind, table);
}

const struct ap_unwind_counts *ap_session_unwind_counts(const struct ap_session *session)
{
	return ap_unwind_counts(session->unwind);
}

int ap_session_open(struct ap_session **ret, pid_t pid, const struct ap_session_options *options,
	struct ap_error *error)
{
	struct ap_preflight preflight;
	struct ap_session *session;
	int err = ap_preflight(&preflight, error);

	if (err)
		return err;
	session = calloc(1, sizeof(*session));
	if (!session) {
		ap_error_what(error, AP_EXIT_FAILURE, "out of memory");
		return -ENOMEM;
	}
	print_to = options->log;
	libbpf_set_print(print);
	session->skeleton = allocprof_bpf__open();
	if (!session->skeleton) {
		err = -errno;
		goto out;
	}
	session->skeleton->rodata->process_id = pid;
	session->skeleton->rodata->hash_mask = options->hash_mask;
	session->skeleton->rodata->has_preempt_disable = preflight.has_preempt_disable;
	session->on_alloc = preflight.has_loop ? session->skeleton->progs.on_alloc
					       : session->skeleton->progs.on_alloc_without_loop;
	bpf_program__set_autoload(preflight.has_loop
					  ? session->skeleton->progs.on_alloc_without_loop
					  : session->skeleton->progs.on_alloc,
		false);
	err = maps_size(session->skeleton, options);
	if (!err)
		err = allocprof_bpf__load(session->skeleton);
	if (!err)
		err = unwind_open(session);
out:
	if (err) {
		/* Who may not load a program gets EPERM: EACCES is the verifier's. */
		ap_preflight_explain(error, err == -EACCES ? -EINVAL : err,
			"the kernel does not take the BPF programs");
		ap_session_close(session);
		return err;
	}
	*ret = session;
	return 0;
}

static void links_destroy(struct attachment *attachment, enum ap_usdt_kind kind)
{
	for (size_t i = 0; i < attachment->count; i++) {
		if (attachment->kind[i] != kind)
			continue;
		bpf_link__destroy(attachment->link[i]);
		attachment->link[i] = NULL;
	}
}

static void attachment_destroy(struct attachment *attachment)
{
	links_destroy(attachment, AP_USDT_ALLOC);
	links_destroy(attachment, AP_USDT_FREE);
	attachment->count = 0;
}

/* Takes the file by its descriptor: its path may lead to another file by now, or to none. */
static int links_attach(struct ap_session *session, struct attachment *attachment,
	const struct ap_usdt *usdt, enum ap_usdt_kind kind, pid_t tid)
{
	struct bpf_program *program =
		kind == AP_USDT_ALLOC ? session->on_alloc : session->skeleton->progs.on_free;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", attachment->object->fd);
	for (size_t i = 0; i < usdt->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = usdt->site[i].semaphore);
		struct bpf_link *link;

		if (usdt->site[i].kind != kind)
			continue;
		link = bpf_program__attach_uprobe_opts(
			program, tid, path, usdt->site[i].offset, &options);
		if (!link)
			return -errno;
		attachment->kind[attachment->count] = kind;
		attachment->link[attachment->count++] = link;
	}
	return 0;
}

static bool same_file(int left, int right)
{
	struct stat a, b;

	return !fstat(left, &a) && !fstat(right, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static struct attachment *attachment_get(struct ap_session *session, const struct ap_object *object)
{
	struct attachment *grown;

	for (size_t i = 0; i < session->attachment_count; i++)
		if (same_file(session->attachments[i].object->fd, object->fd))
			return &session->attachments[i];
	grown = reallocarray(session->attachments, session->attachment_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	session->attachments = grown;
	grown += session->attachment_count++;
	memset(grown, 0, sizeof(*grown));
	grown->object = object;
	return grown;
}

int ap_session_attach(struct ap_session *session, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, struct ap_error *error)
{
	struct attachment fresh = {.object = object, .tid = tid};
	struct attachment *attachment = attachment_get(session, object);
	int err;

	if (!attachment) {
		ap_error_what(error, AP_EXIT_FAILURE, "out of memory");
		return -ENOMEM;
	}
	if (attachment->tid == tid)
		return 0;
	/* Frees first: of every block that is seen allocated, the free is seen too. */
	err = links_attach(session, &fresh, usdt, AP_USDT_FREE, tid);
	if (!err)
		err = links_attach(session, &fresh, usdt, AP_USDT_ALLOC, tid);
	if (err) {
		attachment_destroy(&fresh);
		if (err == -ESRCH)
			ap_error_what(error, AP_EXIT_NO_PROCESS,
				"the process exited before it could be attached");
		else
			ap_preflight_explain(error, err, "the kernel does not attach the probes");
		return err;
	}
	attachment_destroy(attachment);
	*attachment = fresh;
	return 0;
}

int ap_session_detach(struct ap_session *session)
{
	struct timespec pause = {.tv_nsec = LEAVE_PAUSE_NS};
	struct ap_totals totals;
	int err = 0;

	/* One store, after which neither probe counts. */
	session->skeleton->bss->closed = 1;
	for (size_t i = 0; i < session->attachment_count; i++)
		links_destroy(&session->attachments[i], AP_USDT_ALLOC);
	for (size_t i = 0; i < session->attachment_count; i++)
		attachment_destroy(&session->attachments[i]);
	for (int i = 0; i < LEAVE_TRIES; i++) {
		err = ap_session_totals(session, &totals);
		if (err || totals.entered == totals.left)
			return err;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

int ap_session_totals(const struct ap_session *session, struct ap_totals *ret)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(session->skeleton->maps.totals), &zero, ret))
		return -errno;
	return 0;
}

int ap_session_losses(const struct ap_session *session, struct ap_site ret[AP_LOSSES])
{
	for (uint32_t i = 0; i < AP_LOSSES; i++)
		if (bpf_map_lookup_elem(bpf_map__fd(session->skeleton->maps.losses), &i, &ret[i]))
			return -errno;
	return 0;
}

int ap_session_snapshot(const struct ap_session *session, struct ap_snapshot *ret)
{
	struct ap_snapshot_maps maps = {
		.totals = bpf_map__fd(session->skeleton->maps.totals),
		.losses = bpf_map__fd(session->skeleton->maps.losses),
		.sites = bpf_map__fd(session->skeleton->maps.sites),
		.stacks = bpf_map__fd(session->skeleton->maps.stacks),
	};

	return ap_snapshot_read(ret, &maps);
}

void ap_session_close(struct ap_session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->attachment_count; i++)
		attachment_destroy(&session->attachments[i]);
	free(session->attachments);
	ring_buffer__free(session->wishes);
	ap_unwind_free(session->unwind);
	allocprof_bpf__destroy(session->skeleton);
	free(session);
}
