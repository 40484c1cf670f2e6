/* The strongest isolation that works, where some of it is forbidden. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/isolation.h"

#include "base/alloc.h"
#include "isolation_case.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define FORBID TEST_BINARY_DIR "/helpers/forbid"
#define ANSWER_MAX 1024
#define NO_NAMESPACE "no user namespace (Operation not permitted)"
#define NO_LANDLOCK "no Landlock (Function not implemented)"

static size_t count_descriptors(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			count++;
	return count;
}

/* "choose USER KIND TOP" of this program, below: what it found, in words. */
static int choose(char **arguments)
{
	uid_t user = (uid_t)strtoul(arguments[0], NULL, 10);
	struct isolation_choice choice;
	struct isolation_case made;
	struct isolation_spec spec;
	enum isolation_kind kind;
	size_t descriptors;

	case_make(&made, arguments[2], user);
	case_become(user);
	if (isolation_parse(arguments[1], &kind) < 0)
		return 1;
	/* Nobody waits for children here, and none may be left to wait for. */
	(void)signal(SIGCHLD, SIG_IGN);
	spec = case_spec(&made, kind);
	descriptors = count_descriptors();
	isolation_choose(&choice, &spec);
	(void)printf("%s|%s|%s%s", isolation_name(choice.kind), choice.why_not,
		     descriptors == count_descriptors() ? "" : "descriptors ",
		     waitpid(-1, NULL, WNOHANG) < 0 ? "" : "children");
	case_release(&made);
	return 0;
}

/* This program again, by its descriptor: its path may be root's alone. */
static void exec_self(const char *forbidden, char *const *arguments)
{
	char self[64];
	int fd = open("/proc/self/exe", O_RDONLY);
	char *const argv[] = { (char[]){ "forbid" },
			       xstrdup(forbidden),
			       self,
			       (char[]){ "choose" },
			       arguments[0],
			       arguments[1],
			       arguments[2],
			       NULL };

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	(void)execv(*forbidden ? FORBID : self, *forbidden ? argv : argv + 2);
	_exit(127);
}

static void ask(const char *forbidden, char *const *arguments,
		char answer[ANSWER_MAX])
{
	int ends[2];
	ssize_t got;
	size_t length = 0;
	int status = -1;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(ends[1], 1);
		exec_self(forbidden, arguments);
	}
	(void)close(ends[1]);
	while ((got = read(ends[0], answer + length, ANSWER_MAX - 1 - length)) >
	       0)
		length += (size_t)got;
	answer[length] = '\0';
	(void)close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_is_forbidden_is_gone_without(void **state)
{
	static const struct {
		const char *forbidden, *kind, *answer;
	} rows[] = {
		{ "", "view", "view||" },
		{ "", "landlock", "landlock||" },
		{ "", "compare", "compare||" },
		{ "landlock", "view", "view||" },
		{ "namespaces", "view", "landlock|" NO_NAMESPACE "|" },
		{ "namespaces,landlock", "view", "compare|" NO_NAMESPACE "|" },
		{ "landlock", "landlock", "compare|" NO_LANDLOCK "|" },
		{ "landlock,namespaces", "compare", "compare||" },
	};
	static char users[][8] = { "0", "65534" };
	char *mounts_before = case_read("/proc/self/mountinfo");

	(void)chmod(*state, 0755);
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		char top[SCRATCH_PATH_MAX], name[16], mine[16], kind[16];
		char answer[ANSWER_MAX];
		char *arguments[] = { users[i % 2], kind, top };
		char *mounts;

		(void)snprintf(name, sizeof(name), "row%zu", i);
		(void)snprintf(kind, sizeof(kind), "%s", rows[i / 2].kind);
		(void)snprintf(mine, sizeof(mine), "%u", geteuid());
		if (geteuid() != 0)
			arguments[0] = mine;
		assert_int_equal(mkdir(scratch_path(top, *state, name), 0755),
				 0);
		ask(rows[i / 2].forbidden, arguments, answer);
		assert_string_equal(answer, rows[i / 2].answer);
		mounts = case_read("/proc/self/mountinfo");
		assert_string_equal(mounts, mounts_before);
		free(mounts);
	}
	free(mounts_before);
}

static void choose_here(const struct isolation_case *test,
			enum isolation_kind kind,
			struct isolation_choice *choice)
{
	const struct isolation_spec spec = case_spec(test, kind);

	isolation_choose(choice, &spec);
}

static void a_trial_leaves_nothing(void **state)
{
	struct isolation_choice choice;
	struct isolation_case made;
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	char *guarded;

	(void)chmod(*state, 0755);
	case_make(&made, *state, geteuid());
	guarded = case_guarded_text(&made);
	for (int kind = 0; kind < ISOLATION_COMPARE; kind++) {
		char *now;

		choose_here(&made, (enum isolation_kind)kind, &choice);
		assert_int_equal(choice.kind, kind);
		assert_string_equal(choice.why_not, "");
		if (kind == ISOLATION_VIEW) {
			now = case_guarded_text(&made);
			assert_string_equal(now, guarded);
			free(now);
		}
		case_describe(kind == 0 ? &before : &after, made.scratch);
	}
	/* Its own checkpoint is there, and nothing beside it. */
	assert_null(strstr(strbuf_text(&after), "view"));
	assert_null(strstr(strbuf_text(&after), "trial"));
	assert_non_null(strstr(strbuf_text(&before), "ckpt.pt"));
	strbuf_release(&before);
	strbuf_release(&after);
	free(guarded);
	case_release(&made);
}

/* Each is a place where one kind cannot keep what it promises. */
static void a_kind_that_does_not_hold_is_not_chosen(void **state)
{
	struct isolation_choice choice;
	struct isolation_case made;

	(void)chmod(*state, 0755);
	case_make(&made, *state, geteuid());
	strlist_add(&made.guarded, "/dev/shm");
	choose_here(&made, ISOLATION_LANDLOCK, &choice);
	assert_int_equal(choice.kind, ISOLATION_COMPARE);
	assert_string_equal(choice.why_not,
			    "no Landlock for /dev/shm: /dev is to be written");
	choose_here(&made, ISOLATION_VIEW, &choice);
	assert_int_equal(choice.kind, ISOLATION_VIEW);
	/* What stands in the way of a layer is named. */
	case_file(made.scratch, "view");
	choose_here(&made, ISOLATION_VIEW, &choice);
	assert_non_null(strstr(choice.why_not, "cannot make "));
	assert_non_null(strstr(choice.why_not, "/view/root: File exists"));
	case_release(&made);
}

/* What the user has not allowed himself proves nothing about a view. */
static void a_folder_that_cannot_be_written_is_no_obstacle(void **state)
{
	static char user[] = "65534", kind[] = "view";
	char answer[ANSWER_MAX], work[SCRATCH_PATH_MAX];
	char *arguments[] = { user, kind, *state };

	if (geteuid() != 0)
		skip();
	(void)chmod(*state, 0755);
	assert_int_equal(
		mkdir(scratch_path(work, *state, "work, of:mine"), 0555), 0);
	ask("", arguments, answer);
	assert_string_equal(answer, "view||");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_is_forbidden_is_gone_without, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(a_trial_leaves_nothing,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_kind_that_does_not_hold_is_not_chosen, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_folder_that_cannot_be_written_is_no_obstacle,
			scratch_make, scratch_remove),
	};

	if (argc == 5 && strcmp(argv[1], "choose") == 0)
		return choose(argv + 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
