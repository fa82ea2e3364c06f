// SPDX-License-Identifier: MIT
#include "holder.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "perf_rings.h"
#include "privilege.h"
#include "tracee.h"

/* How many programs are held or followed at once; more are not. */
#define TRACEES_MAX 256

/*
 * How long to wait for a dynamic linker, and how long a program is held for its
 * unwind tables to be made.
 */
#define LINK_NS (2 * AP_SECOND_NS)
#define HELD_NS (5 * AP_SECOND_NS)

/* To trace processes of any user, and to look at them. */
#define RIGHTS (AP_CAPABILITY(CAP_SYS_PTRACE) | AP_CAPABILITY(CAP_DAC_READ_SEARCH))

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

/*
 * What happens to a program. "Says" is a message to the process that has started the holder.
 *
 *   state         event                                      then it is
 *
 *   (none)        executed; its linker may still be at work  STOPS
 *   (none)        executed; it cannot be held                (none)   says: not held
 *   STOPS         stops in its linker                        LINKS
 *   LINKS         system call before all are mapped          LINKS
 *   LINKS         system call: all libraries are mapped      HELD     says: held
 *   STOPS, LINKS  stops for anything else                    let go   says: not held
 *   STOPS, LINKS  LINK_NS are over                           LEAVES   says: not held
 *   HELD          ap_holder_go()                             let go
 *   HELD          HELD_NS are over                           let go   says: not held
 *   LEAVES        stops                                      let go
 *
 * In each it may end, which says "not held" but for LEAVES. One that is being killed when it is to
 * be let go is in LEAVES until then.
 */
enum state {
	STATE_STOPS, /* it has been told to stop */
	STATE_LINKS, /* stopped by the holder; now it runs from system call to system call */
	STATE_HELD,
	STATE_LEAVES, /* it has been told to stop, to be let go */
};

struct tracee {
	pid_t pid;
	enum state state;
	uint64_t until_ns; /* when it is let go at the latest; CLOCK_MONOTONIC */
};

struct tracees {
	int socket, signals;
	struct ap_perf_rings execs;
	struct tracee items[TRACEES_MAX];
	unsigned int count;
};

/*
 * Sends a message. From the holder: a process is held, or not any more. To the holder (held =
 * false): let it go.
 */
static bool say(int socket, pid_t pid, bool held)
{
	struct ap_held message = {.pid = pid, .is_held = held};

	return send(socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       sizeof(message);
}

/* Receives a message. 1; 0: there is none; -1: the other side has gone. */
static int hear(int socket, int flags, struct ap_held *ret)
{
	ssize_t length;

	do {
		length = recv(socket, ret, sizeof(*ret), flags);
	} while (length < 0 && errno == EINTR);
	if (length == sizeof(*ret))
		return 1;
	return length < 0 && errno == EAGAIN ? 0 : -1;
}

/* ---- In the holder ---- */

static void tracee_forget(struct tracees *all, struct tracee *tracee)
{
	if (tracee->state != STATE_LEAVES)
		say(all->socket, tracee->pid, false);
	*tracee = all->items[--all->count];
}

/*
 * Lets a tracee go. One that is being killed cannot be let go: it is kept until its end is seen,
 * for which its parent waits.
 */
static void tracee_leave(struct tracees *all, struct tracee *tracee, int with_signal)
{
	if (!ptrace(PTRACE_DETACH, tracee->pid, NULL, (long)with_signal)) {
		tracee_forget(all, tracee);
		return;
	}
	if (tracee->state != STATE_LEAVES)
		say(all->socket, tracee->pid, false);
	tracee->state = STATE_LEAVES;
	tracee->until_ns = UINT64_MAX;
}

static bool tracee_go_on(struct tracees *all, struct tracee *tracee)
{
	if (!ptrace(PTRACE_SYSCALL, tracee->pid, NULL, 0L))
		return true;
	tracee_leave(all, tracee, 0);
	return false;
}

static void tracee_hold(struct tracees *all, struct tracee *tracee)
{
	tracee->state = STATE_HELD;
	tracee->until_ns = ap_clock_ns(CLOCK_MONOTONIC) + HELD_NS;
	if (!say(all->socket, tracee->pid, true))
		tracee_leave(all, tracee, 0);
}

/*
 * Handles a stop. Returns whether the tracee runs again, so that there may be another stop already.
 */
static bool stop_take(struct tracees *all, struct tracee *tracee, enum ap_stop stop, int got)
{
	enum ap_link link = AP_LINK_UNKNOWN;

	if (stop == AP_STOP_GONE) {
		/* Only after this is its parent told. */
		waitid(P_PID, (id_t)tracee->pid, NULL, WEXITED | WNOHANG);
		tracee_forget(all, tracee);
		return false;
	}
	if (tracee->state == STATE_HELD)
		return false;
	if (tracee->state == STATE_STOPS && stop == AP_STOP_INTERRUPT)
		link = ap_tracee_links(tracee->pid) ? AP_LINK_ON : AP_LINK_UNKNOWN;
	if (tracee->state == STATE_LINKS && stop == AP_STOP_SYSCALL)
		link = ap_tracee_link(tracee->pid);
	if (link == AP_LINK_UNKNOWN) {
		/* This also leaves stops of job control as they are. */
		tracee_leave(all, tracee, got);
		return false;
	}
	if (link == AP_LINK_DONE) {
		tracee_hold(all, tracee);
		return false;
	}
	tracee->state = STATE_LINKS;
	return tracee_go_on(all, tracee);
}

/* From the last to the first, since a tracee that is forgotten is replaced by the last one. */
static void stops_take(struct tracees *all)
{
	for (unsigned int i = all->count; i-- > 0;) {
		struct tracee *tracee = &all->items[i];
		enum ap_stop stop;
		int got;

		do {
			stop = ap_tracee_wait(tracee->pid, WNOHANG, &got);
		} while (stop != AP_STOP_NONE && stop_take(all, tracee, stop, got));
	}
}

static void tracee_begin(struct tracees *all, pid_t pid)
{
	struct tracee *tracee = &all->items[all->count];

	if (all->count == TRACEES_MAX || !ap_process_may_link(pid) ||
		ptrace(PTRACE_SEIZE, pid, NULL, (long)PTRACE_O_TRACESYSGOOD)) {
		say(all->socket, pid, false);
		return;
	}
	*tracee = (struct tracee){
		.pid = pid,
		.state = STATE_STOPS,
		.until_ns = ap_clock_ns(CLOCK_MONOTONIC) + LINK_NS,
	};
	all->count++;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
}

static int record_take(void *context, const struct perf_event_header *header)
{
	const struct comm_record *record = (const struct comm_record *)header;

	if (header->type == PERF_RECORD_COMM && header->size >= sizeof(*record) &&
		header->misc & PERF_RECORD_MISC_COMM_EXEC)
		tracee_begin(context, (pid_t)record->pid);
	return 0;
}

static void tracee_go(struct tracees *all, pid_t pid)
{
	for (unsigned int i = 0; i < all->count; i++) {
		struct tracee *tracee = &all->items[i];

		if (tracee->pid != pid || tracee->state != STATE_HELD)
			continue;
		tracee->state = STATE_LEAVES;
		tracee_leave(all, tracee, 0);
		return;
	}
}

/*
 * Lets go the tracees whose time is over. Returns the timeout of poll() until
 * the next one's, in ms.
 */
static int times_take(struct tracees *all, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = all->count; i-- > 0;) {
		struct tracee *tracee = &all->items[i];

		if (now < tracee->until_ns) {
			next = tracee->until_ns < next ? tracee->until_ns : next;
		} else if (tracee->state == STATE_HELD) {
			tracee_leave(all, tracee, 0);
		} else {
			say(all->socket, tracee->pid, false);
			ptrace(PTRACE_INTERRUPT, tracee->pid, NULL, NULL);
			tracee->state = STATE_LEAVES;
			tracee->until_ns = UINT64_MAX;
		}
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / AP_MILLISECOND_NS) + 1;
}

static void children_forget(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		;
}

/*
 * Closes all descriptors of the parent but the socket, since probes and maps must end with the
 * parent. Blocks signals: those of the terminal are for the parent.
 */
static int holder_open(struct tracees *all, pid_t pid)
{
	const struct perf_event_attr records = {.comm = 1, .comm_exec = 1};
	const struct sched_param soon = {.sched_priority = 1};
	struct ap_sudo_user user;
	sigset_t set;
	int err;

	if (dup2(all->socket, 3) != 3 || close_range(4, ~0U, 0))
		return -errno;
	all->socket = 3;
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	all->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (all->signals < 0)
		return -errno;
	err = ap_perf_rings_open(&all->execs, pid, &records);
	if (err)
		return err;
	/*
	 * What it has to do is little but urgent. Without the right for this priority it is
	 * sometimes too late.
	 */
	sched_setscheduler(0, SCHED_RR, &soon);
	err = ap_sudo_user_find(&user);
	if (!err)
		err = ap_privilege_drop(&user, RIGHTS);
	if (!err && prctl(PR_SET_PDEATHSIG, SIGKILL))
		err = -errno;
	return err;
}

static _Noreturn void holder_main(int socket, pid_t pid)
{
	struct tracees all = {.socket = socket};
	struct ap_held order;
	int err = holder_open(&all, pid), heard = 0;
	struct pollfd polled[] = {
		{.fd = all.socket, .events = POLLIN},
		{.fd = all.signals, .events = POLLIN},
		{.fd = all.execs.ready, .events = POLLIN},
	};

	say(all.socket, pid, !err);
	while (!err && heard >= 0) {
		int timeout = times_take(&all, ap_clock_ns(CLOCK_MONOTONIC));

		if (poll(polled, 3, timeout) < 0 && errno != EINTR)
			break;
		if (polled[2].revents)
			ap_perf_rings_read(&all.execs, record_take, &all);
		while ((heard = hear(all.socket, MSG_DONTWAIT, &order)) > 0)
			tracee_go(&all, order.pid);
		if (polled[1].revents)
			children_forget(all.signals);
		stops_take(&all);
	}
	_exit(0);
}

/* ---- In the process that starts it ---- */

int ap_holder_start(struct ap_holder *holder, pid_t pid)
{
	struct ap_held answer = {0};
	int ends[2];
	int err = 0;

	*holder = AP_HOLDER_NONE;
	if (!(ap_capabilities() & AP_CAPABILITY(CAP_SYS_PTRACE)))
		return -EPERM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	holder->pid = fork();
	if (!holder->pid) {
		close(ends[0]);
		holder_main(ends[1], pid);
	}
	if (holder->pid < 0)
		err = -errno;
	close(ends[1]);
	holder->socket = ends[0];
	if (!err && hear(holder->socket, 0, &answer) < 0)
		err = -ECHILD;
	if (!err && !answer.is_held)
		err = -EPERM;
	if (err)
		ap_holder_end(holder);
	return err;
}

bool ap_holder_next(struct ap_holder *holder, struct ap_held *ret)
{
	int heard = holder->pid ? hear(holder->socket, MSG_DONTWAIT, ret) : 0;

	if (heard < 0)
		ap_holder_end(holder);
	return heard > 0;
}

void ap_holder_go(struct ap_holder *holder, pid_t pid)
{
	if (holder->pid)
		say(holder->socket, pid, false);
}

void ap_holder_end(struct ap_holder *holder)
{
	/*
	 * Children of this process may have the socket, too: closing it alone would
	 * not end the holder.
	 */
	if (holder->socket >= 0) {
		shutdown(holder->socket, SHUT_RDWR);
		close(holder->socket);
	}
	while (holder->pid > 0 && waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*holder = AP_HOLDER_NONE;
}
