/* One tuning per device, for as long as anything of it is left. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/locks/lock.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct lock_note sample_note(void)
{
	return (struct lock_note){
		.pid = 4711,
		.command = "python train.py",
		.probe_id = "4711-3.a_B",
		.boot_id = "0b2d1f1e-5a7b-4c3e-9f00-112233445566",
		.probe_start = UINT64_MAX,
	};
}

static void assert_notes_equal(const struct lock_note *a,
			       const struct lock_note *b)
{
	assert_int_equal(a->pid, b->pid);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->probe_id, b->probe_id);
	assert_string_equal(a->boot_id, b->boot_id);
	assert_true(a->probe_start == b->probe_start);
}

static void take(struct lock *lock, const char *folder, struct lock_note *left)
{
	struct error err = ERROR_INIT;

	if (lock_take(lock, folder, "GPU-1", left, &err) < 0)
		fail_msg("%s", err.message);
}

static void a_lock_is_held_once(void **state)
{
	static const struct lock_note nobody = { 0 };
	struct lock_note note = sample_note();
	struct error err = ERROR_INIT;
	struct lock_note left;
	struct lock first;
	struct lock second;
	struct lock other;

	take(&first, *state, &left);
	assert_notes_equal(&left, &nobody);
	assert_int_equal(lock_take(&second, *state, "GPU-1", &left, &err),
			 -EWOULDBLOCK);
	assert_int_equal(second.fd, -1);
	assert_non_null(strstr(err.message, "GPU-1"));
	assert_int_equal(lock_write(&first, &note, NULL), 0);
	assert_int_equal(lock_take(&second, *state, "GPU-1", &left, &err),
			 -EWOULDBLOCK);
	assert_notes_equal(&left, &note);
	assert_non_null(strstr(err.message, "4711"));
	assert_non_null(strstr(err.message, "python train.py"));
	assert_int_equal(lock_take(&other, *state, "GPU-2", &left, &err), 0);
	lock_release(&other);
	lock_release(&second);
	lock_release(&first);
	lock_release(&first);
	assert_int_equal(first.fd, -1);
	take(&second, *state, &left);
	assert_notes_equal(&left, &nobody);
	lock_release(&second);
}

static void the_file_is_the_users_own(void **state)
{
	char folder[SCRATCH_PATH_MAX];
	struct lock_note left;
	struct lock lock;
	struct stat info;
	mode_t mask = umask(0);

	scratch_path(folder, *state, "state/locks");
	take(&lock, folder, &left);
	(void)umask(mask);
	assert_true(fcntl(lock.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(stat(lock.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(chmod(lock.path, 0666), 0);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	lock_release(&lock);
	take(&lock, folder, &left);
	assert_int_equal(stat(lock.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	lock_release(&lock);
	assert_int_equal(stat(lock.path, &info), 0);
	assert_int_equal(info.st_size, 0);
}

/* Holds what it inherited until the pipe's other end is closed. */
static void keep_until(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static pid_t fork_keeper(int *release)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[1]);
		keep_until(ends[0]);
	}
	(void)close(ends[0]);
	*release = ends[1];
	return pid;
}

static void a_keeper_keeps_the_lock_of_a_dead_holder(void **state)
{
	static const struct {
		const char *name;
		bool killed; /* else released */
	} rows[] = {
		{ "killed", true },
		{ "released", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lock_note note = sample_note();
		struct lock_note left;
		struct lock lock;
		struct lock next;
		int release;
		int status;
		pid_t keeper;

		print_message("%s\n", rows[i].name);
		take(&lock, *state, &left);
		assert_int_equal(lock_write(&lock, &note, NULL), 0);
		keeper = fork_keeper(&release);
		if (rows[i].killed)
			(void)close(lock.fd); /* as the kernel does then */
		else
			lock_release(&lock);
		assert_int_equal(lock_take(&next, *state, "GPU-1", &left, NULL),
				 -EWOULDBLOCK);
		assert_int_equal(left.pid, rows[i].killed ? 4711 : 0);
		(void)close(release);
		assert_int_equal(waitpid(keeper, &status, 0), keeper);
		take(&next, *state, &left);
		assert_string_equal(left.probe_id,
				    rows[i].killed ? note.probe_id : "");
		lock_release(&next);
	}
}

static void a_shorter_note_replaces_a_longer_one(void **state)
{
	struct lock_note note = sample_note();
	struct lock_note argument_brief = { .pid = 5 };
	struct lock_note left;
	struct lock lock;
	struct lock other;
	struct stat info;
	off_t long_size;

	take(&lock, *state, &left);
	assert_int_equal(lock_write(&lock, &note, NULL), 0);
	assert_int_equal(stat(lock.path, &info), 0);
	long_size = info.st_size;
	assert_int_equal(lock_write(&lock, &argument_brief, NULL), 0);
	assert_int_equal(stat(lock.path, &info), 0);
	assert_true(info.st_size < long_size);
	assert_int_equal(lock_take(&other, *state, "GPU-1", &left, NULL),
			 -EWOULDBLOCK);
	assert_notes_equal(&left, &argument_brief);
	lock_release(&lock);
}

/* What lock_take says was left when text stood in the file. */
static struct lock_note left_by(const char *folder, const char *text,
				size_t length)
{
	struct lock_note left;
	struct lock lock;

	take(&lock, folder, &left);
	lock_release(&lock);
	assert_int_equal(scratch_write(lock.path, text, length), 0);
	take(&lock, folder, &left);
	(void)close(lock.fd);
	return left;
}

static void hostile_notes_say_nothing(void **state)
{
	static const struct {
		const char *name, *text;
		struct lock_note left;
	} rows[] = {
		{ "empty", "", { 0 } },
		{ "no line", "pid=5", { 0 } },
		{ "line", "pid=5\n", { .pid = 5 } },
		{ "no equals", "pid\n\n=\npid=5\n", { .pid = 5 } },
		{ "unknown", "colour=red\npid=5\n", { .pid = 5 } },
		{ "after the end", "end\npid=5\n", { 0 } },
		{ "negative", "pid=-5\nprobe_start=-1\n", { 0 } },
		{ "no number", "pid=x\nprobe_start=\n", { 0 } },
		{ "hex", "pid=0x5\nprobe_start=5 \n", { 0 } },
		{ "large pid", "pid=2147483648\n", { 0 } },
		{ "huge",
		  "pid=99999999999999999999\n"
		  "probe_start=18446744073709551616\n",
		  { 0 } },
		{ "terminal codes",
		  "command=\x1b[31mred\xc3\xa9\n",
		  { .command = "?[31mred??" } },
		{ "equals in command", "command=a=b\n", { .command = "a=b" } },
		{ "id with a slash", "probe_id=../x\n", { 0 } },
		{ "id with an equals", "probe_id=a=b\n", { 0 } },
		{ "longest id",
		  "probe_id=12345678901234567890123456789012\n",
		  { .probe_id = "12345678901234567890123456789012" } },
		{ "longer id",
		  "probe_id=123456789012345678901234567890123\n",
		  { 0 } },
		{ "longer boot id",
		  "boot_id=0123456789012345678901234567890123456789\n",
		  { 0 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lock_note left =
			left_by(*state, rows[i].text, strlen(rows[i].text));

		print_message("%s\n", rows[i].name);
		assert_notes_equal(&left, &rows[i].left);
	}
}

static void noise_is_survived(void **state)
{
	uint64_t seed = 11;

	for (size_t i = 0; i < 200; i++) {
		size_t length = scratch_random(&seed) % 5000;
		char *noise = scratch_random_text(&seed, length);
		struct lock_note left;

		for (size_t at = 0; at < length; at += 37)
			noise[at] = "\n=\0pi"[scratch_random(&seed) % 5];
		left = left_by(*state, noise, length);
		assert_true(left.pid >= 0);
		assert_true(strlen(left.command) < sizeof(left.command));
		free(noise);
	}
}

static void a_cut_note_is_survived(void **state)
{
	struct lock_note note = sample_note();
	struct strbuf text = STRBUF_INIT;
	struct lock_note left;
	struct lock lock;

	take(&lock, *state, &left);
	assert_int_equal(lock_write(&lock, &note, NULL), 0);
	assert_int_equal(textfile_read(lock.path, 4096, &text, NULL), 0);
	(void)close(lock.fd);
	for (size_t length = 0; length <= text.length; length++) {
		left = left_by(*state, text.data, length);
		assert_true(left.pid == 0 || left.pid == note.pid);
		assert_true(!*left.probe_id ||
			    strcmp(left.probe_id, note.probe_id) == 0);
		assert_true(!left.probe_start ||
			    left.probe_start == note.probe_start);
	}
	assert_notes_equal(&left, &note);
	strbuf_release(&text);
}

static void what_is_written_can_be_read(void **state)
{
	struct lock_note note = sample_note();
	struct lock_note left;
	struct lock lock;

	memset(note.command, 'x', sizeof(note.command) - 1);
	note.command[0] = '\n';
	note.command[1] = '\xff';
	memcpy(note.probe_id, "a\nb", 4);
	take(&lock, *state, &left);
	assert_int_equal(lock_write(&lock, &note, NULL), 0);
	(void)close(lock.fd);
	take(&lock, *state, &left);
	assert_int_equal(strlen(left.command), sizeof(note.command) - 1);
	assert_int_equal(strncmp(left.command, "??xxx", 5), 0);
	assert_string_equal(left.probe_id, "");
	assert_string_equal(left.boot_id, note.boot_id);
	lock_release(&lock);
}

static void names_stay_in_the_folder(void **state)
{
	static const struct {
		const char *name, *file;
	} rows[] = {
		{ "GPU-5a_b.c", "GPU-5a_b.c.lock" }, { "../x", "_._x.lock" },
		{ "a/b c\n", "a_b_c_.lock" },        { "", "_.lock" },
		{ ".hidden", "_hidden.lock" },       { "\xc3\xa9", "__.lock" },
	};
	char path[SCRATCH_PATH_MAX];
	char name[1000];
	struct lock_note left;
	struct error err = ERROR_INIT;
	struct lock lock;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(
			lock_take(&lock, *state, rows[i].name, &left, NULL), 0);
		assert_string_equal(lock.path,
				    scratch_path(path, *state, rows[i].file));
		assert_int_equal(access(path, F_OK), 0);
		lock_release(&lock);
	}
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(lock_take(&lock, *state, name, &left, NULL), 0);
	lock_release(&lock);
	assert_int_equal(lock_take(&lock, name, "x", &left, &err),
			 -ENAMETOOLONG);
	assert_int_equal(lock.fd, -1);
}

static void what_is_no_file_of_ours_is_refused(void **state)
{
	static const char *const names[] = { "link", "fifo", "folder" };
	static const int results[] = { -ELOOP, -EINVAL, -EISDIR };
	char path[SCRATCH_PATH_MAX];
	struct lock_note left;

	assert_int_equal(symlink("x", scratch_path(path, *state, "link.lock")),
			 0);
	assert_int_equal(mkfifo(scratch_path(path, *state, "fifo.lock"), 0600),
			 0);
	assert_int_equal(mkdir(scratch_path(path, *state, "folder.lock"), 0700),
			 0);
	for (size_t i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		struct lock lock;

		assert_int_equal(
			lock_take(&lock, *state, names[i], &left, &err),
			results[i]);
		assert_int_equal(lock.fd, -1);
		assert_non_null(strstr(err.message, names[i]));
	}
	assert_int_equal(access(scratch_path(path, *state, "x"), F_OK), -1);
}

static void a_lock_of_another_user_is_refused(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct lock_note left;
	struct lock lock;

	if (geteuid() != 0)
		return; /* nobody else can give a file away */
	scratch_path(path, *state, "GPU-1.lock");
	assert_int_equal(scratch_write(path, "", 0), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(lock_take(&lock, *state, "GPU-1", &left, NULL),
			 -EPERM);
	assert_int_equal(lock.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(a_lock_is_held_once),
		IN_FOLDER(the_file_is_the_users_own),
		IN_FOLDER(a_keeper_keeps_the_lock_of_a_dead_holder),
		IN_FOLDER(a_shorter_note_replaces_a_longer_one),
		IN_FOLDER(hostile_notes_say_nothing),
		IN_FOLDER(noise_is_survived),
		IN_FOLDER(a_cut_note_is_survived),
		IN_FOLDER(what_is_written_can_be_read),
		IN_FOLDER(names_stay_in_the_folder),
		IN_FOLDER(what_is_no_file_of_ours_is_refused),
		IN_FOLDER(a_lock_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
