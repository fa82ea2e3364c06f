// SPDX-License-Identifier: MIT
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <allocprof/process.h>
#include <allocprof/unwind.h>

#include "allocprof.skel.h"
#include "attachment.h"
#include "clock.h"
#include "kfunc.h"
#include "process_watch.h"
#include "target.h"
#include "uprobe_multi.h"

/*
 * How long a thread may take to leave a BPF program after the probes are out. Only preemption
 * delays it, so this is plenty.
 */
#define LEAVE_TRIES    500
#define LEAVE_PAUSE_NS (10 * AP_MILLISECOND_NS)

/* A stack has a site for each class of sizes: most stacks have one or two, some have many. */
#define SITES_PER_STACK 4

/* How many pages of a stack that is not resident are brought in at once. */
#define TOUCH_PAGES 16

struct ap_session {
	struct allocprof_bpf *skeleton;
	struct ap_preflight kernel;
	struct ap_attach_programs programs;
	struct ap_unwind *unwind;
	struct ring_buffer *wishes;
	pid_t pid;
	bool has_tree;
	/* Set while wishes are taken: */
	const struct ap_process_files *wishes_files; /* of the target */
	bool wants_mappings;
	ap_session_mapped_fn *mapped;
	void *mapped_context;
	struct ap_attachment *attachments;
	size_t attachment_count;
	uint64_t begin_ns; /* of the first attach; CLOCK_MONOTONIC */
};

/* libbpf has one print function for the whole process. */
static void (*print_to)(const char *text);
static bool print_debug;

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;
	int length;

	if (!print_to || (level == LIBBPF_DEBUG && !print_debug))
		return 0;
	length = vasprintf(&text, format, args);
	if (length < 0)
		return 0;
	print_to(text);
	free(text);
	return length;
}

static int maps_size(struct allocprof_bpf *skeleton, const struct ap_preflight *kernel,
	const struct ap_session_options *options)
{
	int err = bpf_map__set_max_entries(skeleton->maps.stacks, options->max_stacks);

	if (!err)
		err = bpf_map__set_max_entries(
			skeleton->maps.sites, SITES_PER_STACK * options->max_stacks);
	if (!err && options->by_thread)
		err = bpf_map__set_max_entries(skeleton->maps.threads, options->max_threads);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.live, options->max_live);
	if (!err)
		err = bpf_map__set_max_entries(skeleton->maps.scratches,
			kernel->preempt_disable ? 1 : options->max_inside);
	if (!err && kernel->preempt_disable)
		err = bpf_map__set_max_entries(skeleton->maps.frame_cache,
			(uint32_t)libbpf_num_possible_cpus() << AP_FRAME_CACHE_SHIFT);
	return err;
}

/* Makes the programs use the watch's maps of processes. */
static int maps_share(struct allocprof_bpf *skeleton, const struct ap_process_watch *tree)
{
	int err = bpf_map__reuse_fd(
		skeleton->maps.processes, ap_process_watch_map(tree, AP_WATCH_PROCESSES));

	return err ? err
		   : bpf_map__reuse_fd(skeleton->maps.process_lists,
			     ap_process_watch_map(tree, AP_WATCH_LISTS));
}

/*
 * Brings in the pages of a stack from an address upwards, by reading them, up to the first that
 * cannot be read.
 */
static void memory_touch(const struct ap_process_files *files, uint64_t address)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char byte;

	for (unsigned int i = 0; i < TOUCH_PAGES; i++)
		if (ap_process_files_read(files, address + i * page, &byte, 1) != 1)
			return;
}

static int wish_take(void *context, void *data, size_t size)
{
	struct ap_session *session = context;
	const struct ap_process_files *files = session->wishes_files;
	const struct ap_wish *wish = data;
	pid_t pid;

	if (size < sizeof(*wish))
		return 0;
	pid = (pid_t)AP_PROCESS_PID(wish->process);
	if (pid == session->pid || !session->mapped)
		session->wants_mappings |= wish->code != 0;
	else
		files = session->mapped(session->mapped_context, pid, wish->code != 0);
	if (wish->memory && files)
		memory_touch(files, wish->memory);
	return 0;
}

int ap_session_wish_fd(const struct ap_session *session)
{
	return ring_buffer__epoll_fd(session->wishes);
}

bool ap_session_wishes_take(struct ap_session *session, const struct ap_process_files *files,
	ap_session_mapped_fn *mapped, void *context)
{
	session->mapped = mapped;
	session->mapped_context = context;
	session->wishes_files = files;
	session->wants_mappings = false;
	ring_buffer__consume(session->wishes);
	return session->wants_mappings;
}

uint32_t ap_session_executed(const struct ap_session *session)
{
	return session->skeleton->bss->executed;
}

uint64_t ap_session_wishes_lost(const struct ap_session *session)
{
	return session->skeleton->bss->wishes_lost;
}

/* Opens the unwind tables, and the ring buffer of wishes. */
static int unwind_open(struct ap_session *session)
{
	struct ap_unwind_maps maps = {
		.blocks = bpf_map__fd(session->skeleton->maps.unwind_blocks),
		.pages = bpf_map__fd(session->skeleton->maps.unwind_pages),
		.mappings = bpf_map__fd(session->skeleton->maps.unwind_mappings),
		.rules = bpf_map__fd(session->skeleton->maps.unwind_rules),
		.version = &session->skeleton->bss->lists_version,
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
	int err = ap_unwind_update(session->unwind, 0, table);

	ap_unwind_settle(session->unwind);
	return err;
}

struct ap_unwind *ap_session_tables(struct ap_session *session)
{
	return session->unwind;
}

void ap_session_set_work(struct ap_session *session, struct ap_work *work)
{
	ap_unwind_set_work(session->unwind, work);
}

const struct ap_unwind_counts *ap_session_unwind_counts(const struct ap_session *session)
{
	return ap_unwind_counts(session->unwind);
}

/* Chooses which of the two programs for allocations is loaded, by what the kernel can load. */
static void programs_choose(struct ap_session *session)
{
	const struct ap_preflight *kernel = &session->kernel;
	struct bpf_program *with_loop = session->skeleton->progs.on_alloc;
	struct bpf_program *without_loop = session->skeleton->progs.on_alloc_without_loop;
	struct ap_attach_programs *programs = &session->programs;

	programs->multi = kernel->has_uprobe_multi;
	programs->of[AP_USDT_ALLOC] = kernel->has_loop ? with_loop : without_loop;
	programs->of[AP_USDT_FREE] = session->skeleton->progs.on_free;
	bpf_program__set_autoload(kernel->has_loop ? without_loop : with_loop, false);
	for (int i = 0; i < AP_USDT_KINDS && programs->multi; i++)
		bpf_program__set_expected_attach_type(
			programs->of[i], (enum bpf_attach_type)AP_TRACE_UPROBE_MULTI);
}

static int programs_resolve(struct ap_session *session)
{
	const struct ap_kfunc kfuncs[] = {
		{AP_KFUNC_PREEMPT_DISABLE, session->kernel.preempt_disable},
		{AP_KFUNC_PREEMPT_ENABLE, session->kernel.preempt_enable},
	};
	int err = 0;

	for (int i = 0; i < AP_USDT_KINDS && !err; i++)
		err = ap_kfuncs_resolve(
			session->programs.of[i], kfuncs, sizeof(kfuncs) / sizeof(*kfuncs));
	return err;
}

/* What the programs are told before they are loaded. */
static void rodata_set(struct ap_session *session, const struct ap_session_options *options)
{
	struct allocprof_bpf__rodata *rodata = session->skeleton->rodata;

	rodata->process_id = session->pid;
	rodata->has_tree = session->has_tree;
	rodata->cpu_held = session->kernel.preempt_disable != 0;
	rodata->pid_namespace = ap_pid_namespace();
	rodata->hash_mask = options->hash_mask;
	rodata->min_size = options->min_size;
	rodata->max_size = options->max_size;
	rodata->max_depth = options->max_depth;
	rodata->by_thread = options->by_thread;
}

int ap_session_open(struct ap_session **ret, pid_t pid, const struct ap_session_options *options,
	struct ap_error *error)
{
	struct ap_session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return ap_error_errno(
			error, AP_EXIT_FAILURE, -ENOMEM, "cannot record process %d", pid);
	print_to = options->log;
	print_debug = options->log_debug;
	libbpf_set_print(print);
	err = ap_preflight(&session->kernel, error);
	if (err) {
		free(session);
		return err;
	}
	/* uprobe_multi finds a process only by its first thread, while that is alive. */
	session->kernel.has_uprobe_multi &= ap_thread_alive(pid, pid);
	session->skeleton = allocprof_bpf__open();
	if (!session->skeleton) {
		err = -errno;
		goto out;
	}
	session->pid = pid;
	session->has_tree = options->tree;
	rodata_set(session, options);
	bpf_program__set_autoload(session->skeleton->progs.on_target_exec, !session->has_tree);
	programs_choose(session);
	err = programs_resolve(session);
	if (!err)
		err = maps_size(session->skeleton, &session->kernel, options);
	if (!err && session->has_tree)
		err = maps_share(session->skeleton, options->tree);
	if (!err)
		err = allocprof_bpf__load(session->skeleton);
	if (!err)
		err = unwind_open(session);
	/* If the kernel does not allow it, what a program held before an exec stays live. */
	if (!err && !session->has_tree)
		session->skeleton->links.on_target_exec =
			bpf_program__attach(session->skeleton->progs.on_target_exec);
out:
	if (err) {
		/* A missing right gives EPERM. EACCES comes from the verifier. */
		ap_preflight_explain(error, err == -EACCES ? -EINVAL : err,
			"the kernel refuses the BPF programs");
		ap_session_close(session);
		return err;
	}
	*ret = session;
	return 0;
}

const struct ap_preflight *ap_session_kernel(const struct ap_session *session)
{
	return &session->kernel;
}

static bool same_file(int left, int right)
{
	struct stat a, b;

	return !fstat(left, &a) && !fstat(right, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static struct ap_attachment *attachment_get(
	struct ap_session *session, const struct ap_object *object)
{
	struct ap_attachment *grown;

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
	struct ap_attachment *attachment = attachment_get(session, object);
	struct ap_attachment fresh;
	int err;

	if (session->has_tree)
		tid = AP_EVERYBODY;
	if (!attachment)
		return ap_error_errno(error, AP_EXIT_FAILURE, -ENOMEM,
			"cannot attach to process %d", session->pid);
	/* A link of uprobe_multi belongs to the process and survives the exit of any thread. */
	if (attachment->tid == tid || (attachment->tid && session->programs.multi))
		return 0;
	if (!session->begin_ns)
		session->begin_ns = ap_clock_ns(CLOCK_MONOTONIC);
	err = ap_attachment_open(&fresh, object, usdt, tid, &session->programs);
	if (err == -ESRCH) {
		ap_error_what(error, AP_EXIT_NO_PROCESS,
			"process %d exited before it could be attached to", session->pid);
		ap_error_hint(error, "record it from its start with: allocprof run -- COMMAND");
		return err;
	}
	if (err) {
		ap_preflight_explain(error, err, "the kernel refuses to attach the probes");
		return err;
	}
	ap_attachments_close(attachment, 1);
	*attachment = fresh;
	return 0;
}

int ap_session_detach(struct ap_session *session)
{
	struct timespec pause = {.tv_nsec = LEAVE_PAUSE_NS};
	struct ap_totals totals;
	int err = 0;

	/* With one store both probes stop counting at the same moment. */
	session->skeleton->bss->closed = 1;
	ap_attachments_close(session->attachments, session->attachment_count);
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

struct ap_snapshot_maps ap_session_maps(const struct ap_session *session)
{
	return (struct ap_snapshot_maps){
		.totals = bpf_map__fd(session->skeleton->maps.totals),
		.losses = bpf_map__fd(session->skeleton->maps.losses),
		.sites = bpf_map__fd(session->skeleton->maps.sites),
		.stacks = bpf_map__fd(session->skeleton->maps.stacks),
		.live = bpf_map__fd(session->skeleton->maps.live),
		.threads = bpf_map__fd(session->skeleton->maps.threads),
	};
}

int ap_session_snapshot(const struct ap_session *session, struct ap_snapshot *ret)
{
	struct ap_snapshot_maps maps = ap_session_maps(session);
	int err = ap_snapshot_read(ret, &maps);

	ret->begin_ns = session->begin_ns;
	return err;
}

void ap_session_close(struct ap_session *session)
{
	if (!session)
		return;
	ap_attachments_close(session->attachments, session->attachment_count);
	free(session->attachments);
	ring_buffer__free(session->wishes);
	ap_unwind_free(session->unwind);
	allocprof_bpf__destroy(session->skeleton);
	free(session);
}
