// SPDX-License-Identifier: MIT
/*
 * Loads a library that is linked with the allocator, again and again, into a process that has its
 * memory from libc; calls it from threads, and unloads it while they live.
 *
 *	alloc_dlopen PLUGIN own|shared|deep
 *
 * own: the library uses the allocator that it is linked with; shared: the process's. deep: it asks
 * for its own, as own does, but has to get the process's, since they hand blocks to each other.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plugin {
	void *handle;
	int (*work)(int seed);
	void *(*get)(size_t size);
	void (*put)(void *block);
};

static pthread_barrier_t barrier;
static int exchange;

static void plugin_open(struct plugin *plugin, const char *path, int mode)
{
	plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);
	if (!plugin->handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	plugin->work = (int (*)(int))dlsym(plugin->handle, "plugin_work");
	plugin->get = (void *(*)(size_t))dlsym(plugin->handle, "plugin_malloc");
	plugin->put = (void (*)(void *))dlsym(plugin->handle, "plugin_free");
}

static void *thread(void *argument)
{
	struct plugin *plugin = argument;
	void *kept = plugin->get(100), *ours = malloc(100);

	if (plugin->work(7))
		exit(1);
	plugin->put(kept);
	if (exchange) {
		plugin->put(malloc(3000));
		free(plugin->get(3000));
	}
	pthread_barrier_wait(&barrier); /* has used it */
	pthread_barrier_wait(&barrier); /* it is unloaded */
	free(ours);
	return NULL;
}

int main(int argc, char **argv)
{
	int mode = argc > 2 && strcmp(argv[2], "shared") ? RTLD_DEEPBIND : 0;

	exchange = argc > 2 && !strcmp(argv[2], "deep");
	pthread_barrier_init(&barrier, NULL, 5);
	for (int round = 0; round < 50; round++) {
		struct plugin plugin;
		pthread_t threads[4];

		plugin_open(&plugin, argv[1], mode);
		if (plugin.work(round))
			return 1;
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread, &plugin);
		pthread_barrier_wait(&barrier);
		dlclose(plugin.handle);
		pthread_barrier_wait(&barrier);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	puts("finished");
	return 0;
}
