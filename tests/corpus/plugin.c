// SPDX-License-Identifier: MIT
/* A library of the corpus: what it calls is bound at the first call, through ld.so's trampoline,
 * where the resolver of an indirect function fires. */

static void (*fire_now)(unsigned long);

static void target_now(void)
{
	fire_now(301);
}

static void (*target_resolve(void))(void)
{
	fire_now(302);
	return target_now;
}

void plugin_target(void) __attribute__((ifunc("target_resolve")));

__attribute__((noinline)) static void plugin_inside(int depth)
{
	if (depth)
		plugin_inside(depth - 1);
	else
		plugin_target();
	__asm__ volatile("" ::: "memory");
}

void plugin_run(void (*fire)(unsigned long))
{
	fire_now = fire;
	plugin_inside(3);
	fire(303);
	__asm__ volatile("" ::: "memory");
}
