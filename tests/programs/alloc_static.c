// SPDX-License-Identifier: MIT
/* Uses what allocates in libc, threads and a fork: linking.sh builds it with -static. With an
 * argument it ends with malloc_stats. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *thread(void *argument)
{
	char *texts[100];

	for (int i = 0; i < 100; i++)
		if (asprintf(&texts[i], "%*d", i * 10 + 1, i) < 0)
			abort();
	for (int i = 0; i < 100; i++) {
		if (atoi(texts[i]) != i)
			abort();
		free(texts[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	char *line = NULL, *copy;
	size_t capacity = 0;
	int status = 1;
	FILE *file;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	file = fopen("/proc/self/status", "r");
	if (!file || getline(&line, &capacity, file) < 0)
		return 1;
	copy = strdup(line);
	fclose(file);
	free(line);
	free(copy);
	if (fork() == 0) {
		thread(NULL);
		exit(0);
	}
	wait(&status);
	free(reallocarray(memalign(4096, 100), 100, 100));
	printf("%s, status %d\n", mallopt(M_ARENA_MAX, 1) ? "finished" : "?", status);
	if (argc > 1)
		malloc_stats();
	return status;
}
