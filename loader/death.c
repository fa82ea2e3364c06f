// SPDX-License-Identifier: MIT
#include "death.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "clock.h"

char *ap_death_format(char out[AP_DEATH_TEXT], const struct ap_death *death)
{
	time_t at = death->at_ns / AP_SECOND_NS;
	char moment[48] = "", cause[32];
	const char *name;
	struct tm parts;

	if (!death->known || !WIFSIGNALED(death->status)) {
		snprintf(out, AP_DEATH_TEXT, death->known ? "exited with status %d" : "exited",
			WEXITSTATUS(death->status));
		return out;
	}
	if (at && localtime_r(&at, &parts))
		strftime(moment, sizeof(moment), " at %H:%M:%S %Z", &parts);
	name = sigabbrev_np(WTERMSIG(death->status));
	if (name)
		snprintf(cause, sizeof(cause), "SIG%s", name);
	else
		snprintf(cause, sizeof(cause), "signal %d", WTERMSIG(death->status));
	snprintf(out, AP_DEATH_TEXT, "was killed by %s%s%s", death->oom ? "the OOM killer" : cause,
		moment, WCOREDUMP(death->status) ? " (core dumped)" : "");
	return out;
}

bool ap_death_is_crash(const struct ap_death *death)
{
	static const int crashes[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};

	if (!death->known || !WIFSIGNALED(death->status))
		return false;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		if (WTERMSIG(death->status) == crashes[i])
			return true;
	return death->oom;
}
