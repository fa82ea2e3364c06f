/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs ask the loader for: the mappings to be read again, because there is code in
 * none that is known, and memory to be brought in, which they cannot wait for. Not more than some
 * at once, and it is no loss when a wish is lost: the next sample makes it again.
 */
#ifndef ALLOCPROF_WISH_BPF_H
#define ALLOCPROF_WISH_BPF_H

#include "maps.bpf.h"

static __noinline int wish_make(__u64 code, __u64 memory, __u32 process)
{
	struct ap_wish *wish = bpf_ringbuf_reserve(&wishes, sizeof(*wish), 0);

	if (!wish) {
		__sync_fetch_and_add(&wishes_lost, 1);
		return 0;
	}
	wish->code = code;
	wish->memory = memory;
	wish->process = process;
	wish->zero = 0;
	bpf_ringbuf_submit(wish, 0);
	return 0;
}

#endif
