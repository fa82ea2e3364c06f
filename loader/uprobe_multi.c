// SPDX-License-Identifier: MIT
#include "uprobe_multi.h"

#include <link.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include <allocprof/probe.h>

#include "attach_check.skel.h"
#include "error.h"
#include "keeper.h"

/* The arguments of BPF_LINK_CREATE, as in union bpf_attr of Linux 6.6 and later. */
struct link_create {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags;
	uint32_t pid;
	uint32_t zero;
};

int ap_uprobe_multi_attach(int program, const char *path, const uint64_t *offsets,
	const uint64_t *semaphores, size_t count, pid_t pid)
{
	struct link_create attributes = {
		.program = (uint32_t)program,
		.attach_type = AP_TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.semaphores = (uintptr_t)semaphores,
		.count = (uint32_t)count,
		.pid = (uint32_t)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes));

	return fd < 0 ? ap_errno() : (int)fd;
}

/* ---- The check ---- */

AP_SEMAPHORE volatile uint16_t ap_check_semaphore;
extern const char ap_check_site[] __attribute__((visibility("hidden")));

/*
 * A probe of another provider than otel_memory, so that nobody takes this process for one with such
 * an allocator.
 */
static __attribute__((noinline)) unsigned int check_fire(void)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	__asm__ volatile(".globl ap_check_site\n"
			 ".hidden ap_check_site\n"
			 "ap_check_site: nop"
			 :
			 :
			 : "memory");
	return ap_check_semaphore;
}

static void *thread_fire(void *seen)
{
	*(unsigned int *)seen = check_fire();
	return NULL;
}

/* The file offset of an address in this program. */
struct place {
	uintptr_t address;
	uint64_t offset; /* 0: not found */
};

static int place_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *places = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		for (int at = 0; at < 2; at++)
			if (header->p_type == PT_LOAD && places[at].address >= start &&
				places[at].address - start < header->p_filesz)
				places[at].offset = places[at].address - start + header->p_offset;
	}
	return 1; /* the first one is the program: no others */
}

/* Checks that a second thread is served, and another process with the same code is not. */
static bool check_run(const struct attach_check_bpf *skeleton)
{
	unsigned int seen = 0;
	pthread_t thread;
	pid_t child;

	if (pthread_create(&thread, NULL, thread_fire, &seen))
		return false;
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		check_fire();
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return false;
	return seen == 1 && skeleton->bss->hits == 1;
}

bool ap_uprobe_multi_works(void)
{
	struct place places[] = {
		{.address = (uintptr_t)ap_check_site}, {.address = (uintptr_t)&ap_check_semaphore}};
	struct attach_check_bpf *skeleton = attach_check_bpf__open();
	struct ap_keeper keeper;
	bool works = false;
	int link;

	dl_iterate_phdr(place_find, places);
	if (!skeleton || !places[0].offset || !places[1].offset)
		goto out;
	bpf_program__set_expected_attach_type(
		skeleton->progs.on_check, (enum bpf_attach_type)AP_TRACE_UPROBE_MULTI);
	if (attach_check_bpf__load(skeleton))
		goto out;
	link = ap_uprobe_multi_attach(bpf_program__fd(skeleton->progs.on_check), "/proc/self/exe",
		&places[0].offset, &places[1].offset, 1, getpid());
	if (link < 0)
		goto out;
	works = check_run(skeleton);
	ap_keeper_start(&keeper);
	close(link);
	ap_keeper_end(&keeper);
	works &= !ap_check_semaphore;
out:
	attach_check_bpf__destroy(skeleton);
	return works;
}
