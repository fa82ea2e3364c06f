// SPDX-License-Identifier: MIT
/*
 * dlopen without RTLD_DEEPBIND. That flag has a library look up its symbols in what it is linked
 * with first, and so in libc before here: it would give what this malloc has handed out to libc's
 * free. PHP loads its modules like that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "types.h"

typedef void *dlopen_function(const char *path, int mode);

/*
 * libc takes from the return address who the caller is, whose RUNPATH and namespace count. So what
 * ends this is a jump: the Makefile sees to it that it is one in every build.
 */
exported void *dlopen(const char *path, int mode)
{
	static dlopen_function *next; /* atomic */
	dlopen_function *function = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (unlikely(!function)) {
		function = (dlopen_function *)dlsym(RTLD_NEXT, "dlopen");
		if (!function)
			return NULL;
		__atomic_store_n(&next, function, __ATOMIC_RELAXED);
	}
	return function(path, mode & ~RTLD_DEEPBIND);
}
