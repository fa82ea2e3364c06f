// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Counts its hits, for the loader to learn whom an attachment of a kind reaches: uprobe_multi.h. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

unsigned long long hits = 0;

SEC("uprobe")
int on_check(void *regs)
{
	__sync_fetch_and_add(&hits, 1);
	return 0;
}
