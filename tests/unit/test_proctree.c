/* Processes found by what /proc says of them. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "probes/process/limit_mark.h"
#include "probes/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MARK "AUTOFIT_PROBE=8c1f00d5aa"

static bool list_has(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == pid)
			return true;
	}
	return false;
}

static void finish(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A child that says when it is ready and then waits to be killed. */
static pid_t start(void (*prepare)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare();
		(void)!write(ready[1], "r", 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void take_a_hostile_name(void)
{
	(void)prctl(PR_SET_NAME, ") Z 1 (2 \n)");
	(void)setsid();
}

static void a_hostile_name_hides_nothing(void **state)
{
	uint64_t before = proctree_now_ticks();
	pid_t pid = start(take_a_hostile_name);
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proctree_stat(pid, &stat), 0);
	assert_int_equal(stat.pid, pid);
	assert_int_equal(stat.ppid, getpid());
	assert_int_equal(stat.pgrp, pid);
	assert_int_equal(stat.session, pid);
	assert_int_equal(stat.threads, 1);
	assert_int_not_equal(stat.state, 'Z');
	assert_in_range(stat.start_time, before - 1, proctree_now_ticks());
	finish(pid);
	assert_int_equal(proctree_stat(pid, &stat), -ESRCH);
	assert_int_equal(proctree_stat(-1, &stat), -ESRCH);
}

static void work(void)
{
	for (;;) {
		struct proc_stat stat;

		if (proctree_stat(getpid(), &stat) == 0 && stat.cpu_ticks >= 3)
			return;
	}
}

static void work_is_counted(void **state)
{
	pid_t pid = start(work);
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proctree_stat(pid, &stat), 0);
	assert_in_range(stat.cpu_ticks, 3, 1000);
	finish(pid);
}

static void wait_for_end(void)
{
	for (;;)
		(void)pause();
}

static void *fork_from_a_thread(void *report)
{
	pid_t pid = fork();

	if (pid == 0)
		wait_for_end();
	(void)!write(*(const int *)report, &pid, sizeof(pid));
	/* A child forked by a thread stays the thread's while that lives. */
	wait_for_end();
	return NULL;
}

/* child; its child in a session of its own; a child of a second thread. */
static void grow_tree(int report)
{
	pid_t pids[3] = { getpid() };
	pthread_t thread;
	int ready[2];

	(void)!pipe(ready);
	pids[1] = fork();
	if (pids[1] == 0) {
		(void)setsid();
		(void)!write(ready[1], pids, sizeof(*pids));
		wait_for_end();
	}
	(void)!read(ready[0], &pids[2], sizeof(pids[2]));
	(void)pthread_create(&thread, NULL, fork_from_a_thread, &ready[1]);
	(void)!read(ready[0], &pids[2], sizeof(pids[2]));
	(void)!write(report, pids, sizeof(pids));
	wait_for_end();
}

static void a_tree_is_found_whole(void **state)
{
	static const struct {
		const char *name;
		enum proctree_walk walk;
		bool other_threads;
	} rows[] = {
		{ "by children", PROCTREE_WHOLE, true },
		{ "by first threads", PROCTREE_QUICK, false },
		{ "by scan", PROCTREE_SCAN, true },
	};
	struct pid_list list = PID_LIST_INIT;
	int report[2];
	pid_t pids[3];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(report), 0);
	child = fork();
	if (child == 0)
		grow_tree(report[1]);
	assert_int_equal(read(report[0], pids, sizeof(pids)), sizeof(pids));
	assert_int_equal(pids[0], child);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t count =
			proctree_descendants(getpid(), rows[i].walk, &list);

		assert_int_equal(count, list.count);
		assert_in_range(count, 2, rows[i].other_threads ? 3 : 2);
		assert_true(list_has(&list, pids[0]));
		assert_true(list_has(&list, pids[1]));
		assert_int_equal(list_has(&list, pids[2]),
				 rows[i].other_threads);
		assert_false(list_has(&list, getpid()));
		assert_true(list.items[0] < list.items[1]);

		(void)proctree_descendants(pids[1], rows[i].walk, &list);
		assert_int_equal(list.count, 0);
	}
	(void)kill(pids[2], SIGKILL);
	(void)kill(pids[1], SIGKILL);
	finish(child);
	pid_list_release(&list);
}

static void a_zombie_counts_until_it_is_reaped(void **state)
{
	struct pid_list list = PID_LIST_INIT;
	siginfo_t info;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proctree_descendants(getpid(), PROCTREE_WHOLE, &list),
			 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proctree_descendants(getpid(), PROCTREE_WHOLE, &list),
			 0);
	pid_list_release(&list);
}

/* cat with this environment, and a mark in its limits or NULL, waiting for a
 * stdin that never comes. */
struct cat {
	pid_t pid;
	int in;
};

static struct cat cat_start_with(char *const environment[], const char *mark)
{
	char program[] = "cat";
	char *const argv[] = { program, NULL };
	struct cat cat;
	int started[2], in[2];
	char byte;

	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	cat.pid = fork();
	assert_true(cat.pid >= 0);
	if (cat.pid == 0) {
		(void)dup2(in[0], STDIN_FILENO);
		if (mark)
			limit_mark_set(mark);
		(void)execve("/bin/cat", argv, environment);
		(void)!write(started[1], "x", 1);
		_exit(127);
	}
	(void)close(started[1]);
	(void)close(in[0]);
	/* Closed by exec: the end of file says that it has happened. */
	assert_int_equal(read(started[0], &byte, 1), 0);
	(void)close(started[0]);
	cat.in = in[1];
	return cat;
}

static struct cat cat_start(char *const environment[])
{
	return cat_start_with(environment, NULL);
}

static void cat_end(const struct cat *cat)
{
	(void)close(cat->in);
	assert_int_equal(waitpid(cat->pid, NULL, 0), cat->pid);
}

static void an_environment_is_searched_by_whole_entries(void **state)
{
	static const struct {
		const char *assignment;
		bool expected;
	} rows[] = {
		{ "FIRST=1", true },
		{ MARK, true },
		{ "EMPTY=", true },
		{ "LAST=z", true },
		{ "FIRST=", false },
		{ "FIRST=12", false },
		{ "IRST=1", false },
		{ "AUTOFIT_PROBE=8c1f00d5", false },
		{ "", false },
		{ "EMPTY", false },
		{ "PROBE=8c1f00", false },
	};
	size_t big = 100000;
	char *large = malloc(big + 1);
	char first[] = "FIRST=1", other[] = "X" MARK, empty[] = "EMPTY=";
	char mark[] = MARK, last[] = "LAST=z";
	char *const environment[] = { first, other, large, large, large,
				      empty, mark,  last,  NULL };
	struct cat cat;

	(void)state;
	assert_non_null(large);
	memset(large, 'y', big);
	memcpy(large, "LARGE=", 6);
	large[big] = '\0';
	cat = cat_start(environment);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(
			proctree_is_marked(cat.pid, rows[i].assignment),
			rows[i].expected);
	cat_end(&cat);
	assert_false(proctree_is_marked(cat.pid, MARK));
	free(large);
}

static void marked_processes_are_found_anywhere(void **state)
{
	uint64_t before = proctree_now_ticks() - 1;
	char mark[] = MARK, other[] = "AUTOFIT_PROBE=8c1f00d5ab";
	char *const marked[] = { mark, NULL };
	char *const unmarked[] = { other, NULL };
	struct pid_list list = PID_LIST_INIT;
	struct cat one = cat_start(marked);
	struct cat two = cat_start(marked);
	struct cat three = cat_start(unmarked);

	(void)state;
	assert_int_equal(proctree_find_marked(MARK, before, &list), 2);
	assert_true(list_has(&list, one.pid));
	assert_true(list_has(&list, two.pid));
	assert_int_equal(
		proctree_find_marked(MARK, proctree_now_ticks() + 1, &list), 0);
	cat_end(&one);
	cat_end(&two);
	cat_end(&three);
	assert_int_equal(proctree_find_marked(MARK, before, &list), 0);
	pid_list_release(&list);
}

static void a_cleared_environment_hides_nothing(void **state)
{
	char *const nothing[] = { NULL };
	struct pid_list list = PID_LIST_INIT;
	struct cat one = cat_start_with(nothing, MARK);
	struct cat other = cat_start_with(nothing, MARK "0");

	(void)state;
	assert_int_equal(proctree_find_marked(MARK, 0, &list), 1);
	assert_true(list_has(&list, one.pid));
	assert_true(proctree_is_marked(other.pid, MARK "0"));
	assert_false(proctree_is_marked(other.pid, MARK));
	cat_end(&one);
	cat_end(&other);
	pid_list_release(&list);
}

/* What the program does when it is started by the test below. */
static int look_for_others(void)
{
	struct pid_list list = PID_LIST_INIT;
	size_t found = proctree_find_marked(MARK, 0, &list);
	bool marked = proctree_is_marked(getpid(), MARK);

	pid_list_release(&list);
	return marked && found == 0 ? 0 : 1;
}

static void the_caller_is_not_among_the_marked(void **state)
{
	char program[] = "test_proctree", mode[] = "look", mark[] = MARK;
	char *const argv[] = { program, mode, NULL };
	char *const environment[] = { mark, NULL };
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		(void)execve("/proc/self/exe", argv, environment);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hostile_name_hides_nothing),
		cmocka_unit_test(work_is_counted),
		cmocka_unit_test(a_tree_is_found_whole),
		cmocka_unit_test(a_zombie_counts_until_it_is_reaped),
		cmocka_unit_test(an_environment_is_searched_by_whole_entries),
		cmocka_unit_test(marked_processes_are_found_anywhere),
		cmocka_unit_test(a_cleared_environment_hides_nothing),
		cmocka_unit_test(the_caller_is_not_among_the_marked),
	};

	if (argc == 2 && !strcmp(argv[1], "look"))
		return look_for_others();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
