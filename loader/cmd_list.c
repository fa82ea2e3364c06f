// SPDX-License-Identifier: MIT
/* allocprof list: the processes that can be recorded. */
#include "cmd.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns.h"
#include "container.h"
#include "json.h"
#include "printable.h"
#include "probe_state.h"
#include "units.h"

#define PROBE_COLUMNS 20

const char *const cmd_list_help[] = {
	"usage: allocprof list [OPTIONS]\n"
	"Lists the processes whose allocator has the probes, how many bytes are between\n"
	"two of its samples, and whether somebody records it now.\n",
	"      --json               print it as JSON\n"
	"  -h, --help               this text\n",
	NULL,
};

enum { OPTION_JSON = OPTION_OWN };

static const struct option list_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct list {
	struct ap_json json;
	bool as_json;
	unsigned int shown, unreadable;
	pid_t unreadable_pid; /* one of them */
	unsigned int silent;  /* shown, but whether somebody records them is not known */
};

static const char *user_of(pid_t pid, char *out, size_t room)
{
	struct passwd *entry = NULL;
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &status)) {
		snprintf(out, room, "?");
		return out;
	}
	entry = getpwuid(status.st_uid);
	if (entry)
		ap_printable(out, room, entry->pw_name);
	else
		snprintf(out, room, "%u", status.st_uid);
	return out;
}

/*
 * The sampling period: "512K", or with a decimal; "-": the allocator has no such variable; "?": it
 * is not readable.
 */
static const char *rate_of(
	const struct ap_probed *probed, const struct ap_probe_state *state, char out[AP_SIZE_TEXT])
{
	static const char units[] = "KMGT";
	double size = (double)state->period / 1024;
	int unit = 0;

	if (!state->has_period)
		return probed->period_address ? "?" : "-";
	for (; size >= 1024 && units[unit + 1]; unit++)
		size /= 1024;
	if (state->period < 1024)
		snprintf(out, AP_SIZE_TEXT, "%u", (unsigned int)state->period);
	else
		snprintf(out, AP_SIZE_TEXT, size == floor(size) ? "%.0f%c" : "%.1f%c", size,
			units[unit]);
	return out;
}

/* Prints a line for each file with probes; most processes have one such file. */
static void lines_print(
	struct list *list, const struct ap_target *target, const char *user, const char *container)
{
	if (!list->shown)
		printf("%7s %-12s %-15s %-20s %-6s %-13s %s\n", "PID", "USER", "COMM", "PROBE",
			"RATE", "LIVE-ATTACHED", "CONTAINER");
	for (size_t i = 0; i < target->probed_count; i++) {
		const struct ap_probed *probed = &target->probed[i];
		struct ap_probe_state state = ap_probe_state_read(target, probed);
		const char *slash = strrchr(probed->object->path, '/');
		const char *attached = state.attached ? "yes" : "no";
		char file[256], rate[AP_SIZE_TEXT];

		ap_columns_fit(file, sizeof(file), slash ? slash + 1 : probed->object->path,
			PROBE_COLUMNS, false);
		list->silent += !state.attached_known;
		printf("%7d %-12s %-15s %-20s %-6s %-13s %s\n", target->pid, user, target->comm,
			file, rate_of(probed, &state, rate), state.attached_known ? attached : "?",
			*container ? container : "-");
	}
}

static void object_print(
	struct list *list, const struct ap_target *target, const char *user, const char *container)
{
	struct ap_json *json = &list->json;

	ap_json_object(json, NULL);
	ap_json_number(json, "pid", target->pid);
	ap_json_text(json, "user", user);
	ap_json_text(json, "comm", target->comm);
	ap_json_text(json, "command", target->command);
	ap_json_text(json, "container", *container ? container : NULL);
	ap_json_array(json, "probes");
	for (size_t i = 0; i < target->probed_count; i++) {
		const struct ap_probed *probed = &target->probed[i];
		struct ap_probe_state state = ap_probe_state_read(target, probed);

		ap_json_object(json, NULL);
		ap_json_text(json, "file", probed->object->path);
		ap_json_real(json, "period", state.has_period ? (double)state.period : NAN);
		if (state.attached_known)
			ap_json_bool(json, "attached", state.attached);
		else
			ap_json_text(json, "attached", NULL);
		ap_json_close(json);
	}
	ap_json_close(json);
	ap_json_close(json);
}

/*
 * Lists a process if it has probes. One that has exited meanwhile and kernel threads are skipped.
 */
static void process_take(struct list *list, pid_t pid)
{
	struct ap_target target = {.pidfd = -1};
	char user[64], container[AP_CONTAINER_TEXT];
	struct ap_error error;
	int err = ap_target_open(&target, pid, &error);

	if (!err)
		err = ap_target_scan(&target, &error);
	if (!err)
		err = ap_target_check_probes(&target, &error);
	if (!err) {
		(list->as_json ? object_print : lines_print)(list, &target,
			user_of(pid, user, sizeof(user)), ap_container_of(container, pid));
		list->shown++;
	} else if (err == -EPERM || err == -EACCES) {
		list->unreadable++;
		list->unreadable_pid = pid;
	}
	ap_target_clear(&target);
}

static int processes_take(struct list *list, struct ap_error *error)
{
	struct dirent **entries;
	int count = scandir("/proc", &entries, NULL, versionsort);
	int err = count < 0 ? ap_errno() : 0;

	if (err)
		return ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot read /proc");
	for (int i = 0; i < count; i++) {
		pid_t pid = atoi(entries[i]->d_name);

		if (pid > 0)
			process_take(list, pid);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

static int list_print(bool as_json, struct ap_error *error)
{
	struct list list = {.json = {.out = stdout}, .as_json = as_json};
	const char *remedy = geteuid() ? "; run as root" : "";
	char doctor[48] = "";
	int err;

	if (as_json) {
		ap_json_object(&list.json, NULL);
		ap_json_number(&list.json, "schema", 1);
		ap_json_array(&list.json, "processes");
	}
	err = processes_take(&list, error);
	if (as_json) {
		ap_json_close(&list.json);
		ap_json_number(&list.json, "unreadable", list.unreadable);
		ap_json_close(&list.json);
		return err;
	}
	if (!err && !list.shown)
		fputs("no process with otel_memory probes\n"
		      "hint: start one with: allocprof run -- COMMAND\n",
			stderr);
	if (!*remedy)
		snprintf(doctor, sizeof(doctor), "; why: allocprof doctor %d", list.unreadable_pid);
	if (list.unreadable)
		fprintf(stderr, "note: %u process%s not readable%s%s\n", list.unreadable,
			list.unreadable == 1 ? " is" : "es are", remedy, doctor);
	if (list.silent)
		fprintf(stderr, "note: the memory of %u of them is not readable%s\n", list.silent,
			remedy);
	return err;
}

int cmd_list(int argc, char **argv)
{
	struct ap_error error = {0};
	bool as_json = false;
	int option, err = 0;

	opterr = 0;
	optind = 1;
	while (!err && (option = getopt_long(argc, argv, ":h", list_options, NULL)) >= 0) {
		switch (option) {
		case OPTION_JSON:
			as_json = true;
			break;
		case 'h':
			help_print(cmd_list_help);
			return AP_EXIT_OK;
		default:
			err = option_error(&error, option, argv, list_options);
		}
	}
	if (!err && optind < argc) {
		ap_error_what(&error, AP_EXIT_USAGE, "list takes no arguments");
		ap_error_hint(&error, "allocprof list --help");
		err = -EINVAL;
	}
	if (!err)
		err = list_print(as_json, &error);
	return err ? command_fail(argc, argv, &error) : AP_EXIT_OK;
}
