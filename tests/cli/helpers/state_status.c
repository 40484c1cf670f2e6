/* Runs a command and says how it ended: by which code or which signal. */
/* SPDX-License-Identifier: MIT */
/*
 * A shell cannot tell exit 130 from SIGINT. Prints "exit N" or "signal N" on
 * stdout; the command's own stdout goes to stderr. No core file is left.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 99

int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	int status;
	pid_t pid;

	if (argc < 2)
		return CANNOT;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	pid = fork();
	if (pid == 0) {
		(void)dup2(2, 1);
		(void)execvp(argv[1], argv + 1);
		_exit(CANNOT);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return CANNOT;
	if (WIFSIGNALED(status))
		(void)printf("signal %d\n", WTERMSIG(status));
	else
		(void)printf("exit %d\n", WEXITSTATUS(status));
	return 0;
}
