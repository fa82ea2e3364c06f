/* SPDX-License-Identifier: MIT */
/*
 * The probe contract `otel_memory`, as both halves of allocprof speak it.
 *
 * An allocator that wants to be profiled fires two USDT probes for a *sample* of its allocations:
 *
 *   otel_memory:alloc(ptr, size, weight)   a sampled allocation, before malloc returns
 *   otel_memory:free(ptr)                  the free of a sampled allocation, before the memory
 *                                          can be handed out again
 *
 *   ptr     the block's address, as the program sees it
 *   size    the bytes that the program asked for
 *   weight  the bytes that this sample stands for. With a Poisson process of mean `period` over
 *           bytes, a block that was charged as `block` bytes is sampled with the probability
 *           1 - exp(-block/period), so weight = size / (1 - exp(-block/period)) makes the sum of
 *           weights an unbiased estimate of the bytes requested (Horvitz-Thompson), and
 *           weight / size one of the number of objects.
 *
 * The contract is OpenTelemetry's (opentelemetry-ebpf-profiler, design document
 * 00003-memory-profiling). Its consumer reads the registers of the SysV calling convention and
 * ignores the argument descriptors in the ELF note, so the arguments must really be in rdi, rsi
 * and rdx at the site (x0, x1, x2 on arm64).
 *
 * Each probe has a semaphore, a 16-bit counter that the kernel raises for every consumer. Test it
 * for != 0, compute nothing while it is 0. It is hidden: an exported variable would get a copy
 * relocation in an executable, and the kernel would then count up the copy that nobody reads.
 *
 * The site is one one-byte nop in a function that has set up its frame. Not a five-byte nop:
 * Linux 6.18 replaces that by a CALL, whose return address lands in the red zone of a leaf
 * function and destroys what the compiler keeps there.
 *
 * Sites may be passed by any number of threads at once, and inside signal handlers: they touch no
 * memory. What a consumer does there happens in the thread that allocates, which waits for it.
 *
 * The sampling period, the mean number of bytes between two samples, is the exported 8-byte
 * variable AP_PERIOD_SYMBOL of the object that holds the probes. A profiler may store to it at any
 * time through /proc/PID/mem; 0 is read as AP_PERIOD_DEFAULT. This allocator puts the default back
 * when it notices that the last profiler has gone, so set it (again) once the probes are attached.
 *
 * An allocator may have a second one, the 4-byte variable AP_GUARD_SYMBOL: while it is 1, sampled
 * blocks are put where an overflow or a use after free faults.
 */
#ifndef ALLOCPROF_PROBE_H
#define ALLOCPROF_PROBE_H

#define AP_PROBE_PROVIDER "otel_memory"
#define AP_PROBE_ALLOC	  "alloc"
#define AP_PROBE_FREE	  "free"

#define AP_PERIOD_SYMBOL  "allocprof_sample_period"
#define AP_PERIOD_DEFAULT (512 * 1024)
#define AP_GUARD_SYMBOL	  "allocprof_guard"

/* The section in which the kernel looks for semaphores, and the attributes of one. */
#define AP_SEMAPHORE __attribute__((section(".probes"), visibility("hidden")))

/*
 * One site: a nop and the ELF note (owner "stapsdt", type 3) that tells where it is, where its
 * semaphore is and where its arguments are. To be used inside an asm statement that pins the
 * arguments to their registers. `_.stapsdt.base` lets a reader correct the addresses after
 * prelinking; the first note of an object defines it.
 */
#define AP_SITE(provider, name, semaphore, args)                                 \
	"990:	nop\n"                                                             \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
	"	.balign 4\n"                                                           \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991:	.asciz \"stapsdt\"\n"                                              \
	"992:	.balign 4\n"                                                       \
	"993:	.8byte 990b\n"                                                     \
	"	.8byte _.stapsdt.base\n"                                               \
	"	.8byte " semaphore "\n"                                          \
	"	.asciz \"" provider "\"\n"                                       \
	"	.asciz \"" name "\"\n"                                           \
	"	.asciz \"" args "\"\n"                                           \
	"994:	.balign 4\n"                                                       \
	"	.popsection\n"                                                         \
	"	.ifndef _.stapsdt.base\n"                                              \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"	.weak _.stapsdt.base\n"                                                \
	"	.hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                             \
	"	.size _.stapsdt.base, 1\n"                                             \
	"	.popsection\n"                                                         \
	"	.endif\n"

#if defined(__x86_64__)
#define AP_ARG0	 "rdi"
#define AP_ARG1	 "rsi"
#define AP_ARG2	 "rdx"
#define AP_ARGS1 "8@%%rdi"
#define AP_ARGS3 "8@%%rdi 8@%%rsi 8@%%rdx"
#elif defined(__aarch64__)
#define AP_ARG0	 "x0"
#define AP_ARG1	 "x1"
#define AP_ARG2	 "x2"
#define AP_ARGS1 "8@x0"
#define AP_ARGS3 "8@x0 8@x1 8@x2"
#else
#error "no probe arguments for this machine: add its calling convention here"
#endif

#endif
