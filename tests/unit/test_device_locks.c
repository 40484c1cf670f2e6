/* One tuning per GPU, of all users of a node, and of one user. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/admission/device_locks.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "launcher/admission/node_lock.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NOBODY 65534

/* The least of a job and a target that the guard looks at. */
struct place {
	struct options options;
	struct strlist words;
	struct request request;
	struct memory_target target;
	char locks[SCRATCH_PATH_MAX], node[SCRATCH_PATH_MAX];
	int asked; /* how often must_end was */
};

static void make_place(struct place *place, const char *folder,
		       const char *user)
{
	memset(place, 0, sizeof(*place));
	place->request.options = &place->options;
	place->request.command.given = &place->words;
	scratch_path(place->locks, folder, user);
	scratch_path(place->node, folder, "node");
	place->request.paths.locks = place->locks;
	place->request.paths.scratch = place->locks;
	place->target.device = PROBE_CUDA;
	place->target.gpu_count = 2;
	/* Not in their order. */
	strcpy(place->target.gpus[0].uuid, "GPU-2");
	strcpy(place->target.gpus[1].uuid, "GPU-1");
	if (mkdir(place->node, 0700) == 0)
		(void)chmod(place->node, 01777);
}

static bool end_soon(void *context)
{
	struct place *place = context;

	return ++place->asked == 3;
}

static int take_in(struct device_locks *guard, struct place *place,
		   bool *waited, struct error *err)
{
	memset(guard, 0, sizeof(*guard));
	guard->node_folder = place->node;
	guard->must_end = end_soon;
	guard->context = place;
	*waited = false;
	return device_locks_take(guard, &place->request, &place->target, waited,
				 err);
}

/* A child holds the guard of a user until it is ended; 0: it could not. */
struct holder {
	pid_t pid;
	int release;
};

static void hold_in_child(struct place *place, int ready, int release)
{
	struct device_locks guard;
	bool waited;
	char byte = 'x';

	if (take_in(&guard, place, &waited, NULL) < 0)
		_exit(1);
	if (write(ready, &byte, 1) != 1)
		_exit(2);
	while (read(release, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void start_holder(struct holder *holder, const char *folder,
			 const char *user, uid_t uid)
{
	struct place place;
	int ready[2];
	int release[2];
	char byte;

	make_place(&place, folder, user);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(release, O_CLOEXEC), 0);
	holder->pid = fork();
	if (holder->pid == 0) {
		(void)close(release[1]);
		(void)umask(077);
		if (uid && setuid(uid) < 0)
			_exit(3);
		hold_in_child(&place, ready[1], release[0]);
	}
	(void)close(ready[1]);
	(void)close(release[0]);
	holder->release = release[1];
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
}

static void end_holder(struct holder *holder)
{
	(void)close(holder->release);
	assert_int_equal(waitpid(holder->pid, NULL, 0), holder->pid);
}

static void a_gpu_has_two_locks(void **state)
{
	struct place place;
	struct device_locks guard;
	struct stat info;
	char path[SCRATCH_PATH_MAX];
	bool waited;

	make_place(&place, *state, "me");
	assert_int_equal(take_in(&guard, &place, &waited, NULL), 0);
	assert_false(waited);
	assert_int_equal(guard.lock_count, 2);
	assert_int_equal(guard.count, 4);
	for (size_t i = 0; i < guard.count; i++) {
		assert_true(fcntl(guard.fds[i], F_GETFD) & FD_CLOEXEC);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(guard.fds[i], guard.fds[j]);
	}
	/* In one order, so that two tunings never wait for each other. */
	assert_non_null(strstr(guard.locks[0].path, "GPU-1"));
	scratch_path(path, place.node, "autofit-GPU-1.lock");
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(info.st_size, 0);
	/* Again: held stay held; host memory has its own lock alone. */
	assert_int_equal(device_locks_take(&guard, &place.request,
					   &place.target, &waited, NULL),
			 0);
	assert_int_equal(guard.count, 4);
	place.target.device = PROBE_HOST;
	assert_int_equal(device_locks_take(&guard, &place.request,
					   &place.target, &waited, NULL),
			 0);
	assert_int_equal(guard.lock_count, 3);
	assert_int_equal(guard.count, 5);
	assert_int_equal(device_locks_note_probe(&guard, "ab12", "/x", NULL),
			 0);
	device_locks_release(&guard);
	assert_int_equal(guard.count, 0);
	assert_int_equal(take_in(&guard, &place, &waited, NULL), 0);
	device_locks_release(&guard);
}

static void others_are_waited_for(void **state)
{
	static const struct {
		const char *name, *user;
		uid_t uid; /* 0: the same */
		const char *says;
	} rows[] = {
		{ "the same user", "me", 0, "process " },
		{ "another home", "other", 0, "process " },
		{ "another user", "nobody", NOBODY, " of nobody" },
	};

	if (geteuid() == 0)
		assert_int_equal(chmod(*state, 01777), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;
		struct holder holder;
		struct place place;
		struct device_locks guard;
		bool waited;

		if (rows[i].uid && geteuid() != 0)
			continue; /* nobody else can become another */
		print_message("%s\n", rows[i].name);
		start_holder(&holder, *state, rows[i].user, rows[i].uid);
		make_place(&place, *state, "me");
		place.options.reuse.no_wait = true;
		assert_int_equal(take_in(&guard, &place, &waited, &err),
				 -EBUSY);
		assert_non_null(strstr(err.message, rows[i].says));
		assert_non_null(strstr(err.message, "GPU-1"));
		assert_int_equal(place.asked, 0);
		device_locks_release(&guard);
		place.options.reuse.no_wait = false;
		assert_int_equal(take_in(&guard, &place, &waited, &err),
				 -EINTR);
		assert_true(waited);
		assert_int_equal(place.asked, 3);
		device_locks_release(&guard);
		end_holder(&holder);
		assert_int_equal(take_in(&guard, &place, &waited, &err), 0);
		assert_int_equal(guard.count, 4);
		device_locks_release(&guard);
	}
}

static bool lock_says(const char *folder, const char *name, const char *words)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf text = STRBUF_INIT;
	bool says;

	scratch_path(path, folder, name);
	assert_int_equal(textfile_read(path, 4096, &text, NULL), 0);
	says = strstr(strbuf_text(&text), words) != NULL;
	strbuf_release(&text);
	return says;
}

/* A GPU that is wanted beside the target's, as long as nobody else has it. */
static void one_more_is_tried_once(void **state)
{
	struct error err = ERROR_INIT;
	struct holder holder;
	struct place place;
	struct device_locks guard;
	bool waited;

	/* Of another home: it has the node's lock, and its own. */
	start_holder(&holder, *state, "other", 0);
	make_place(&place, *state, "me");
	place.target.gpu_count = 1;
	strcpy(place.target.gpus[0].uuid, "GPU-0");
	assert_int_equal(take_in(&guard, &place, &waited, &err), 0);
	assert_int_equal(guard.count, 2);
	assert_int_equal(
		device_locks_try(&guard, &place.request, "GPU-1", &err),
		-EBUSY);
	assert_non_null(strstr(err.message, "GPU-1"));
	assert_int_equal(place.asked, 0);
	assert_int_equal(guard.lock_count, 1);
	assert_int_equal(guard.count, 2);
	end_holder(&holder);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			device_locks_try(&guard, &place.request, "GPU-1", &err),
			0);
		assert_int_equal(guard.lock_count, 2);
		assert_int_equal(guard.count, 4);
	}
	/* Each says which probe is to be cleaned up after. */
	assert_int_equal(device_locks_note_probe(&guard, "ab12", "/x", NULL),
			 0);
	assert_int_equal(
		device_locks_note_beside(&guard, "GPU-1", "cd34", "/y", NULL),
		0);
	assert_true(lock_says(place.locks, "GPU-0.lock", "ab12"));
	assert_false(lock_says(place.locks, "GPU-0.lock", "cd34"));
	assert_true(lock_says(place.locks, "GPU-1.lock", "cd34"));
	assert_true(lock_says(place.locks, "GPU-1.lock", "/y"));
	assert_false(lock_says(place.locks, "GPU-1.lock", "ab12"));
	assert_int_equal(device_locks_note_probe(&guard, "", "", NULL), 0);
	assert_false(lock_says(place.locks, "GPU-1.lock", "cd34"));
	device_locks_release(&guard);
}

/* What the user may not read or that is no file is passed over. */
static void a_place_without_locks_is_no_error(void **state)
{
	static const char *const names[] = { "missing", "link", "fifo",
					     "folder", "secret" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[SCRATCH_PATH_MAX + 32];
		struct place place;
		struct device_locks guard;
		size_t expected = 3;
		bool waited;

		print_message("%s\n", names[i]);
		make_place(&place, *state, "me");
		scratch_path(place.node, *state, names[i]);
		if (i > 0)
			assert_int_equal(mkdir(place.node, 0700), 0);
		(void)snprintf(path, sizeof(path), "%s/autofit-GPU-1.lock",
			       place.node);
		if (i == 0)
			expected = 2;
		else if (i == 1)
			assert_int_equal(symlink("/etc/passwd", path), 0);
		else if (i == 2)
			assert_int_equal(mkfifo(path, 0644), 0);
		else if (i == 3)
			assert_int_equal(mkdir(path, 0755), 0);
		else if (geteuid() == 0)
			continue; /* root reads everything */
		else
			assert_int_equal(scratch_write(path, "", 0) ||
						 chmod(path, 0),
					 0);
		assert_int_equal(take_in(&guard, &place, &waited, NULL), 0);
		assert_int_equal(guard.count, expected);
		device_locks_release(&guard);
	}
}

static void a_file_that_was_removed_is_made_anew(void **state)
{
	char who[NODE_LOCK_WHO_MAX];
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;
	int first = node_lock_take(*state, "GPU-1", who, &err);
	int second;

	assert_true(first >= 0);
	assert_int_equal(node_lock_take(*state, "GPU-1", who, &err),
			 -EWOULDBLOCK);
	assert_non_null(strstr(err.message, "GPU-1"));
	scratch_path(path, *state, "autofit-GPU-1.lock");
	assert_int_equal(unlink(path), 0);
	second = node_lock_take(*state, "GPU-1", who, &err);
	assert_true(second >= 0);
	assert_int_equal(access(path, F_OK), 0);
	(void)close(first);
	assert_int_equal(node_lock_take(*state, "GPU-1", who, &err),
			 -EWOULDBLOCK);
	(void)close(second);
	assert_int_equal(node_lock_take(*state, "../x", who, &err), -EINVAL);
	assert_int_equal(node_lock_take(*state, "", who, &err), -EINVAL);
}

/* As the keeper does: who inherited a descriptor holds the lock. */
static void a_keeper_keeps_the_node_lock(void **state)
{
	struct place place;
	struct device_locks guard;
	bool waited;
	int release[2];
	pid_t keeper;

	make_place(&place, *state, "me");
	assert_int_equal(pipe2(release, O_CLOEXEC), 0);
	assert_int_equal(take_in(&guard, &place, &waited, NULL), 0);
	keeper = fork();
	if (keeper == 0) {
		char byte;

		(void)close(release[1]);
		(void)!read(release[0], &byte, 1);
		_exit(0);
	}
	(void)close(release[0]);
	device_locks_release(&guard);
	make_place(&place, *state, "other");
	place.options.reuse.no_wait = true;
	assert_int_equal(take_in(&guard, &place, &waited, NULL), -EBUSY);
	device_locks_release(&guard);
	(void)close(release[1]);
	assert_int_equal(waitpid(keeper, NULL, 0), keeper);
	assert_int_equal(take_in(&guard, &place, &waited, NULL), 0);
	device_locks_release(&guard);
}

static void the_node_has_a_folder(void **state)
{
	const char *folder = node_lock_folder();
	struct stat info;

	(void)state;
	if (!folder)
		return;
	assert_int_equal(lstat(folder, &info), 0);
	assert_int_equal(info.st_mode & 01002, 01002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(a_gpu_has_two_locks),
		IN_FOLDER(others_are_waited_for),
		IN_FOLDER(one_more_is_tried_once),
		IN_FOLDER(a_place_without_locks_is_no_error),
		IN_FOLDER(a_file_that_was_removed_is_made_anew),
		IN_FOLDER(a_keeper_keeps_the_node_lock),
		cmocka_unit_test(the_node_has_a_folder),
#undef IN_FOLDER
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
