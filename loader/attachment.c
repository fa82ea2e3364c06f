// SPDX-License-Identifier: MIT
#include "attachment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "error.h"
#include "keeper.h"
#include "uprobe_multi.h"

/* The file by its descriptor: its path may lead to another file by now, or to none. */
struct path {
	char text[32];
};

static struct path path_of(const struct ap_object *object)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", object->fd);
	return path;
}

static int multi_open(struct ap_attachment *attachment, const struct ap_usdt *usdt,
	enum ap_usdt_kind kind, const struct bpf_program *program)
{
	uint64_t offsets[AP_USDT_SITES], semaphores[AP_USDT_SITES];
	size_t count = 0;
	int link;

	for (size_t i = 0; i < usdt->count; i++) {
		if (usdt->site[i].kind != kind)
			continue;
		offsets[count] = usdt->site[i].offset;
		semaphores[count++] = usdt->site[i].semaphore;
	}
	if (!count)
		return 0;
	link = ap_uprobe_multi_attach(bpf_program__fd(program), path_of(attachment->object).text,
		offsets, semaphores, count, attachment->tid == AP_EVERYBODY ? 0 : attachment->tid);
	if (link < 0)
		return link;
	attachment->links[kind].multi = link;
	return 0;
}

static int perf_open(struct ap_attachment *attachment, const struct ap_usdt *usdt,
	enum ap_usdt_kind kind, const struct bpf_program *program)
{
	struct ap_attach_links *links = &attachment->links[kind];

	for (size_t i = 0; i < usdt->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = usdt->site[i].semaphore);
		struct bpf_link *link;

		if (usdt->site[i].kind != kind)
			continue;
		link = bpf_program__attach_uprobe_opts(program, attachment->tid,
			path_of(attachment->object).text, usdt->site[i].offset, &options);
		if (!link)
			return ap_errno();
		links->perf[links->perf_count++] = link;
	}
	return 0;
}

int ap_attachment_open(struct ap_attachment *attachment, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, const struct ap_attach_programs *programs)
{
	/* Free probes first: then no free of a block is missed whose allocation was seen. */
	static const enum ap_usdt_kind order[AP_USDT_KINDS] = {AP_USDT_FREE, AP_USDT_ALLOC};
	int err = 0;

	memset(attachment, 0, sizeof(*attachment));
	attachment->object = object;
	attachment->tid = tid;
	for (int i = 0; i < AP_USDT_KINDS; i++)
		attachment->links[i].multi = -1;
	for (int i = 0; i < AP_USDT_KINDS && !err; i++)
		err = (programs->multi ? multi_open : perf_open)(
			attachment, usdt, order[i], programs->of[order[i]]);
	if (err)
		ap_attachments_close(attachment, 1);
	return err;
}

static void links_close(struct ap_attach_links *links)
{
	if (links->multi >= 0)
		close(links->multi);
	links->multi = -1;
	for (size_t i = 0; i < links->perf_count; i++)
		bpf_link__destroy(links->perf[i]);
	links->perf_count = 0;
}

void ap_attachments_close(struct ap_attachment *attachments, size_t count)
{
	struct ap_keeper keeper = {.pid = -1};

	for (size_t i = 0; i < count; i++) {
		if (!attachments[i].tid)
			continue;
		if (keeper.pid < 0)
			ap_keeper_start(&keeper);
		for (int kind = 0; kind < AP_USDT_KINDS; kind++)
			links_close(&attachments[i].links[kind]);
		attachments[i].tid = 0;
	}
	ap_keeper_end(&keeper);
}
