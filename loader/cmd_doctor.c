// SPDX-License-Identifier: MIT
/* allocprof doctor [PID]: what is missing for a recording, and what to type. */
#include "cmd.h"

#include "checkup.h"
#include "json.h"

const char *const cmd_doctor_help[] = {
	"usage: allocprof doctor [OPTIONS] [PID]\n"
	"Checks this machine, and a process: what keeps it from being recorded, and\n"
	"what to type. Ends with 1 when a check has failed.\n",
	process_option_help,
	"      --json               print it as JSON\n"
	"  -h, --help               this text\n",
	NULL,
};

enum { OPTION_JSON = OPTION_OWN };

static const struct option doctor_options[] = {
	{"name", required_argument, NULL, OPTION_NAME},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *verdict_text(enum ap_verdict verdict)
{
	static const char *const texts[] = {"ok", "warn", "FAIL"};

	return texts[verdict];
}

static void checkup_print(const struct ap_checkup *checkup)
{
	for (size_t i = 0; i < checkup->count; i++) {
		const struct ap_check *check = &checkup->checks[i];

		printf("%-4s  %-20s %s\n", verdict_text(check->verdict), check->name, check->text);
		if (check->hint[0])
			printf("      hint: %s\n", check->hint);
	}
}

static void checkup_json(const struct ap_checkup *checkup)
{
	struct ap_json json = {.out = stdout};

	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_text(&json, "version", AP_VERSION);
	ap_json_text(&json, "verdict", verdict_text(ap_checkup_verdict(checkup)));
	ap_json_array(&json, "checks");
	for (size_t i = 0; i < checkup->count; i++) {
		const struct ap_check *check = &checkup->checks[i];

		ap_json_object(&json, NULL);
		ap_json_text(&json, "verdict", verdict_text(check->verdict));
		ap_json_text(&json, "name", check->name);
		ap_json_text(&json, "text", check->text);
		ap_json_text(&json, "hint", check->hint[0] ? check->hint : NULL);
		ap_json_close(&json);
	}
	ap_json_close(&json);
	ap_json_close(&json);
}

int cmd_doctor(int argc, char **argv)
{
	struct ap_checkup checkup = {0};
	struct ap_error error = {0};
	const char *name = NULL;
	bool as_json = false;
	pid_t pid = 0;
	int option, err = 0;

	opterr = 0;
	optind = 1;
	while (!err && (option = getopt_long(argc, argv, ":h", doctor_options, NULL)) >= 0) {
		switch (option) {
		case OPTION_NAME:
			name = optarg;
			break;
		case OPTION_JSON:
			as_json = true;
			break;
		case 'h':
			help_print(cmd_doctor_help);
			return AP_EXIT_OK;
		default:
			err = option_error(&error, option, argv, doctor_options);
		}
	}
	if (!err && (name || optind < argc))
		err = process_choose(
			"doctor", name, false, argc - optind, argv + optind, &pid, &error);
	if (err)
		return command_fail(argc, argv, &error);
	ap_checkup_machine(&checkup);
	if (pid)
		ap_checkup_target(&checkup, pid);
	(as_json ? checkup_json : checkup_print)(&checkup);
	return ap_checkup_verdict(&checkup) == AP_VERDICT_FAIL ? AP_EXIT_FAILURE : AP_EXIT_OK;
}
