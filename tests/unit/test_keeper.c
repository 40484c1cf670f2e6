/* The keeper over real processes: what it starts, it brings to an end. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/keeper/keeper.h"

#include "base/alloc.h"
#include "isolation_case.h"
#include "probes/process/proctree.h"
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <uv.h>

#include <cmocka.h>

#define MARK_MAX 64
/* Far above what anything here takes, so that only a fault comes to it. */
#define PATIENCE_MS 600000
#define ROUND_MS 5
#define OUTPUT_MAX 4096

/* The program itself, as what the keeper starts: argv[1] says what it does. */
#define SELF "/proc/self/exe"

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_gone(pid_t pid)
{
	struct proc_stat stat;

	return proctree_stat(pid, &stat) < 0 || stat.state == 'Z';
}

static bool is_stopped(pid_t pid)
{
	struct proc_stat stat;

	return proctree_stat(pid, &stat) == 0 && stat.state == 'T';
}

static bool is_running(pid_t pid)
{
	return !is_gone(pid) && !is_stopped(pid);
}

static bool is_still(pid_t pid)
{
	return !is_running(pid);
}

static bool comes_true(bool (*condition)(pid_t pid), pid_t pid, int64_t ms)
{
	int64_t end = now_ms() + ms;

	while (!condition(pid)) {
		if (now_ms() > end)
			return false;
		(void)poll(NULL, 0, ROUND_MS);
	}
	return true;
}

static size_t count_marked(const char *mark)
{
	struct pid_list list = PID_LIST_INIT;
	size_t count = proctree_find_marked(mark, 0, &list);

	pid_list_release(&list);
	return count;
}

/* ------------------------------------------------- a keeper under test */

struct bench {
	struct strlist argv, environment;
	char mark[MARK_MAX]; /* of this run alone: several may run at once */
	struct process_state state;
	struct keeper_spec spec;
	struct keeper keeper;
	char *output; /* what the command wrote to stdout, once read */
	pid_t command;
	uid_t user; /* of a stand-in */
};

static void bench_init(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	assert_int_equal(process_state_save(&bench->state, NULL), 0);
	for (char **item = environ; *item; item++)
		strlist_add(&bench->environment, *item);
	(void)snprintf(bench->mark, sizeof(bench->mark), "AUTOFIT_PROBE=77aa%d",
		       (int)getpid());
	strlist_add(&bench->environment, bench->mark);
	bench->user = geteuid();
	bench->spec.argv = &bench->argv;
	bench->spec.environment = &bench->environment;
	bench->spec.state = &bench->state;
}

static void bench_release(struct bench *bench)
{
	strlist_release(&bench->argv);
	strlist_release(&bench->environment);
	free(bench->output);
}

static void bench_command(struct bench *bench, const char *program,
			  const char *argument, const char *text)
{
	strlist_add(&bench->argv, program);
	if (argument)
		strlist_add(&bench->argv, argument);
	if (text)
		strlist_add(&bench->argv, text);
}

static struct keeper_message receive(const struct keeper *keeper)
{
	struct pollfd waiting = { .fd = keeper->control, .events = POLLIN };
	struct keeper_message message = { .event = 0 };

	assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
	assert_int_equal(keeper_receive(keeper, &message), 1);
	return message;
}

static void bench_start(struct bench *bench)
{
	struct error err = ERROR_INIT;
	struct keeper_message message;

	if (keeper_start(&bench->keeper, &bench->spec, &err) != 0)
		fail_msg("%s", err.message);
	message = receive(&bench->keeper);
	assert_int_equal(message.event, KEEPER_STARTED);
	bench->command = message.pid;
}

static void start_shell(struct bench *bench, const char *script)
{
	bench_init(bench);
	bench_command(bench, "/bin/sh", "-c", script);
	bench_start(bench);
}

/* One line of the command's stdout; it says that the script came so far. */
static void read_line(const struct bench *bench, char line[OUTPUT_MAX])
{
	struct pollfd waiting = { .fd = bench->keeper.out, .events = POLLIN };
	size_t length = 0;

	do {
		assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
		assert_int_equal(read(bench->keeper.out, line + length, 1), 1);
	} while (line[length++] != '\n' && length < OUTPUT_MAX);
	line[length - 1] = '\0';
}

static pid_t read_pid(const struct bench *bench)
{
	char line[OUTPUT_MAX];
	long pid;

	read_line(bench, line);
	pid = strtol(line, NULL, 10);
	assert_in_range(pid, 2, INT32_MAX);
	return (pid_t)pid;
}

static char *read_all(int fd)
{
	char *text = calloc(1, OUTPUT_MAX);
	size_t length = 0;
	ssize_t got;

	assert_non_null(text);
	while ((got = read(fd, text + length, OUTPUT_MAX - 1 - length)) > 0)
		length += (size_t)got;
	return text;
}

/*
 * Until the keeper has gone; returns the command's wait status (-1: was not
 * told). Afterwards nothing of what it started may live.
 */
static int bench_end(struct bench *bench, int32_t *foreign_kills)
{
	struct keeper_message message = { .event = 0 };
	struct keeper_message after;
	int status = -1;

	for (;;) {
		message = receive(&bench->keeper);
		if (message.event == KEEPER_GONE)
			break;
		if (message.event == KEEPER_EXITED) {
			assert_int_equal(message.pid, bench->command);
			status = message.value;
		}
	}
	if (foreign_kills)
		*foreign_kills = message.value;
	assert_int_equal(count_marked(bench->mark), 0);
	bench->output = read_all(bench->keeper.out);
	assert_int_equal(waitpid(bench->keeper.pid, NULL, 0),
			 bench->keeper.pid);
	assert_int_equal(keeper_receive(&bench->keeper, &after), -EPIPE);
	/* Orders to a keeper that is gone do nothing, SIGPIPE least of all. */
	keeper_order(&bench->keeper, KEEPER_KILL, 0);
	(void)close(bench->keeper.control);
	(void)close(bench->keeper.out);
	(void)close(bench->keeper.err);
	return status;
}

static void finish(struct bench *bench)
{
	(void)bench_end(bench, NULL);
	bench_release(bench);
}

/* ------------------------------------------------------------ the start */

static void the_exit_is_reported(void **unused)
{
	static const struct {
		const char *script;
		int code;   /* -1: by signal */
		int signal; /* 0: by exit */
		int32_t foreign_kills;
	} rows[] = {
		{ "exit 0", 0, 0, 0 },
		{ "exit 1", 1, 0, 0 },
		{ "exit 127", 127, 0, 0 },
		{ "exit 255", 255, 0, 0 },
		{ "kill -TERM $$", -1, SIGTERM, 0 },
		{ "kill -HUP $$", -1, SIGHUP, 0 },
		{ "kill -KILL $$", -1, SIGKILL, 1 },
		/* How a worker ends is for its parent to know... */
		{ "sleep 1000 & kill -KILL $!; wait; exit 3", 3, 0, 0 },
		/* ...and an orphan's end for the keeper. */
		{ "o=$( (sleep 1000 >&- & echo $!) ); kill -KILL $o; exit 4", 4,
		  0, 1 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bench bench;
		int32_t kills = -1;
		int status;

		start_shell(&bench, rows[i].script);
		status = bench_end(&bench, &kills);
		assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0,
				 rows[i].signal);
		assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1,
				 rows[i].code);
		assert_int_equal(kills, rows[i].foreign_kills);
		bench_release(&bench);
	}
}

static void a_command_that_cannot_start_is_told_with_its_errno(void **state)
{
	char file[SCRATCH_PATH_MAX];
	char below[SCRATCH_PATH_MAX];
	const struct {
		const char *program;
		int error_number;
	} rows[] = {
		{ "no-such-program-anywhere", ENOENT },
		{ "/no/such/program", ENOENT },
		{ "", ENOENT },
		{ scratch_path(file, *state, "file"), EACCES },
		{ *state, EACCES },
		{ scratch_path(below, *state, "file/below"), ENOTDIR },
	};

	assert_int_equal(scratch_write(file, "x", 1), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct keeper_message message;
		struct bench bench;

		bench_init(&bench);
		bench_command(&bench, rows[i].program, NULL, NULL);
		assert_int_equal(keeper_start(&bench.keeper, &bench.spec, NULL),
				 0);
		message = receive(&bench.keeper);
		assert_int_equal(message.event, KEEPER_EXEC_FAILED);
		assert_int_equal(message.value, rows[i].error_number);
		/* It never ran, so it has no exit. */
		assert_int_equal(bench_end(&bench, NULL), -1);
		bench_release(&bench);
	}
}

static size_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static void a_keeper_that_cannot_start_leaves_nothing_open(void **unused)
{
	size_t before = count_descriptors();
	struct rlimit limit, tight;
	struct error err = ERROR_INIT;
	struct bench bench;

	(void)unused;
	bench_init(&bench);
	bench_command(&bench, "true", NULL, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* Room for one pair more, and not for the pipes that follow. */
	tight = limit;
	tight.rlim_cur = 6;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	assert_int_equal(keeper_start(&bench.keeper, &bench.spec, &err),
			 -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_string_equal(err.message,
			    "cannot open a pipe: Too many open files");
	assert_int_equal(count_descriptors(), before);
	/* What is closed and waited for afterwards is nobody else's. */
	assert_int_equal(bench.keeper.pid, 0);
	assert_int_equal(bench.keeper.control, -1);
	assert_int_equal(bench.keeper.out, -1);
	assert_int_equal(bench.keeper.err, -1);
	bench_release(&bench);
}

/* It ended with an order unread: the kernel calls that a reset. */
static void the_last_words_come_before_the_end(void **unused)
{
	const struct keeper_message said = { .event = KEEPER_GONE, .value = 7 };
	struct keeper_message message = { .event = 0 };
	struct keeper keeper = { .out = -1, .err = -1 };
	int ends[2];

	(void)unused;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	keeper.control = ends[0];
	keeper_order(&keeper, KEEPER_STOP, 0);
	assert_int_equal(send(ends[1], &said, sizeof(said), MSG_NOSIGNAL),
			 sizeof(said));
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(keeper_receive(&keeper, &message), 1);
	assert_int_equal(message.event, KEEPER_GONE);
	assert_int_equal(message.value, 7);
	assert_int_equal(keeper_receive(&keeper, &message), -EPIPE);
	assert_int_equal(close(ends[0]), 0);
}

/* What the command sees of itself; "look" of this program, below. */
static int look(void)
{
	int subreaper = -1, deathsig = -1;
	char line[32] = "";
	int apart = getpgrp() != getpgid(getppid());
	int owns = getsid(0) == getpid();
	sigset_t mask;
	FILE *file = fopen("/proc/self/oom_score_adj", "re");

	if (!file || !fgets(line, sizeof(line), file))
		return 1;
	(void)fclose(file);
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			(void)printf("%d ", fd);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	(void)prctl(PR_GET_PDEATHSIG, &deathsig, 0, 0, 0);
	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	(void)printf("| group apart %d own session %d may begin one %d "
		     "subreaper %d deathsig %d oom "
		     "%.*s | stdin %d blocked %d%d%d ignored %d%d%d",
		     apart, owns, setsid() == getpid(), subreaper, deathsig,
		     (int)strcspn(line, "\n"), line, (int)read(0, line, 1),
		     sigismember(&mask, SIGUSR1), sigismember(&mask, SIGCHLD),
		     sigismember(&mask, SIGTERM),
		     signal(SIGHUP, SIG_DFL) == SIG_IGN,
		     signal(SIGPIPE, SIG_DFL) == SIG_IGN,
		     signal(SIGINT, SIG_DFL) == SIG_IGN);
	return 0;
}

/*
 * The state that autofit came in with goes to the command, while nothing that
 * autofit opened or changed since then does: not even a descriptor that
 * nobody marked close-on-exec.
 */
static void the_command_gets_the_users_state(void **unused)
{
	struct sigaction before_hup;
	struct bench bench;
	sigset_t some;
	int open_fd = open("/dev/null", O_RDONLY);
	int lock = open("/dev/null", O_RDONLY);
	int status;

	(void)unused;
	assert_in_range(open_fd, 3, 255);
	(void)sigemptyset(&some);
	(void)sigaddset(&some, SIGUSR1);
	(void)sigaddset(&some, SIGCHLD);
	(void)sigaction(SIGHUP, NULL, &before_hup);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &some, NULL);
	bench_init(&bench);
	(void)sigemptyset(&some);
	(void)sigaddset(&some, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &some, NULL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGINT, SIG_IGN);
	bench_command(&bench, SELF, "look", NULL);
	bench.spec.lock_fds = &lock;
	bench.spec.lock_count = 1;
	bench_start(&bench);
	status = bench_end(&bench, NULL);
	(void)sigemptyset(&some);
	(void)sigprocmask(SIG_SETMASK, &some, NULL);
	(void)signal(SIGINT, SIG_DFL);
	(void)sigaction(SIGHUP, &before_hup, NULL);
	(void)close(open_fd);
	(void)close(lock);
	assert_int_equal(status, 0);
	assert_string_equal(
		bench.output,
		"0 1 2 | group apart 1 own session 0 may begin "
		"one 1 subreaper 0 deathsig 9 oom 1000 | stdin 0 blocked 110 "
		"ignored 100");
	bench_release(&bench);
}

static void stdout_and_stderr_come_apart(void **unused)
{
	struct bench bench;
	char line[OUTPUT_MAX];
	char *errors;

	(void)unused;
	/* /dev/stdout can be opened: these are pipes, not sockets. */
	start_shell(&bench, "echo out >/dev/stdout; echo err >/dev/stderr");
	read_line(&bench, line);
	assert_string_equal(line, "out");
	errors = read_all(bench.keeper.err);
	assert_string_equal(errors, "err\n");
	free(errors);
	finish(&bench);
}

static void the_keeper_stands_apart_from_the_terminal(void **unused)
{
	struct proc_stat keeper, command;
	struct bench bench;

	(void)unused;
	start_shell(&bench, "echo up; exec sleep 1000");
	assert_int_equal(proctree_stat(bench.keeper.pid, &keeper), 0);
	assert_int_equal(proctree_stat(bench.command, &command), 0);
	assert_int_equal(keeper.session, bench.keeper.pid);
	assert_int_equal(command.session, bench.keeper.pid);
	assert_int_equal(command.ppid, bench.keeper.pid);
	keeper_order(&bench.keeper, KEEPER_KILL, 0);
	finish(&bench);
}

/* -------------------------------------------------------------- the end */

static void a_stop_is_a_ladder(void **unused)
{
	static const struct {
		const char *name;
		const char *script;
		int64_t grace_ms;
		int code; /* -1: by signal */
		int signal;
		int64_t not_before_ms;
	} rows[] = {
		{ "obeys", "echo up; exec sleep 1000", PATIENCE_MS, -1, SIGTERM,
		  0 },
		{ "saves first",
		  "trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done",
		  PATIENCE_MS, 3, 0, 0 },
		{ "does not listen",
		  "trap '' TERM; echo up; while :; do sleep 0.01; done", 300,
		  -1, SIGKILL, 300 },
		{ "stands still", "echo up; kill -STOP $$; exec sleep 1000",
		  PATIENCE_MS, -1, SIGTERM, 0 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bench bench;
		char line[OUTPUT_MAX];
		int32_t kills = -1;
		int64_t begin;
		int status;

		start_shell(&bench, rows[i].script);
		read_line(&bench, line);
		begin = now_ms();
		keeper_order(&bench.keeper, KEEPER_STOP, rows[i].grace_ms);
		status = bench_end(&bench, &kills);
		assert_in_range(now_ms() - begin, rows[i].not_before_ms,
				PATIENCE_MS - 1);
		assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0,
				 rows[i].signal);
		assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1,
				 rows[i].code);
		/* A kill of the keeper's own is no evidence of anything. */
		assert_int_equal(kills, 0);
		bench_release(&bench);
	}
}

/*
 * Whatever a tree does, the keeper goes only when all of it is gone; that is
 * what bench_end looks for, by the mark that every one of them carries.
 */
static void no_descendant_escapes(void **unused)
{
	static const struct {
		const char *name;
		const char *script;
		enum keeper_order order;
	} rows[] = {
		{ "workers in sessions of their own",
		  "for i in 1 2 3; do setsid sleep 1000 & done; echo up; wait",
		  KEEPER_STOP },
		{ "workers that do not listen",
		  "setsid sh -c 'trap \"\" TERM; echo up; "
		  "while :; do sleep 0.01; done' & wait",
		  KEEPER_STOP },
		{ "killed at once",
		  "setsid sh -c 'setsid sleep 1000 & sleep 1000' & echo up; "
		  "wait",
		  KEEPER_KILL },
		{ "one that starts more when it is told to end",
		  "trap 'setsid sleep 1000 & sleep 1000 &' TERM; echo up; "
		  "while :; do sleep 0.01; done",
		  KEEPER_STOP },
		{ "a stopped worker",
		  "setsid sh -c 'kill -STOP $$; sleep 1000' & echo up; wait",
		  KEEPER_STOP },
		{ "orphans of orphans",
		  "(setsid sh -c '(setsid sleep 1000 &) ; sleep 1000' &); "
		  "echo up; exec sleep 1000",
		  KEEPER_KILL },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bench bench;
		char line[OUTPUT_MAX];

		start_shell(&bench, rows[i].script);
		read_line(&bench, line);
		assert_string_equal(line, "up");
		keeper_order(&bench.keeper, rows[i].order, 200);
		finish(&bench);
	}
}

/* Nobody gives an order here: the command ends and leaves something. */
static void what_the_command_leaves_behind_ends_too(void **unused)
{
	struct bench bench;
	pid_t daemon;

	(void)unused;
	start_shell(&bench, "setsid sh -c 'echo $$; exec sleep 1000' & "
			    "exit 5");
	daemon = read_pid(&bench);
	assert_int_equal(WEXITSTATUS(bench_end(&bench, NULL)), 5);
	assert_true(is_gone(daemon));
	bench_release(&bench);
}

static void who_ends_by_himself_soon_may_finish(void **unused)
{
	struct bench bench;
	int32_t kills = -1;

	(void)unused;
	start_shell(&bench, "(sleep 0.1; echo last words) & exit 0");
	assert_int_equal(bench_end(&bench, &kills), 0);
	assert_string_equal(bench.output, "last words\n");
	assert_int_equal(kills, 0);
	bench_release(&bench);
}

static void a_signal_to_the_keeper_ends_the_tree(void **unused)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	(void)unused;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct bench bench;

		start_shell(&bench, "setsid sleep 1000 & sleep 1000");
		assert_int_equal(kill(bench.keeper.pid, numbers[i]), 0);
		finish(&bench);
	}
}

/* Autofit looks into it, and removes it; see autofits_death_ends_the_tree. */
static void the_scratch_folder_stays_for_autofit(void **state)
{
	static const struct {
		const char *name;
		const char *script;
		bool starts;
	} rows[] = {
		{ "exits", "echo x >$S/out/a; echo x >$S/b; exit 0", true },
		{ "fails", "echo x >$S/b; exit 9", true },
		{ "is killed", "echo x >$S/b; kill -KILL $$", true },
		{ "cannot start", NULL, false },
	};
	char folder[SCRATCH_PATH_MAX], out[SCRATCH_PATH_MAX];
	char made[SCRATCH_PATH_MAX];

	(void)scratch_path(folder, *state, "probe");
	(void)scratch_path(out, *state, "probe/out");
	(void)scratch_path(made, *state, "probe/b");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bench bench;

		assert_int_equal(mkdir(folder, 0700), 0);
		assert_int_equal(mkdir(out, 0700), 0);
		bench_init(&bench);
		strlist_env_set(&bench.environment, "S", folder);
		bench.spec.scratch = folder;
		if (rows[i].starts)
			bench_command(&bench, "/bin/sh", "-c", rows[i].script);
		else
			bench_command(&bench, "/no/such", NULL, NULL);
		assert_int_equal(keeper_start(&bench.keeper, &bench.spec, NULL),
				 0);
		bench.command = receive(&bench.keeper).pid;
		finish(&bench);
		assert_int_equal(access(made, F_OK), rows[i].starts ? 0 : -1);
		paths_remove_tree(folder);
	}
}

/* ----------------------------------------------------------- isolation */

/* Its own state is what it is without a view: see look, above. */
static void the_command_runs_in_its_view(void **state)
{
	static const char script[] =
		"echo new >ckpt.pt; echo new >../cache/new; cat ckpt.pt; pwd";
	char expected[OUTPUT_MAX], path[SCRATCH_PATH_MAX];
	struct isolation_case made;
	struct isolation_spec isolation;
	struct bench bench;
	char *before, *after;

	case_make(&made, *state, geteuid());
	isolation = case_spec(&made, ISOLATION_VIEW);
	before = case_guarded_text(&made);
	bench_init(&bench);
	bench.spec.isolation = &isolation;
	bench_command(&bench, "/bin/sh", "-c", script);
	bench_start(&bench);
	assert_int_equal(bench_end(&bench, NULL), 0);
	(void)snprintf(expected, sizeof(expected), "new\n%s\n", made.work);
	assert_string_equal(bench.output, expected);
	assert_int_equal(access(scratch_path(path, made.cache, "new"), F_OK),
			 0);
	after = case_guarded_text(&made);
	assert_string_equal(after, before);
	free(after);
	free(before);
	bench_release(&bench);
	assert_int_equal(case_clean(&made), 0);
	case_release(&made);
}

static void the_users_state_is_the_same_in_a_view(void **state)
{
	struct isolation_case made;
	struct isolation_spec isolation;
	struct bench bench, plain;
	struct bench *both[] = { &plain, &bench };

	case_make(&made, *state, geteuid());
	isolation = case_spec(&made, ISOLATION_VIEW);
	for (size_t i = 0; i < 2; i++) {
		bench_init(both[i]);
		both[i]->spec.isolation = i ? &isolation : NULL;
		bench_command(both[i], SELF, "look", NULL);
		bench_start(both[i]);
		assert_int_equal(bench_end(both[i], NULL), 0);
	}
	assert_non_null(strstr(plain.output, "deathsig 9 oom 1000"));
	assert_string_equal(bench.output, plain.output);
	bench_release(&plain);
	bench_release(&bench);
	case_release(&made);
}

static void an_isolation_that_fails_is_not_the_commands_fault(void **state)
{
	struct isolation_case made;
	struct isolation_spec isolation;
	struct keeper_message message;
	struct bench bench;
	char *errors;

	case_make(&made, *state, geteuid());
	isolation = case_spec(&made, ISOLATION_VIEW);
	isolation.working = "/no/such/folder";
	bench_init(&bench);
	bench.spec.isolation = &isolation;
	bench_command(&bench, "/bin/echo", "ran", NULL);
	assert_int_equal(keeper_start(&bench.keeper, &bench.spec, NULL), 0);
	message = receive(&bench.keeper);
	assert_int_equal(message.event, KEEPER_ISOLATION_FAILED);
	assert_int_equal(message.value, ENOENT);
	errors = read_all(bench.keeper.err);
	assert_string_equal(errors, "autofit: cannot enter /no/such/folder: "
				    "No such file or directory\n");
	free(errors);
	assert_int_equal(bench_end(&bench, NULL), -1);
	assert_string_equal(bench.output, "");
	bench_release(&bench);
	case_release(&made);
}

/* A command that is not there is the command's fault, in a view as well. */
static void a_command_that_cannot_start_in_a_view(void **state)
{
	struct isolation_case made;
	struct isolation_spec isolation;
	struct keeper_message message;
	struct bench bench;

	case_make(&made, *state, geteuid());
	isolation = case_spec(&made, ISOLATION_VIEW);
	bench_init(&bench);
	bench.spec.isolation = &isolation;
	bench_command(&bench, "no-such-program-anywhere", NULL, NULL);
	assert_int_equal(keeper_start(&bench.keeper, &bench.spec, NULL), 0);
	message = receive(&bench.keeper);
	assert_int_equal(message.event, KEEPER_EXEC_FAILED);
	assert_int_equal(message.value, ENOENT);
	assert_int_equal(bench_end(&bench, NULL), -1);
	bench_release(&bench);
	case_release(&made);
}

/* -------------------------------------------------------------- Ctrl-Z */

static void a_tree_stands_still_and_goes_on(void **unused)
{
	struct bench bench;
	char line[OUTPUT_MAX];
	pid_t worker;

	(void)unused;
	start_shell(&bench, "setsid sh -c 'echo $$; exec sleep 1000' & wait; "
			    "echo out; exit 4");
	worker = read_pid(&bench);
	for (int round = 0; round < 3; round++) {
		keeper_order(&bench.keeper, KEEPER_FREEZE, 0);
		assert_int_equal(receive(&bench.keeper).event, KEEPER_FROZEN);
		assert_true(comes_true(is_stopped, worker, PATIENCE_MS));
		assert_true(comes_true(is_stopped, bench.command, PATIENCE_MS));
		assert_true(is_running(bench.keeper.pid));
		keeper_order(&bench.keeper, KEEPER_THAW, 0);
		assert_true(comes_true(is_running, worker, PATIENCE_MS));
		assert_true(comes_true(is_running, bench.command, PATIENCE_MS));
	}
	/* A stop is no end: the command goes on to its own. */
	assert_int_equal(kill(worker, SIGTERM), 0);
	read_line(&bench, line);
	assert_string_equal(line, "out");
	assert_int_equal(WEXITSTATUS(bench_end(&bench, NULL)), 4);
	bench_release(&bench);
}

/* A signal to one that is just forking does not reach the child. */
static void who_is_forked_meanwhile_stands_still(void **unused)
{
	struct pid_list tree = PID_LIST_INIT;
	struct bench bench;

	(void)unused;
	start_shell(&bench, "for i in 1 2 3 4; do "
			    "sh -c 'while :; do (:) & (:); done' & done; wait");
	for (int round = 0; round < 200; round++) {
		keeper_order(&bench.keeper, KEEPER_FREEZE, 0);
		assert_int_equal(receive(&bench.keeper).event, KEEPER_FROZEN);
		(void)proctree_descendants(bench.keeper.pid, PROCTREE_WHOLE,
					   &tree);
		for (size_t i = 0; i < tree.count; i++)
			assert_true(is_still(tree.items[i]));
		keeper_order(&bench.keeper, KEEPER_THAW, 0);
	}
	pid_list_release(&tree);
	keeper_order(&bench.keeper, KEEPER_KILL, 0);
	finish(&bench);
}

static void a_frozen_tree_can_be_ended(void **unused)
{
	static const enum keeper_order orders[] = { KEEPER_STOP, KEEPER_KILL };

	(void)unused;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct bench bench;
		char line[OUTPUT_MAX];

		start_shell(&bench, "setsid sleep 1000 & echo up; wait");
		read_line(&bench, line);
		keeper_order(&bench.keeper, KEEPER_FREEZE, 0);
		keeper_order(&bench.keeper, orders[i], PATIENCE_MS);
		finish(&bench);
	}
}

/* ------------------------------------------- somebody is killed: autofit */

#define TREE                                                                   \
	"setsid sh -c 'trap \"\" TERM HUP INT; echo $$; "                      \
	"while :; do sleep 0.01; done' & wait"

/* What the stand-in for autofit tells the test. */
struct born {
	pid_t keeper, command, worker;
};

/*
 * Another child of autofit's has autofit's end of the socket too and keeps it
 * open: the keeper must not depend on the socket alone to know of the end.
 */
static void share_the_socket(const struct bench *bench)
{
	struct pollfd end = { .fd = bench->keeper.control };

	if (fork() != 0)
		return;
	for (size_t i = 0; i < bench->spec.lock_count; i++)
		(void)close(bench->spec.lock_fds[i]);
	(void)poll(&end, 1, PATIENCE_MS);
	_exit(0);
}

/* Autofit's part, in a process of its own that is going to be killed. */
static void stand_in(struct bench *bench, int report)
{
	struct born born;

	case_become(bench->user);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	bench_start(bench);
	born.keeper = bench->keeper.pid;
	born.command = bench->command;
	born.worker = read_pid(bench);
	share_the_socket(bench);
	(void)!write(report, &born, sizeof(born));
	for (;;)
		(void)pause();
}

static pid_t start_stand_in(struct bench *bench, struct born *born)
{
	int report[2];
	pid_t pid;

	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		stand_in(bench, report[1]);
	(void)close(report[1]);
	assert_int_equal(read(report[0], born, sizeof(*born)), sizeof(*born));
	(void)close(report[0]);
	return pid;
}

static void autofits_death_ends_the_tree(void **state)
{
	char folder[SCRATCH_PATH_MAX], lock_path[SCRATCH_PATH_MAX];
	struct bench bench;
	struct born born;
	int64_t begin;
	int held, again;
	pid_t autofit;

	bench_init(&bench);
	bench_command(&bench, "/bin/sh", "-c", TREE);
	bench.spec.scratch = scratch_path(folder, *state, "probe");
	assert_int_equal(mkdir(folder, 0700), 0);
	(void)scratch_path(lock_path, *state, "lock");
	held = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	again = open(lock_path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	bench.spec.lock_fds = &held;
	bench.spec.lock_count = 1;
	autofit = start_stand_in(&bench, &born);
	/* From here on only the stand-in and its keeper hold the lock. */
	(void)close(held);
	assert_int_equal(flock(again, LOCK_EX | LOCK_NB), -1);

	begin = now_ms();
	assert_int_equal(kill(autofit, SIGKILL), 0);
	assert_int_equal(waitpid(autofit, NULL, 0), autofit);
	while (flock(again, LOCK_EX | LOCK_NB) < 0) {
		assert_int_equal(errno, EWOULDBLOCK);
		assert_in_range(now_ms() - begin, 0, PATIENCE_MS);
		(void)poll(NULL, 0, 1);
	}
	/* Whoever gets the lock finds nothing of the old tree. */
	assert_true(is_gone(born.command));
	assert_true(is_gone(born.worker));
	assert_int_equal(count_marked(bench.mark), 0);
	assert_int_equal(access(folder, F_OK), -1);
	assert_true(comes_true(is_gone, born.keeper, PATIENCE_MS));
	(void)close(again);
	bench_release(&bench);
}

static const struct {
	enum isolation_kind kind;
	uid_t user;
} isolations[] = {
	{ ISOLATION_VIEW, 0 },
	{ ISOLATION_VIEW, CASE_NOBODY },
	{ ISOLATION_LANDLOCK, 0 },
	{ ISOLATION_LANDLOCK, CASE_NOBODY },
};

/* Dies with its keeper, and what it wrote goes with autofit. */
static void an_isolated_tree_ends(const char *top, size_t row, bool by_autofit)
{
	struct isolation_case made;
	struct isolation_spec isolation;
	struct bench bench;
	struct born born;
	pid_t autofit;

	case_make(&made, top, isolations[row].user);
	isolation = case_spec(&made, isolations[row].kind);
	bench_init(&bench);
	bench.user = made.user;
	bench.spec.isolation = &isolation;
	bench.spec.scratch = made.scratch;
	bench_command(&bench, "/bin/sh", "-c",
		      "echo x >ckpt.pt; mkdir sub && chmod 0 sub; " TREE);
	autofit = start_stand_in(&bench, &born);
	assert_int_equal(kill(by_autofit ? autofit : born.keeper, SIGKILL), 0);
	/* Without its keeper the command ends by the kernel's signal alone. */
	assert_true(comes_true(is_gone, born.command, PATIENCE_MS));
	if (!by_autofit) {
		/* This is for a sweep, which is autofit's. */
		assert_int_equal(kill(born.worker, SIGKILL), 0);
		assert_int_equal(kill(autofit, SIGKILL), 0);
	}
	assert_int_equal(waitpid(autofit, NULL, 0), autofit);
	assert_true(comes_true(is_gone, born.worker, PATIENCE_MS));
	assert_true(comes_true(is_gone, born.keeper, PATIENCE_MS));
	assert_int_equal(access(made.scratch, F_OK), by_autofit ? -1 : 0);
	bench_release(&bench);
	case_release(&made);
}

static void an_isolated_tree_ends_with_its_keeper_and_autofit(void **state)
{
	char *mounts_before = case_read("/proc/self/mountinfo");

	(void)chmod(*state, 0755);
	for (size_t i = 0; i < 8; i++) {
		char top[SCRATCH_PATH_MAX], name[16];
		char *mounts;

		if (geteuid() != 0 && isolations[i / 2].user != geteuid())
			continue;
		(void)snprintf(name, sizeof(name), "row%zu", i);
		assert_int_equal(mkdir(scratch_path(top, *state, name), 0755),
				 0);
		an_isolated_tree_ends(top, i / 2, i % 2);
		mounts = case_read("/proc/self/mountinfo");
		assert_string_equal(mounts, mounts_before);
		free(mounts);
	}
	free(mounts_before);
}

/* An order that came with the end: the keeper must not overlook the end. */
static void an_order_before_autofits_death_hides_nothing(void **unused)
{
	struct bench bench;
	char line[OUTPUT_MAX];

	(void)unused;
	start_shell(&bench, "setsid sleep 1000 & echo up; wait");
	read_line(&bench, line);
	assert_int_equal(kill(bench.keeper.pid, SIGSTOP), 0);
	assert_true(comes_true(is_stopped, bench.keeper.pid, PATIENCE_MS));
	keeper_order(&bench.keeper, KEEPER_THAW, 0);
	keeper_order(&bench.keeper, KEEPER_THAW, 0);
	(void)close(bench.keeper.control);
	assert_int_equal(kill(bench.keeper.pid, SIGCONT), 0);
	assert_true(comes_true(is_gone, bench.keeper.pid, PATIENCE_MS));
	assert_int_equal(count_marked(bench.mark), 0);
	assert_int_equal(waitpid(bench.keeper.pid, NULL, 0), bench.keeper.pid);
	(void)close(bench.keeper.out);
	(void)close(bench.keeper.err);
	bench_release(&bench);
}

/* ---------------------------------------- somebody is killed: the keeper */

/* Children that autofit had before: none of them may notice anything. */
struct bystander {
	pid_t pid, child;
};

static struct bystander start_bystander(void)
{
	struct bystander bystander;
	int ready[2];

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	bystander.pid = fork();
	assert_true(bystander.pid >= 0);
	if (bystander.pid == 0) {
		pid_t child;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		child = fork();
		if (child != 0)
			(void)!write(ready[1], &child, sizeof(child));
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &bystander.child, sizeof(pid_t)),
			 sizeof(pid_t));
	(void)close(ready[0]);
	return bystander;
}

static void end_bystander(const struct bystander *bystander)
{
	int status;

	assert_true(is_running(bystander->pid));
	assert_true(is_running(bystander->child));
	assert_int_equal(kill(bystander->child, SIGKILL), 0);
	assert_int_equal(kill(bystander->pid, SIGUSR1), 0);
	/* Its end is its own, and was not collected by anybody else. */
	assert_int_equal(waitpid(bystander->pid, &status, 0), bystander->pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGUSR1);
	assert_true(comes_true(is_gone, bystander->child, PATIENCE_MS));
	(void)waitpid(bystander->child, NULL, 0);
}

/*
 * Three ways to know a process of the dead keeper's: by its mark, by the
 * keeper's session, and (when it has neither) by the list of pids seen.
 */
static void a_sweep_finds_what_a_dead_keeper_left(void **unused)
{
	static const struct {
		const char *name;
		const char *script;
		bool listed;
	} rows[] = {
		{ "by mark", "setsid sh -c 'echo $$; exec sleep 1000' & wait",
		  false },
		{ "by session",
		  "env -i sh -c 'trap \"\" HUP; echo $$; exec sleep 1000' & "
		  "wait",
		  false },
		{ "by list",
		  "setsid env -i sh -c 'echo $$; exec sleep 1000' & wait",
		  true },
		{ "below a marked one",
		  "setsid sh -c 'setsid env -i sh -c \"echo \\$\\$; exec sleep "
		  "1000\" & wait' & wait",
		  false },
	};
	struct keeper_message message;

	(void)unused;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bystander bystander = start_bystander();
		struct bench bench;
		pid_t worker;
		int got;

		start_shell(&bench, rows[i].script);
		worker = read_pid(&bench);
		assert_int_equal(kill(bench.keeper.pid, SIGKILL), 0);
		assert_true(comes_true(is_gone, bench.keeper.pid, PATIENCE_MS));
		do
			got = keeper_receive(&bench.keeper, &message);
		while (got == 1 && message.event != KEEPER_GONE);
		assert_int_equal(got, -EPIPE);
		keeper_sweep(bench.keeper.pid, bench.mark, &worker,
			     rows[i].listed ? 1 : 0);
		assert_true(is_gone(worker));
		assert_true(is_gone(bench.command));
		assert_int_equal(count_marked(bench.mark), 0);
		(void)waitpid(bench.keeper.pid, NULL, 0);
		end_bystander(&bystander);
		/* Nothing is left to wait for: the sweep has reaped it all. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
		(void)close(bench.keeper.control);
		(void)close(bench.keeper.out);
		(void)close(bench.keeper.err);
		bench_release(&bench);
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

/* A stranger with the same mark is none of this tree's. */
static void a_sweep_stays_among_autofits_own_descendants(void **unused)
{
	struct bench bench, stranger;
	char line[OUTPUT_MAX];
	struct born born;
	pid_t other;

	(void)unused;
	bench_init(&stranger);
	bench_command(&stranger, "/bin/sh", "-c", TREE);
	/* Detached, so that it is nobody's descendant here. */
	other = start_stand_in(&stranger, &born);
	start_shell(&bench, "echo up; exec sleep 1000");
	read_line(&bench, line);
	assert_int_equal(kill(bench.keeper.pid, SIGKILL), 0);
	assert_int_equal(waitpid(bench.keeper.pid, NULL, 0), bench.keeper.pid);
	keeper_sweep(bench.keeper.pid, "AUTOFIT_PROBE=another", NULL, 0);
	assert_true(is_running(born.command));
	assert_true(is_running(born.worker));
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
	assert_true(comes_true(is_gone, born.worker, PATIENCE_MS));
	assert_true(comes_true(is_gone, born.keeper, PATIENCE_MS));
	(void)close(bench.keeper.control);
	(void)close(bench.keeper.out);
	(void)close(bench.keeper.err);
	bench_release(&bench);
	bench_release(&stranger);
}

/* ------------------------------------------------ both are killed */

static void a_rescue_kills_what_both_have_left(void **unused)
{
	struct bench bench;
	struct born born;
	uint64_t start = proctree_now_ticks();
	pid_t autofit;

	(void)unused;
	bench_init(&bench);
	bench_command(&bench, "/bin/sh", "-c", TREE);
	autofit = start_stand_in(&bench, &born);
	assert_int_equal(kill(born.keeper, SIGSTOP), 0);
	assert_int_equal(kill(autofit, SIGKILL), 0);
	assert_int_equal(waitpid(autofit, NULL, 0), autofit);
	assert_int_equal(kill(born.keeper, SIGKILL), 0);
	assert_true(comes_true(is_gone, born.keeper, PATIENCE_MS));
	assert_true(comes_true(is_gone, born.command, PATIENCE_MS));
	assert_true(is_running(born.worker));
	/* Another probe's, or one that began later: not to be touched. */
	assert_int_equal(keeper_rescue("AUTOFIT_PROBE=77aa", start - 1), 0);
	assert_int_equal(keeper_rescue(bench.mark, proctree_now_ticks() + 1),
			 0);
	assert_true(is_running(born.worker));
	assert_in_range(keeper_rescue(bench.mark, start - 1), 1, 100);
	assert_true(comes_true(is_gone, born.worker, PATIENCE_MS));
	assert_int_equal(keeper_rescue(bench.mark, start - 1), 0);
	bench_release(&bench);
}

/*
 * Autofit has a loop when it starts a keeper, and with it libuv acts on every
 * fork: in the child it closes and opens descriptors of its own.
 */
static int open_loop(void **loop)
{
	*loop = calloc(1, sizeof(uv_loop_t));
	return *loop && uv_loop_init(*loop) == 0 ? 0 : -1;
}

static int close_loop(void **loop)
{
	int result = uv_loop_close(*loop);

	free(*loop);
	return result;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_is_reported),
		cmocka_unit_test_setup_teardown(
			a_command_that_cannot_start_is_told_with_its_errno,
			scratch_make, scratch_remove),
		cmocka_unit_test(
			a_keeper_that_cannot_start_leaves_nothing_open),
		cmocka_unit_test(the_last_words_come_before_the_end),
		cmocka_unit_test(the_command_gets_the_users_state),
		cmocka_unit_test(stdout_and_stderr_come_apart),
		cmocka_unit_test(the_keeper_stands_apart_from_the_terminal),
		cmocka_unit_test(a_stop_is_a_ladder),
		cmocka_unit_test(no_descendant_escapes),
		cmocka_unit_test(what_the_command_leaves_behind_ends_too),
		cmocka_unit_test(who_ends_by_himself_soon_may_finish),
		cmocka_unit_test(a_signal_to_the_keeper_ends_the_tree),
		cmocka_unit_test_setup_teardown(
			the_scratch_folder_stays_for_autofit, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(the_command_runs_in_its_view,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(
			the_users_state_is_the_same_in_a_view, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			an_isolation_that_fails_is_not_the_commands_fault,
			scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_command_that_cannot_start_in_a_view, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			an_isolated_tree_ends_with_its_keeper_and_autofit,
			scratch_make, scratch_remove),
		cmocka_unit_test(a_tree_stands_still_and_goes_on),
		cmocka_unit_test(who_is_forked_meanwhile_stands_still),
		cmocka_unit_test(a_frozen_tree_can_be_ended),
		cmocka_unit_test_setup_teardown(autofits_death_ends_the_tree,
						scratch_make, scratch_remove),
		cmocka_unit_test(an_order_before_autofits_death_hides_nothing),
		cmocka_unit_test(a_sweep_finds_what_a_dead_keeper_left),
		cmocka_unit_test(a_sweep_stays_among_autofits_own_descendants),
		cmocka_unit_test(a_rescue_kills_what_both_have_left),
	};

	if (argc == 2 && strcmp(argv[1], "look") == 0)
		return look();
	return cmocka_run_group_tests(tests, open_loop, close_loop);
}
