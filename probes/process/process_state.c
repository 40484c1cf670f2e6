/* State that the process came in with, for the real command to get back. */
/* SPDX-License-Identifier: MIT */
#include "probes/process/process_state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int fill_closed_descriptors(struct error *err)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is fd: lower ones are open by now. */
		if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return error_set_errno(err, -errno,
					       "cannot open /dev/null");
	}
	return 0;
}

int process_state_save(struct process_state *state, struct error *err)
{
	struct sigaction action;

	memset(state, 0, sizeof(*state));
	for (int number = 1; number < PROCESS_SIGNALS; number++)
		state->ignored[number] =
			sigaction(number, NULL, &action) == 0 &&
			action.sa_handler == SIG_IGN;
	(void)sigprocmask(SIG_SETMASK, NULL, &state->mask);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &state->subreaper, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	/* A limit on the size of files is an error to report, not an end. */
	(void)signal(SIGXFSZ, SIG_IGN);
	return fill_closed_descriptors(err);
}

bool process_state_ignores(const struct process_state *state, int number)
{
	assert(number > 0 && number < PROCESS_SIGNALS);
	return state->ignored[number];
}

bool process_has_address_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY;
}

void process_state_restore(const struct process_state *state)
{
	struct sigaction action, now;

	memset(&action, 0, sizeof(action));
	/* SIGKILL, SIGSTOP and the C library's own two fail, and may. One that
	 * is as it was stays so: to ignore it anew forgets one that waits. Of
	 * children that is right, for they were autofit's. */
	for (int number = 1; number < PROCESS_SIGNALS; number++) {
		action.sa_handler = state->ignored[number] ? SIG_IGN : SIG_DFL;
		if (number == SIGCHLD || (sigaction(number, NULL, &now) == 0 &&
					  now.sa_handler != action.sa_handler))
			(void)sigaction(number, &action, NULL);
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, state->subreaper, 0, 0, 0);
	(void)sigprocmask(SIG_SETMASK, &state->mask, NULL);
}
