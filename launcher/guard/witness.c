/* Tells a signal that was sent to the process group from one to autofit alone.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard/witness.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One call of the kernel sends to all of a group: this is ample for it. */
#define WITNESS_WAIT_NS 50000000L

/* One question is a signal's number, one answer whether it came. */
static void __attribute__((noreturn)) serve(int socket)
{
	const struct timespec wait = { 0, WITNESS_WAIT_NS };
	unsigned char number;

	/* Not found by the name of autofit: such a signal is for that alone. */
	(void)prctl(PR_SET_NAME, "guard-witness", 0, 0, 0);
	for (int fd = 0; fd <= 2; fd++)
		(void)close(fd);
	while (read(socket, &number, 1) == 1) {
		unsigned char came;
		sigset_t one;
		int got;

		(void)sigemptyset(&one);
		(void)sigaddset(&one, number);
		do
			got = sigtimedwait(&one, NULL, &wait);
		while (got < 0 && errno == EINTR);
		came = got > 0;
		if (write(socket, &came, 1) != 1)
			break;
	}
	_exit(0);
}

int witness_start(struct witness *witness, struct error *err)
{
	const struct timeval patience = { .tv_sec = 1 };
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, -errno, "cannot make a socket");
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		serve(ends[1]);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		int result = error_set_errno(err, -errno, "cannot fork");

		(void)close(ends[0]);
		return result;
	}
	/* It may have been stopped, alone. */
	(void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience));
	*witness = (struct witness){ .socket = ends[0], .pid = pid };
	return 0;
}

bool witness_saw(struct witness *witness, const siginfo_t *info)
{
	unsigned char number = (unsigned char)info->si_signo;
	unsigned char came;

	if (witness->socket >= 0 &&
	    send(witness->socket, &number, 1, MSG_NOSIGNAL) == 1 &&
	    recv(witness->socket, &came, 1, 0) == 1)
		return came;
	/* A late answer would be taken for that of another question. */
	witness_stop(witness);
	/* The terminal sends to a group, programs mostly to one process. */
	return info->si_code == SI_KERNEL;
}

void witness_stop(struct witness *witness)
{
	if (witness->socket < 0)
		return;
	(void)close(witness->socket);
	(void)kill(witness->pid, SIGKILL);
	while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	*witness = (struct witness)WITNESS_INIT;
}
