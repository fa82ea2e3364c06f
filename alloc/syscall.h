/* SPDX-License-Identifier: MIT */
/*
 * System calls without libc's wrappers: they leave errno alone, which free must, and do not bring
 * pages of libc into memory that the program would never have touched (100 KiB of a small process).
 */
#ifndef ALLOC_SYSCALL_H
#define ALLOC_SYSCALL_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the result, or a negative error number. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result = number;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	int saved = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
#endif
}

/* Whether a result is an error number. */
static inline int system_call_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

#endif
