// SPDX-License-Identifier: MIT
/* Debug files from a server of this test, which has one, has none, or does not answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "debuginfod.h"

#define ID "0123456789abcdef0123456789abcdef01234567"

static const char body[] = "a debug file";

struct fixture {
	char cache[64];
	int listener;
	pthread_t thread;
	const char *answer; /* NULL: it does not answer */
	struct ap_debuginfod *debuginfod;
	int calls; /* of the progress callback */
};

/* One request a connection; whoever closes the listener ends it. */
static void *serve(void *context)
{
	struct fixture *fixture = context;
	char request[4096];
	int connection;

	while ((connection = accept(fixture->listener, NULL, NULL)) >= 0) {
		ssize_t length = read(connection, request, sizeof(request) - 1);

		request[length > 0 ? length : 0] = '\0';
		if (!strncmp(request, "GET /buildid/" ID "/debuginfo ", 64))
			dprintf(connection, "%s", fixture->answer);
		else
			dprintf(connection, "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
		close(connection);
	}
	return NULL;
}

static void progress(void *context, const char *name, long done, long total)
{
	struct fixture *fixture = context;

	assert_string_equal(name, "/usr/lib/libfoo.so");
	fixture->calls++;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->cache, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->cache));
	*state = fixture;
	return 0;
}

/* Asks a server that gives this answer, for limit_ms at most. A descriptor or a negative errno. */
static int ask(struct fixture *fixture, const char *answer, uint64_t limit_ms)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ap_debuginfod_options options = {limit_ms * 1000000, progress, fixture};
	socklen_t length = sizeof(address);
	char url[64];
	int fd, err;

	fixture->answer = answer;
	fixture->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fixture->listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(fixture->listener, 8), 0);
	assert_int_equal(getsockname(fixture->listener, (struct sockaddr *)&address, &length), 0);
	if (answer)
		assert_int_equal(pthread_create(&fixture->thread, NULL, serve, fixture), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", fixture->cache, 1);
	setenv("no_proxy", "*", 1);
	err = ap_debuginfod_new(&fixture->debuginfod, &options);
	fd = err ? err : ap_debuginfod_open(fixture->debuginfod, ID, "/usr/lib/libfoo.so");
	shutdown(fixture->listener, SHUT_RDWR);
	close(fixture->listener);
	if (answer)
		pthread_join(fixture->thread, NULL);
	if (err != -ENOSYS)
		return fd;
	print_message("there is no libdebuginfod.so.1\n");
	skip();
	return err;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[96];

	ap_debuginfod_free(fixture->debuginfod);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->cache);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static void file_that_is_there(void **state)
{
	struct fixture *fixture = *state;
	char answer[256], got[64] = "";
	int fd;

	snprintf(answer, sizeof(answer),
		"HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		strlen(body), body);
	fd = ask(fixture, answer, 60000);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, got, sizeof(got), 0), strlen(body));
	assert_string_equal(got, body);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	/* The server is gone, but the file is in the cache. */
	fd = ap_debuginfod_open(fixture->debuginfod, ID, "/usr/lib/libfoo.so");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ap_debuginfod_late(fixture->debuginfod), 0);
}

static void file_that_is_not_there(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ask(fixture, "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n", 60000),
		-ENOENT);
	assert_int_equal(ap_debuginfod_late(fixture->debuginfod), 0);
}

/* The kernel accepts the connection, and nobody answers. */
static void silent_server(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ask(fixture, NULL, 10), -ETIMEDOUT);
	assert_true(fixture->calls > 0);
	assert_int_equal(ap_debuginfod_late(fixture->debuginfod), 1);
	/* The limit is for all files together. */
	assert_int_equal(
		ap_debuginfod_open(fixture->debuginfod, ID, "/usr/lib/libfoo.so"), -ETIMEDOUT);
	assert_int_equal(ap_debuginfod_late(fixture->debuginfod), 2);
}

static void not_configured(void **state)
{
	struct fixture *fixture = *state;
	struct ap_debuginfod_options options = {.limit_ns = 1};

	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(ap_debuginfod_new(&fixture->debuginfod, &options), -ENOENT);
	setenv("DEBUGINFOD_URLS", "", 1);
	assert_int_equal(ap_debuginfod_new(&fixture->debuginfod, &options), -ENOENT);
	assert_null(fixture->debuginfod);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(file_that_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(file_that_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_server, setup, teardown),
		cmocka_unit_test_setup_teardown(not_configured, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
