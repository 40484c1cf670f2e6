/* One tuning per identity: taken once, taken over once, whatever dies. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/locks/lease.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "tests/unit/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define NAME "0123456789abcdef"
#define RACERS 20
#define TURNS 5
#define BOUND_MS 600000

static int64_t clock_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int try_at(struct lease *lease, const char *folder, int64_t now_ms)
{
	struct lease_note holder;

	return lease_take(lease, folder, NAME, now_ms, &holder, NULL);
}

static void take(struct lease *lease, const char *folder)
{
	struct lease_note holder;
	struct error err = ERROR_INIT;

	memset(lease, 0, sizeof(*lease));
	if (lease_take(lease, folder, NAME, 0, &holder, &err) < 0)
		fail_msg("%s", err.message);
}

static size_t count_files(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(entries);
	while ((entry = readdir(entries)))
		count += entry->d_name[0] != '.';
	(void)closedir(entries);
	return count;
}

/* The note's text in the file of a lease, NAME's by default. */
static char *read_text(const char *file)
{
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(textfile_read(file, 65536, &text, NULL), 0);
	return strbuf_detach(&text);
}

/* One line of a file in the format of a note is given another value. */
static void change(const char *file, const char *key, const char *value)
{
	char *text = read_text(file);
	char *line = strstr(text, key);
	struct strbuf out = STRBUF_INIT;
	char *rest;

	assert_non_null(line);
	rest = strchr(line, '\n');
	strbuf_add(&out, text, (size_t)(line - text));
	strbuf_addf(&out, "%s=%s%s", key, value, rest);
	while (out.length < 1024)
		strbuf_addch(&out, '\n');
	assert_int_equal(scratch_write(file, out.data, 1024), 0);
	strbuf_release(&out);
	free(text);
}

static void it_is_held_once(void **state)
{
	struct lease first;
	struct lease second = { .path = NULL };
	struct lease_note holder;
	struct error err = ERROR_INIT;
	char host[65] = "";
	struct stat info;

	take(&first, *state);
	assert_int_equal(stat(first.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(info.st_nlink, 1);
	assert_int_equal(count_files(*state), 1);
	assert_int_equal(lease_beat(&first, "micro 32,\nprobe 3", NULL), 0);
	assert_int_equal(lease_take(&second, *state, NAME, 0, &holder, &err),
			 -EWOULDBLOCK);
	assert_null(second.path);
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	assert_int_equal(holder.pid, getpid());
	assert_string_equal(holder.host, host);
	assert_string_equal(holder.doing, "micro 32,?probe 3");
	assert_non_null(strstr(err.message, host));
	assert_int_equal(count_files(*state), 1);
	lease_release(&first);
	assert_null(first.path);
	assert_int_equal(count_files(*state), 0);
	lease_release(&first);
	assert_int_equal(try_at(&second, *state, 0), 0);
	lease_release(&second);
	assert_int_equal(count_files(*state), 0);
}

static void names_are_apart(void **state)
{
	static const char *const wrong[] = { "",    "a/b", "../x",    ".",
					     "a.b", "a b", "\xc3\xa9" };
	struct lease first;
	struct lease other = { .path = NULL };
	struct lease_note holder;
	struct error err = ERROR_INIT;
	char name[102];

	take(&first, *state);
	assert_int_equal(lease_take(&other, *state, "other", 0, &holder, &err),
			 0);
	assert_string_not_equal(first.path, other.path);
	lease_release(&other);
	lease_release(&first);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(
			lease_take(&other, *state, wrong[i], 0, &holder, &err),
			-EINVAL);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(lease_take(&other, *state, name, 0, &holder, &err),
			 -EINVAL);
}

static void a_still_beat_is_waited_for(void **state)
{
	static const struct {
		const char *name;
		int64_t now_ms; /* of the look */
		bool beats;     /* before it */
		int result;
	} rows[] = {
		{ "first look, late clock", 1000000, false, -EWOULDBLOCK },
		{ "soon", 1002000, false, -EWOULDBLOCK },
		{ "almost", 1005999, false, -EWOULDBLOCK },
		{ "beats", 1005999, true, -EWOULDBLOCK },
		{ "counted from there", 1011998, false, -EWOULDBLOCK },
		{ "still for long enough", 1011999, false, 0 },
	};
	struct lease first;
	struct lease waiter = { .path = NULL };
	struct error err = ERROR_INIT;

	take(&first, *state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("%s\n", rows[i].name);
		if (rows[i].beats)
			assert_int_equal(lease_beat(&first, "", NULL), 0);
		assert_int_equal(try_at(&waiter, *state, rows[i].now_ms),
				 rows[i].result);
	}
	assert_int_equal(count_files(*state), 1);
	assert_int_equal(lease_beat(&waiter, "x", NULL), 0);
	assert_int_equal(lease_beat(&first, "y", &err), -ESTALE);
	assert_non_null(strstr(err.message, "taken over"));
	/* Who lost it removes nothing of the other's. */
	lease_release(&first);
	assert_int_equal(lease_beat(&waiter, "z", NULL), 0);
	lease_release(&waiter);
	assert_int_equal(count_files(*state), 0);
}

static void what_cannot_be_judged_is_waited_for(void **state)
{
	static const struct {
		const char *name, *key, *value;
		bool at_once;
	} rows[] = {
		{ "gone", "pid", "4194304", true },
		{ "another start", "start_time", "1", true },
		{ "start not known", "start_time", "0", false },
		{ "another machine", "host", "elsewhere", false },
		{ "another boot", "boot_id", "0b2d1f1e", false },
		{ "no boot", "boot_id", "", false },
		{ "another PID namespace", "pid_space", "17", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool gone = strcmp(rows[i].key, "pid") != 0 &&
			    strcmp(rows[i].key, "start_time") != 0;
		struct lease holder;
		struct lease next = { .path = NULL };

		print_message("%s\n", rows[i].name);
		take(&holder, *state);
		/* No such process: only the key keeps it from being dead. */
		if (gone)
			change(holder.path, "pid", "4194304");
		change(holder.path, rows[i].key, rows[i].value);
		assert_int_equal(try_at(&next, *state, 5),
				 rows[i].at_once ? 0 : -EWOULDBLOCK);
		if (!rows[i].at_once)
			assert_int_equal(
				try_at(&next, *state, 5 + LEASE_STALE_MS), 0);
		lease_release(&next);
		free(holder.path);
		assert_int_equal(count_files(*state), 0);
	}
}

static void hostile_files_are_a_still_beat(void **state)
{
	static const char whole[] =
		"pid=4194304\ntoken=0123456789abcdef0123456789abcdef\nend\n";
	static const struct {
		const char *name, *text;
		size_t length; /* filled up with the last byte */
	} rows[] = {
		{ "empty", "", 0 },
		{ "torn", "host=a\npid=5\n", 13 },
		{ "no end", "pid=5\ntoken=0123456789abcdef0123456789abcdef\n",
		  1024 },
		{ "too short", whole, sizeof(whole) - 1 },
		{ "too long", whole, 1025 },
		{ "huge", "x", 10000000 },
		{ "token with a path",
		  "pid=5\ntoken=../../../../../../../../../../../\nend\n",
		  1024 },
		{ "short token", "pid=5\ntoken=0123\nend\n", 1024 },
		{ "no pid",
		  "pid=-5\ntoken=0123456789abcdef0123456789abcdef\nend\n",
		  1024 },
		{ "NUL bytes", "\0", 1024 },
	};
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, NAME ".lease");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length = strlen(rows[i].text);
		char *text = xcalloc(1, rows[i].length + 1);
		struct lease next = { .path = NULL };

		print_message("%s\n", rows[i].name);
		memset(text, length ? rows[i].text[length - 1] : 0,
		       rows[i].length);
		memcpy(text, rows[i].text, length);
		assert_int_equal(scratch_write(path, text, rows[i].length), 0);
		free(text);
		assert_int_equal(try_at(&next, *state, 7), -EWOULDBLOCK);
		assert_int_equal(try_at(&next, *state, 6 + LEASE_STALE_MS),
				 -EWOULDBLOCK);
		assert_int_equal(try_at(&next, *state, 7 + LEASE_STALE_MS), 0);
		lease_release(&next);
		assert_int_equal(count_files(*state), 0);
	}
}

static void make_other(const char *path, size_t kind)
{
	if (kind == 0)
		assert_int_equal(symlink("/etc/passwd", path), 0);
	else if (kind == 1)
		assert_int_equal(mkfifo(path, 0600), 0);
	else
		assert_int_equal(mkdir(path, 0700), 0);
}

static void what_is_no_file_is_replaced_or_named(void **state)
{
	static const int results[] = { 0, 0, -EISDIR };
	char path[SCRATCH_PATH_MAX];
	struct lease_note holder;

	scratch_path(path, *state, NAME ".lease");
	for (size_t i = 0; i < 3; i++) {
		struct lease lease = { .path = NULL };
		struct error err = ERROR_INIT;

		make_other(path, i);
		assert_int_equal(try_at(&lease, *state, 0), -EWOULDBLOCK);
		assert_int_equal(lease_take(&lease, *state, NAME,
					    LEASE_STALE_MS, &holder, &err),
				 results[i]);
		if (results[i] < 0)
			assert_non_null(strstr(err.message, path));
		lease_release(&lease);
		assert_int_equal(count_files(*state), results[i] ? 1 : 0);
	}
}

static void a_lost_lease_is_told(void **state)
{
	struct lease lease;
	struct lease none = { .path = NULL };
	struct error err = ERROR_INIT;

	assert_int_equal(lease_beat(&none, "", &err), -ESTALE);
	take(&lease, *state);
	assert_int_equal(unlink(lease.path), 0);
	assert_int_equal(lease_beat(&lease, "", &err), -ESTALE);
	assert_int_equal(count_files(*state), 0);
	assert_int_equal(symlink("x", lease.path), 0);
	assert_int_equal(lease_beat(&lease, "", &err), -ESTALE);
	assert_int_equal(unlink(lease.path), 0);
	assert_int_equal(scratch_write(lease.path, "", 0), 0);
	assert_int_equal(lease_beat(&lease, "", &err), -ESTALE);
	lease_release(&lease);
	assert_int_equal(count_files(*state), 1);
}

/* A child that takes the lease and is killed with it, as by SIGKILL. */
static void leave_dead(const char *folder)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct lease lease = { .path = NULL };

		if (try_at(&lease, folder, 0) < 0)
			_exit(1);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void a_killed_holder_is_replaced_at_once(void **state)
{
	struct lease lease = { .path = NULL };
	siginfo_t info;
	pid_t pid;

	leave_dead(*state);
	assert_int_equal(count_files(*state), 1);
	assert_int_equal(try_at(&lease, *state, 0), 0);
	lease_release(&lease);
	/* A zombie is as dead. */
	pid = fork();
	if (pid == 0)
		_exit(try_at(&lease, *state, 0) < 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, 0);
	assert_int_equal(try_at(&lease, *state, 0), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	lease_release(&lease);
	assert_int_equal(count_files(*state), 0);
}

/* The files a taker leaves that is killed between two steps. */
static void killed_takers_are_cleaned_up(void **state)
{
	static const char token[] = "00112233445566778899aabbccddeeff";
	static const struct {
		const char *name, *suffix;
		bool on_dead; /* a claim on the dead holder, else elsewhere */
	} rows[] = {
		{ "before the link", ".new.00112233445566778899aabbccddeeff",
		  false },
		{ "a claim on nobody", ".ffeeddccbbaa99887766554433221100",
		  false },
		{ "a claim on the holder", "", true },
	};
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, NAME ".lease");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lease lease = { .path = NULL };
		char *text;
		char *file;

		print_message("%s\n", rows[i].name);
		leave_dead(*state);
		text = read_text(path);
		file = rows[i].on_dead
			       ? xasprintf("%s.%.32s", path,
					   strstr(text, "token=") + 6)
			       : xasprintf("%s%s", path, rows[i].suffix);
		assert_int_equal(scratch_write(file, text, 1024), 0);
		change(file, "token", token);
		assert_int_equal(try_at(&lease, *state, 0), 0);
		assert_int_equal(count_files(*state), 1);
		lease_release(&lease);
		assert_int_equal(count_files(*state), 0);
		free(file);
		free(text);
	}
}

static void a_live_taker_is_left_alone(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct lease lease = { .path = NULL };
	struct lease other;
	struct lease_note holder;
	char *text;
	char *claim;

	scratch_path(path, *state, NAME ".lease");
	take(&other, *state); /* a note of a process that lives: this one */
	free(other.path);
	text = read_text(path);
	assert_int_equal(unlink(path), 0);
	leave_dead(*state);
	claim = read_text(path);
	memmove(claim, strstr(claim, "token=") + 6, 33);
	claim[32] = '\0';
	other.path = xasprintf("%s.%s", path, claim);
	assert_int_equal(scratch_write(other.path, text, 1024), 0);
	assert_int_equal(lease_take(&lease, *state, NAME, 0, &holder, NULL),
			 -EWOULDBLOCK);
	assert_int_equal(holder.pid, getpid());
	assert_int_equal(access(other.path, F_OK), 0);
	/* Unless it stands still itself. */
	assert_int_equal(try_at(&lease, *state, LEASE_STALE_MS), 0);
	assert_int_equal(count_files(*state), 1);
	lease_release(&lease);
	free(other.path);
	free(claim);
	free(text);
}

/* Inside the lease there is never a second one. */
static void hold_once(const char *inside, struct lease *lease, uint64_t *seed)
{
	int fd = open(inside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		_exit(3);
	(void)close(fd);
	(void)poll(NULL, 0, (int)(scratch_random(seed) % 3));
	if (lease_beat(lease, "inside", NULL) < 0)
		_exit(4);
	if (unlink(inside) < 0)
		_exit(5);
}

/*
 * One of many: holds it TURNS times. Every third time it dies as the holder,
 * which ends this process and leaves the lease to be taken over.
 */
static void race(const char *folder, uint64_t seed, bool dies)
{
	char inside[SCRATCH_PATH_MAX];
	int64_t end_ms = clock_ms() + BOUND_MS;

	scratch_path(inside, folder, ".inside");
	for (int turn = 0; turn < TURNS; turn++) {
		struct lease lease = { .path = NULL };
		int result;

		while ((result = try_at(&lease, folder, clock_ms())) ==
			       -EWOULDBLOCK &&
		       clock_ms() < end_ms)
			(void)poll(NULL, 0, (int)(scratch_random(&seed) % 4));
		if (result < 0)
			_exit(2);
		hold_once(inside, &lease, &seed);
		if (dies && turn == TURNS / 2)
			(void)raise(SIGKILL);
		lease_release(&lease);
	}
	_exit(0);
}

static void race_of(const char *folder, size_t count, bool with_deaths)
{
	pid_t pids[RACERS];

	leave_dead(folder);
	for (size_t i = 0; i < count; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			race(folder, i + 1, with_deaths && i % 3 == 0);
	}
	for (size_t i = 0; i < count; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		if (with_deaths && i % 3 == 0)
			assert_int_equal(WTERMSIG(status), SIGKILL);
		else
			assert_int_equal(status, 0);
	}
}

static void of_many_one_wins(void **state)
{
	struct lease last;

	for (int i = 0; i < 5; i++)
		race_of(*state, 2, false);
	assert_int_equal(count_files(*state), 0);
	race_of(*state, RACERS, false);
	assert_int_equal(count_files(*state), 0);
	race_of(*state, RACERS, true);
	take(&last, *state);
	assert_int_equal(count_files(*state), 1);
	lease_release(&last);
	assert_int_equal(count_files(*state), 0);
}

/* Waits for the others, tries once, and stays while it holds the lease. */
static void try_and_stay(const char *folder, const int go[2])
{
	struct lease lease = { .path = NULL };
	char byte;

	(void)close(go[1]);
	(void)!read(go[0], &byte, 1);
	if (try_at(&lease, folder, 0) < 0)
		_exit(0);
	(void)kill(getpid(), SIGSTOP);
	_exit(1);
}

/* How many of them hold it at once; all are ended. */
static size_t count_stopped(const pid_t pids[RACERS])
{
	pid_t stopped[RACERS];
	size_t count = 0;
	int status;

	for (size_t i = 0; i < RACERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, WUNTRACED), pids[i]);
		if (WIFSTOPPED(status))
			stopped[count++] = pids[i];
	}
	for (size_t i = 0; i < count; i++) {
		(void)kill(stopped[i], SIGKILL);
		assert_int_equal(waitpid(stopped[i], NULL, 0), stopped[i]);
	}
	return count;
}

/* All of them decide on the same dead file: one takes it, once. */
static void a_dead_file_is_taken_once(void **state)
{
	for (int round = 0; round < 10; round++) {
		pid_t pids[RACERS];
		int go[2];

		leave_dead(*state);
		assert_int_equal(pipe2(go, O_CLOEXEC), 0);
		for (size_t i = 0; i < RACERS; i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				try_and_stay(*state, go);
		}
		(void)close(go[0]);
		(void)close(go[1]);
		assert_int_equal(count_stopped(pids), 1);
	}
}

/* In a child that is nobody, as root may write everywhere. */
static void a_read_only_folder_is_named(void **state)
{
	const char *folder = *state;
	int status;
	pid_t pid;

	assert_int_equal(chmod(folder, 0555), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(folder, 65534, 65534), 0);
	pid = fork();
	if (pid == 0) {
		struct lease lease = { .path = NULL };
		struct lease_note holder;
		struct error err = ERROR_INIT;

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		if (lease_take(&lease, folder, NAME, 0, &holder, &err) !=
			    -EACCES ||
		    !strstr(err.message, folder) || lease.path)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(folder, 0700), 0);
}

/* A take that fails after its first step leaves nothing, the lease included. */
static void noise_is_survived(void **state)
{
	char path[SCRATCH_PATH_MAX];
	uint64_t seed = 7;

	scratch_path(path, *state, NAME ".lease");
	for (size_t i = 0; i < 100; i++) {
		char *noise = scratch_random_text(&seed, 1024);
		struct lease lease = { .path = NULL };

		for (size_t at = 0; at < 1024; at += 29)
			noise[at] = "\n=pte"[scratch_random(&seed) % 5];
		assert_int_equal(scratch_write(path, noise, 1024), 0);
		assert_int_equal(try_at(&lease, *state, 0), -EWOULDBLOCK);
		assert_int_equal(try_at(&lease, *state, LEASE_STALE_MS), 0);
		lease_release(&lease);
		assert_int_equal(count_files(*state), 0);
		free(noise);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(it_is_held_once),
		IN_FOLDER(names_are_apart),
		IN_FOLDER(a_still_beat_is_waited_for),
		IN_FOLDER(what_cannot_be_judged_is_waited_for),
		IN_FOLDER(hostile_files_are_a_still_beat),
		IN_FOLDER(what_is_no_file_is_replaced_or_named),
		IN_FOLDER(a_lost_lease_is_told),
		IN_FOLDER(a_killed_holder_is_replaced_at_once),
		IN_FOLDER(killed_takers_are_cleaned_up),
		IN_FOLDER(a_live_taker_is_left_alone),
		IN_FOLDER(of_many_one_wins),
		IN_FOLDER(a_dead_file_is_taken_once),
		IN_FOLDER(a_read_only_folder_is_named),
		IN_FOLDER(noise_is_survived),
#undef IN_FOLDER
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
