/* Another program asked a question: started, and its answer read. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/program_answer.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 60000
#define ANSWER_MAX ((size_t)16 << 20)
#define PIECE 65536

/* In the child. Never returns. */
static void become_program(const char *const argv[], const char *directory,
			   const struct process_state *state, pid_t parent,
			   int answer)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(answer, 1) < 0 ||
	    dup2(answer, 2) < 0 || (directory && chdir(directory) < 0))
		_exit(126);
	process_state_restore(state);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    getppid() != parent)
		_exit(126);
	/* execvp changes none of the words. */
	(void)execvp(argv[0], (char *const *)(const void *)argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Up to the end of the answer. 0, or -errno: too long, or too slow. */
static int read_answer(int fd, struct strbuf *out)
{
	const int64_t deadline = clock_ms() + ANSWER_MS;
	char piece[PIECE];

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - clock_ms();
		ssize_t length;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&ready, 1, (int)left) < 1)
			continue;
		length = read(fd, piece, sizeof(piece));
		if (length == 0)
			return 0;
		if (length < 0 && errno != EINTR)
			return -errno;
		if (length > 0)
			strbuf_add(out, piece, (size_t)length);
		if (out->length > ANSWER_MAX)
			return -EFBIG;
	}
}

int program_answer(const char *const argv[], const char *directory,
		   const struct process_state *state, struct strbuf *out,
		   struct error *err)
{
	pid_t parent = getpid(), pid;
	int ends[2], status = 0, result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, -errno, "cannot ask %s", argv[0]);
	pid = fork();
	if (pid == 0)
		become_program(argv, directory, state, parent, ends[1]);
	result = pid < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (pid > 0)
		result = read_answer(ends[0], out);
	(void)close(ends[0]);
	if (pid > 0 && result < 0)
		(void)kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (result < 0)
		return error_set_errno(err, result, "cannot ask %s", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
