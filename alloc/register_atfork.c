// SPDX-License-Identifier: MIT
/* What pthread_atfork calls: it is here so that our handlers come before anybody's. See fork.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>

#include "fork.h"

typedef void handler_function(void);
typedef int register_function(handler_function *prepare, handler_function *parent,
	handler_function *child, void *library);

const bool ap_fork_watched = true;

exported register_function __register_atfork;

exported int __register_atfork(
	handler_function *prepare, handler_function *parent, handler_function *child, void *library)
{
	register_function *next = (register_function *)dlsym(RTLD_NEXT, "__register_atfork");

	if (!next)
		return ENOMEM;
	ap_fork_register();
	return next(prepare, parent, child, library);
}
