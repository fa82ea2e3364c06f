// SPDX-License-Identifier: MIT
/*
 * Writes the pages that the browser tests open, from profiles with known sums, into a directory:
 * pages DIRECTORY. Beside each NAME.html stands NAME.VALUE.folded, written by other code, from
 * which the tests compute what the page must show.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "profile.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t checked(int index)
{
	if (index < 0) {
		errno = -index;
		die("pages");
	}
	return (uint32_t)index;
}

/*
 * A stack from the root: "name@library@file:line|...". Names hold neither @ nor |; a name alone is
 * a reserved frame.
 */
static void add_labeled(struct ap_profile *profile, const char *stack,
	const struct ap_labels *labels, uint64_t samples, const int64_t value[AP_VALUES])
{
	char *copy = strdup(stack), *rest = copy, *text;
	uint32_t location[256], depth = 0;

	if (!copy)
		die("pages");
	while ((text = strsep(&rest, "|")) && depth < 256) {
		char *name = strsep(&text, "@"), *library = strsep(&text, "@"), *file = text;
		char *colon = file ? strrchr(file, ':') : NULL;
		struct ap_line line = {0};
		uint32_t mapping;

		if (!library) {
			location[depth++] = checked(ap_profile_reserved(profile, name));
			continue;
		}
		line.line = colon ? atoi(colon + 1) : 0;
		if (colon)
			*colon = '\0';
		mapping =
			checked(ap_profile_add_mapping(profile, 0x1000, 0x2000, 0, library, NULL));
		line.function = checked(ap_profile_add_function(profile, name, NULL, file, 0));
		location[depth++] = checked(
			ap_profile_add_location(profile, (int32_t)mapping, 0x1000, &line, 1));
	}
	for (uint32_t i = 0; i < depth / 2; i++) {
		uint32_t swap = location[i];

		location[i] = location[depth - 1 - i];
		location[depth - 1 - i] = swap;
	}
	checked(ap_profile_add_labeled(profile, location, depth, labels, value, samples));
	free(copy);
}

static void add_stack(struct ap_profile *profile, const char *stack, int64_t alloc_objects,
	int64_t alloc_space, int64_t inuse_objects, int64_t inuse_space)
{
	const int64_t value[AP_VALUES] = {alloc_objects, alloc_space, inuse_objects, inuse_space};

	add_labeled(profile, stack, &AP_LABELS_NONE, 0, value);
}

static struct ap_profile *new_profile(const char *comm, const char *command)
{
	struct ap_profile *profile = ap_profile_new();

	if (!profile || ap_profile_set(&profile->info.comm, comm) ||
		ap_profile_set(&profile->info.command, command) ||
		ap_profile_set(&profile->info.host, "db-14") ||
		ap_profile_set(&profile->info.end_reason, "interrupted"))
		die("pages");
	profile->info.pid = 4127;
	profile->info.start_ns = 1796025900LL * 1000000000;
	profile->info.duration_ns = 30210000000;
	profile->info.period = 512 << 10;
	profile->info.samples = 2318;
	profile->info.frees = 1409;
	profile->info.lost = 0;
	profile->info.whole_stacks = 2254;
	return profile;
}

static FILE *create(const char *directory, const char *name, const char *extension)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.%s", directory, name, extension);
	out = fopen(path, "w");
	if (!out)
		die(path);
	return out;
}

static void finish(FILE *out, int err)
{
	if (err || fclose(out)) {
		errno = -err;
		die("pages");
	}
}

static void write_page(const char *directory, const char *name, const struct ap_profile *profile,
	const struct ap_profile *base)
{
	struct ap_format_options options = {.value = AP_INUSE_SPACE, .base = base};
	FILE *out = create(directory, name, "html");

	finish(out, ap_format_html_write(out, profile, &options));
	out = create(directory, name, "pb.gz");
	finish(out, ap_format_pprof_write(out, profile, &options));
	out = create(directory, name, "svg");
	finish(out, ap_format_svg_write(out, profile, &options));
	options.show_allocator = true;
	out = create(directory, name, "speedscope.json");
	finish(out, ap_format_speedscope_write(out, profile, &options));
	for (int v = 0; v < AP_VALUES; v++) {
		char extension[64];

		/* The large ones take 35 MB each: only what a test reads is written. */
		if (profile->stack_count > 10000 && v != AP_INUSE_SPACE)
			continue;
		snprintf(extension, sizeof(extension), "%s.folded", profile->type[v].type);
		options.value = v;
		out = create(directory, name, extension);
		finish(out, ap_format_folded_write(out, profile, &options));
	}
}

/* ---- A server like those that people look at ---- */

#define RS    "@/usr/bin/redis-server@"
#define LC    "@/usr/lib/x86_64-linux-gnu/libc.so.6@"
#define AL    "@/usr/lib/x86_64-linux-gnu/liballocprof.so@alloc/malloc.c:41"
#define LUA   "@/usr/lib/x86_64-linux-gnu/liblua5.1.so.0@"
#define SSL   "@/usr/lib/x86_64-linux-gnu/libssl.so.3@"
#define CRY   "@/usr/lib/x86_64-linux-gnu/libcrypto.so.3@"
#define START "_start" RS ":0|__libc_start_main" LC "csu/libc-start.c:360|main" RS "server.c:7230|"
#define LOOP                                                                                 \
	START "aeMain" RS "ae.c:482|aeProcessEvents" RS "ae.c:417|connSocketEventHandler" RS \
	      "socket.c:298|readQueryFromClient" RS "networking.c:2690|"
#define COMMAND                                                                          \
	LOOP "processInputBuffer" RS "networking.c:2520|processCommandAndResetClient" RS \
	     "networking.c:2435|processCommand" RS "server.c:3990|call" RS "server.c:3412|"
#define ZMALLOC "zmalloc" RS "zmalloc.c:139|malloc" AL
#define ZCALLOC "zcalloc" RS "zmalloc.c:200|calloc" AL

static void fill_server(struct ap_profile *profile, double grown)
{
	static const struct {
		const char *stack;
		double objects, bytes, kept; /* kept: the live part */
		double growth;
	} stacks[] = {
		{COMMAND "setCommand" RS "t_string.c:270|setGenericCommand" RS
			 "t_string.c:98|setKey" RS "db.c:272|dbAdd" RS "db.c:189|sdsdup" RS
			 "sds.c:195|sdsnewlen" RS "sds.c:160|_sdsnewlen" RS "sds.c:110|" ZMALLOC,
			120341, 7702144, 0.93, 1.1},
		{COMMAND "setCommand" RS "t_string.c:270|setGenericCommand" RS
			 "t_string.c:98|setKey" RS "db.c:272|dbAdd" RS "db.c:190|dictAddRaw" RS
			 "dict.c:440|" ZMALLOC,
			121007, 5808336, 0.94, 1.1},
		{COMMAND "setCommand" RS "t_string.c:270|setGenericCommand" RS
			 "t_string.c:98|setKey" RS "db.c:272|dbAdd" RS "db.c:190|dictAddRaw" RS
			 "dict.c:431|_dictExpandIfNeeded" RS "dict.c:1390|dictExpand" RS
			 "dict.c:255|_dictExpand" RS "dict.c:210|" ZCALLOC,
			17, 8388608, 0.5, 1.0},
		{COMMAND "setCommand" RS "t_string.c:268|tryObjectEncoding" RS
			 "object.c:690|createEmbeddedStringObject" RS "object.c:85|" ZMALLOC,
			98129, 6280256, 0.88, 0.7},
		{COMMAND "hsetCommand" RS "t_hash.c:560|hashTypeSet" RS
			 "t_hash.c:240|hashTypeConvertListpack" RS "t_hash.c:430|dictAdd" RS
			 "dict.c:401|dictAddRaw" RS "dict.c:440|" ZMALLOC,
			40213, 2251928, 0.97, 1.0},
		{COMMAND "hsetCommand" RS "t_hash.c:560|hashTypeSet" RS "t_hash.c:236|lpAppend" RS
			 "listpack.c:830|lpInsert" RS "listpack.c:760|zrealloc" RS
			 "zmalloc.c:290|realloc" AL,
			251773, 16113472, 0.11, 1.0},
		{COMMAND "lpushCommand" RS "t_list.c:440|pushGenericCommand" RS
			 "t_list.c:420|listTypePush" RS "t_list.c:190|quicklistPush" RS
			 "quicklist.c:640|quicklistPushHead" RS
			 "quicklist.c:560|quicklistCreateNode" RS "quicklist.c:150|" ZMALLOC,
			30011, 2160792, 0.99, 2.4},
		{COMMAND "zaddCommand" RS "t_zset.c:1860|zaddGenericCommand" RS
			 "t_zset.c:1790|zsetAdd" RS "t_zset.c:1440|zslInsert" RS
			 "t_zset.c:170|zslCreateNode" RS "t_zset.c:80|" ZMALLOC,
			51199, 4915104, 0.98, 1.0},
		{COMMAND "evalCommand" RS "eval.c:590|evalGenericCommand" RS
			 "eval.c:540|luaCallFunction" RS "script_lua.c:1650|lua_pcall" LUA
			 "lapi.c:805|luaD_pcall" LUA "ldo.c:464|luaD_rawrunprotected" LUA
			 "ldo.c:118|luaD_call" LUA "ldo.c:370|luaV_execute" LUA
			 "lvm.c:590|luaD_call" LUA "ldo.c:370|luaV_execute" LUA
			 "lvm.c:443|luaH_new" LUA "ltable.c:360|luaM_realloc_" LUA
			 "lmem.c:80|l_alloc" LUA "lauxlib.c:646|realloc" AL,
			88001, 5632064, 0.21, 1.5},
		{COMMAND "evalCommand" RS "eval.c:590|evalGenericCommand" RS
			 "eval.c:540|luaCallFunction" RS "script_lua.c:1650|lua_pcall" LUA
			 "lapi.c:805|luaD_pcall" LUA "ldo.c:464|luaD_rawrunprotected" LUA
			 "ldo.c:118|luaD_call" LUA "ldo.c:370|luaV_execute" LUA
			 "lvm.c:590|luaS_newlstr" LUA "lstring.c:92|newlstr" LUA
			 "lstring.c:55|luaM_realloc_" LUA "lmem.c:80|l_alloc" LUA
			 "lauxlib.c:646|realloc" AL,
			140009, 6720432, 0.31, 1.5},
		{LOOP "sdsMakeRoomFor" RS "networking.c:2640|_sdsMakeRoomFor" RS
		      "sds.c:240|zrealloc" RS "zmalloc.c:290|realloc" AL,
			211, 3457024, 0.9, 0.4},
		{LOOP "processInputBuffer" RS "networking.c:2500|processMultibulkBuffer" RS
		      "networking.c:2330|createStringObject" RS
		      "object.c:95|createEmbeddedStringObject" RS "object.c:70|" ZMALLOC,
			870011, 48720616, 0.01, 1.0},
		{LOOP "processInputBuffer" RS "networking.c:2500|processMultibulkBuffer" RS
		      "networking.c:2240|" ZMALLOC,
			430007, 10320168, 0.02, 1.0},
		{START "aeMain" RS "ae.c:482|aeProcessEvents" RS "ae.c:417|acceptTcpHandler" RS
		       "networking.c:1310|acceptCommonHandler" RS
		       "networking.c:1270|createClient" RS "networking.c:130|" ZMALLOC,
			50, 1638400, 0.96, 1.0},
		{START "aeMain" RS "ae.c:482|aeProcessEvents" RS "ae.c:417|connTLSAcceptHandler" RS
		       "tls.c:780|SSL_accept" SSL "ssl/ssl_lib.c:1700|state_machine" SSL
		       "ssl/statem/statem.c:400|tls_process_client_hello" SSL
		       "ssl/statem/statem_srvr.c:1400|CRYPTO_zalloc" CRY
		       "crypto/mem.c:197|CRYPTO_malloc" CRY "crypto/mem.c:190|malloc" AL,
			9001, 2100233, 0.4, 1.0},
		{START "aeMain" RS "ae.c:482|aeProcessEvents" RS "ae.c:417|connTLSAcceptHandler" RS
		       "tls.c:780|SSL_accept" SSL "ssl/ssl_lib.c:1700|state_machine" SSL
		       "ssl/statem/statem.c:400|tls_construct_server_certificate" SSL
		       "ssl/statem/statem_srvr.c:3700|BUF_MEM_grow_clean" CRY
		       "crypto/buffer/buffer.c:130|CRYPTO_clear_realloc" CRY
		       "crypto/mem.c:260|malloc" AL,
			4001, 1300325, 0.2, 0.0},
		{START "initServer" RS "server.c:2700|createSharedObjects" RS
		       "server.c:1900|createObject" RS "object.c:42|" ZMALLOC,
			10500, 1028160, 1.0, 1.0},
		{START "aeMain" RS "ae.c:482|aeProcessEvents" RS "ae.c:417|serverCron" RS
		       "server.c:1420|databasesCron" RS "server.c:1130|activeExpireCycle" RS
		       "expire.c:270|dictScan" RS "dict.c:1180|" ZMALLOC,
			1009, 520644, 0.0, 1.0},
		{"clone3" LC "clone3.S:80|start_thread" LC
		 "nptl/pthread_create.c:442|bioProcessBackgroundJobs" RS
		 "bio.c:240|lazyfreeFreeObject" RS "lazyfree.c:20|" ZMALLOC,
			701, 917504, 0.3, 1.0},
		{"[stack map full]", 301, 620107, 0.5, 1.0},
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		double factor = grown > 0 ? stacks[i].growth : 1;
		double objects = stacks[i].objects * factor, bytes = stacks[i].bytes * factor;

		add_stack(profile, stacks[i].stack, llround(objects), llround(bytes),
			llround(objects * stacks[i].kept), llround(bytes * stacks[i].kept));
	}
}

/* ---- Small numbers that can be checked by hand: see flame.test.js ---- */

static void fill_small(struct ap_profile *profile)
{
#define P     "@/opt/small/small@"
#define L     "@/opt/small/libdeep.so.1@"
#define ENTRY "main" P "small.c:11|cache_fill" L "deep.c:7|entry_new" L "deep.c:9|malloc" AL
#define CHURN "main" P "small.c:12|churn" P "small.c:40|malloc" AL
	int32_t main_thread = (int32_t)checked(ap_profile_add_thread(profile, "small", 4127));
	int32_t worker = (int32_t)checked(ap_profile_add_thread(profile, "worker", 4128));

	add_stack(profile,
		"main" P "small.c:10|parse" P "small.c:20|token" P "small.c:30|malloc" AL, 100,
		1000, 10, 100);
	add_stack(profile,
		"main" P "small.c:10|parse" P "small.c:21|parse" P "small.c:20|token" P
		"small.c:30|malloc" AL,
		10, 5000, 4, 2000);
	/* Of one worker, a third just now, the rest long ago. */
	add_labeled(profile, ENTRY,
		&(struct ap_labels){.thread = worker, .size = 6, .lifetime = -1, .age = 0}, 4,
		(int64_t[]){10, 1000, 10, 1000});
	add_labeled(profile, ENTRY,
		&(struct ap_labels){.thread = worker, .size = 6, .lifetime = -1, .age = 9}, 5,
		(int64_t[]){20, 2000, 20, 2000});
	add_stack(profile, "main" P "small.c:11|cache_fill" L "deep.c:8|malloc" AL, 7, 700, 7, 700);
	/* Of two threads, freed at once or after a second. */
	add_labeled(profile, CHURN,
		&(struct ap_labels){.thread = main_thread, .size = 5, .lifetime = 0, .age = -1},
		100, (int64_t[]){750, 24000, 0, 0});
	add_labeled(profile, CHURN,
		&(struct ap_labels){.thread = worker, .size = 7, .lifetime = 4, .age = -1}, 50,
		(int64_t[]){250, 40000, 0, 0});
	add_stack(profile, "main" P "small.c:13|token" P "small.c:31|malloc" AL, 1, 41, 1, 41);
	add_stack(profile, "[stack unreadable]", 2, 159, 2, 159);
}

/* ---- Names that attack ---- */

static void fill_hostile(struct ap_profile *profile)
{
	static const char *const names[] = {
		"<script>alert(1)</script>",
		"</script><script>alert(2)</script>",
		"<img src=x onerror=alert(3)>",
		"<!--<script>",
		"\"'`;\\u003cb\\u003e &lt;b&gt; ${alert(4)}",
		"line\xe2\x80\xa8separator\xe2\x80\xa9"
		"ends",
		"bad\xff\xfe\xc3(utf8\xed\xa0\x80",
		"bidi\xe2\x80\xae"
		"txet",
		"new\nline\ttab\x1b[31m",
		"__proto__",
		"constructor",
		"\xf0\x9f\x94\xa5 \xe7\x81\xab\xe7\x84\x94",
	};
	char stack[1024];
	int32_t thread =
		(int32_t)checked(ap_profile_add_thread(profile, "</script><img src=x>", 1));

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(stack, sizeof(stack), "%s@/lib/%s.so@%s.c:1|leaf@/lib/x.so@x.c:2",
			names[i], i == 0 ? "<b>" : "h", names[i]);
		add_labeled(profile, stack,
			&(struct ap_labels){.thread = thread, .size = 4, .lifetime = -1, .age = 3},
			1, (int64_t[]){10 + (int64_t)i, 1000, 10, 1000 + (int64_t)i});
	}
	if (ap_profile_set(&profile->info.filter, "-X '<b onclick=alert(8)>'") ||
		ap_profile_set(&profile->info.comm, "<script>alert(5)</script>") ||
		ap_profile_set(
			&profile->info.command, "x --y='</title><script>alert(6)</script>'") ||
		ap_profile_set(&profile->info.host, "\"onload=alert(7) x=\""))
		die("pages");
}

/* ---- Size ---- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/*
 * `stacks` stacks of which each leaves the one before at a random depth and goes `fresh` frames
 * its own way: about stacks * fresh nodes.
 */
static void fill_big(struct ap_profile *profile, int stacks, int fresh, int functions)
{
	uint64_t state = 42;
	uint32_t path[64], depth = 0;
	uint32_t *location = calloc((size_t)functions, sizeof(*location));
	static const char *const spaces[] = {"storage::engine", "net::http2", "query::planner",
		"std::vector<std::pair<std::string, unsigned long>>", "util"};

	uint32_t thread[8];

	if (!location)
		die("pages");
	for (int i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i);
		thread[i] = checked(ap_profile_add_thread(profile, name, 5000 + i));
	}
	for (int i = 0; i < functions; i++) {
		char name[200], file[64], library[64];
		struct ap_line line = {.line = i % 900 + 1};

		snprintf(name, sizeof(name),
			"%s::Stage%d::operation_%d(std::span<unsigned char const>, int)",
			spaces[i % 5], i / 97, i);
		snprintf(file, sizeof(file), "/src/app/%s_%d.cc", i % 2 ? "core" : "net", i / 97);
		snprintf(library, sizeof(library),
			i % 4 != 3 ? "/opt/app/bin/appserver" : "/opt/app/lib/libpart%d.so", i % 7);
		line.function = checked(ap_profile_add_function(profile, name, NULL, file, 0));
		location[i] = checked(ap_profile_add_location(profile,
			(int32_t)checked(ap_profile_add_mapping(
				profile, 0x400000, 0x500000, 0, library, NULL)),
			0x400000 + (uint64_t)i, &line, 1));
	}
	for (int i = 0; i < stacks; i++) {
		uint32_t leaf_first[64];
		int64_t size = 16 << next_random(&state) % 12,
			count = 1 + (int64_t)(next_random(&state) % 999);
		int64_t live = next_random(&state) % 3 ? 0 : count;

		depth = depth ? 1 + (uint32_t)(next_random(&state) % 24) % depth : 0;
		for (int j = 0; j < fresh && depth < 60; j++)
			path[depth++] = location[next_random(&state) % (uint64_t)functions];
		for (uint32_t j = 0; j < depth; j++)
			leaf_first[j] = path[depth - 1 - j];
		/* Two threads each; what is not live lived for some time. */
		for (int j = 0; j < 2; j++) {
			const struct ap_labels labels = {.thread = (int32_t)thread[(i + j) % 8],
				.size = (int8_t)(4 + i % 12),
				.lifetime = (int8_t)(live ? -1 : i % 6),
				.age = (int8_t)(live ? i % 10 : -1)};

			checked(ap_profile_add_labeled(profile, leaf_first, depth, &labels,
				(const int64_t[]){count, count * size, live, live * size}, 1));
		}
	}
	free(location);
}

int main(int argc, char **argv)
{
	struct ap_profile *server = new_profile("redis-server", "/usr/bin/redis-server *:6379");
	struct ap_profile *older = new_profile("redis-server", "/usr/bin/redis-server *:6379");
	struct ap_profile *small = new_profile("small", "small --flag 'a b'");
	struct ap_profile *hostile = new_profile("hostile", "");
	struct ap_profile *stacks = new_profile("appserver", "/opt/app/bin/appserver --port 8080");
	struct ap_profile *nodes = new_profile("appserver", "/opt/app/bin/appserver --port 8080");
	struct ap_profile *empty = new_profile("idle", "sleep inf");

	if (argc != 2) {
		fprintf(stderr, "usage: pages DIRECTORY\n");
		return 2;
	}
	fill_server(older, 0);
	fill_server(server, 1);
	server->info.lost = 3;
	fill_small(small);
	fill_hostile(hostile);
	fill_big(stacks, 20000, 5, 4000);
	fill_big(nodes, 12500, 8, 12000);
	write_page(argv[1], "server", server, NULL);
	write_page(argv[1], "older", older, NULL);
	write_page(argv[1], "compared", server, older);
	write_page(argv[1], "small", small, NULL);
	write_page(argv[1], "hostile", hostile, NULL);
	write_page(argv[1], "stacks", stacks, NULL);
	write_page(argv[1], "nodes", nodes, NULL);
	write_page(argv[1], "empty", empty, NULL);
	for (int i = 0; i < 7; i++)
		ap_profile_free((struct ap_profile *[]){
			server, older, small, hostile, stacks, nodes, empty}[i]);
	return 0;
}
