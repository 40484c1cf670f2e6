/* Options files: where they are looked for, and whose are read. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/options/options_files.h"

#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define SOMEBODY 12345

/* One try: files are put below the folder of the test, which is left in cwd. */
struct place {
	struct options_files_read files;
	struct strlist warnings;
	struct strbuf got; /* "<path=text>" for each, * for a foreign one */
};

static void put(const char *folder, const char *name, const char *text)
{
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(scratch_write(scratch_path(path, folder, name), text,
				       strlen(text)),
			 0);
}

static void make(const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	(void)mkdir(scratch_path(path, folder, name), 0700);
}

static void look(struct place *place, const char *folder,
		 const char *const *variables)
{
	struct strlist environment = STRLIST_INIT;

	memset(place, 0, sizeof(*place));
	/* %: the folder of the test. */
	for (; *variables; variables++) {
		const char *at = strchr(*variables, '%');

		strlist_addf(&environment, "%.*s%s%s",
			     (int)strcspn(*variables, "%"), *variables,
			     at ? folder : "", at ? at + 1 : "");
	}
	options_files_read(&place->files, &environment, &place->warnings);
	for (size_t i = 0; i < place->files.count; i++) {
		const struct options_file *file = &place->files.items[i];
		const char *path = file->path;

		assert_int_equal(strlen(file->text), file->length);
		if (strncmp(path, folder, strlen(folder)) == 0)
			path += strlen(folder);
		strbuf_addf(&place->got, "<%s%s=%.20s>",
			    file->foreign ? "*" : "", path, file->text);
	}
	strlist_release(&environment);
}

static void place_release(struct place *place)
{
	options_files_release(&place->files);
	strlist_release(&place->warnings);
	strbuf_release(&place->got);
}

static int enter(void **state)
{
	if (scratch_make(state) < 0 || chdir(*state) < 0)
		return -1;
	make(*state, "home");
	make(*state, "home/config");
	make(*state, "site");
	return 0;
}

static int leave(void **state)
{
	return chdir("/") < 0 ? -1 : scratch_remove(state);
}

static const char *const below[] = { "AUTOFIT_HOME=%/home",
				     "AUTOFIT_SITE=%/site", NULL };

static void the_strongest_comes_first(void **state)
{
	struct place place;

	put(*state, ".autofit.ini", "project");
	put(*state, "home/config/autofit.ini", "user");
	put(*state, "site/autofit.ini", "site");
	look(&place, *state, below);
	assert_string_equal(strbuf_text(&place.got),
			    "<.autofit.ini=project>"
			    "</home/config/autofit.ini=user>"
			    "</site/autofit.ini=site>");
	assert_int_equal(place.warnings.count, 0);
	place_release(&place);
}

static void what_is_missing_is_passed_over(void **state)
{
	struct place place;

	look(&place, *state, below);
	assert_int_equal(place.files.count, 0);
	assert_int_equal(place.warnings.count, 0);
	place_release(&place);
	put(*state, "site/autofit.ini", "");
	look(&place, *state, below);
	assert_string_equal(strbuf_text(&place.got), "</site/autofit.ini=>");
	place_release(&place);
}

static void folders_come_from_the_environment(void **state)
{
	static const struct {
		const char *variables[4];
		const char *got;
	} rows[] = {
		{ { "HOME=%/user" }, "</user/.config/autofit/autofit.ini=1>" },
		{ { "HOME=%/user", "XDG_CONFIG_HOME=%/xdg" },
		  "</xdg/autofit/autofit.ini=2>" },
		{ { "HOME=%/user", "AUTOFIT_HOME=%/home" },
		  "</home/config/autofit.ini=3>" },
		/* Not an absolute path: as if it were not set. */
		{ { "HOME=%/user", "AUTOFIT_HOME=home" },
		  "</user/.config/autofit/autofit.ini=1>" },
		{ { "HOME=%/user", "AUTOFIT_SITE=site" },
		  "</user/.config/autofit/autofit.ini=1>" },
		{ { "PATH=/bin" }, "" },
	};

	make(*state, "user");
	make(*state, "user/.config");
	make(*state, "user/.config/autofit");
	make(*state, "xdg");
	make(*state, "xdg/autofit");
	put(*state, "user/.config/autofit/autofit.ini", "1");
	put(*state, "xdg/autofit/autofit.ini", "2");
	put(*state, "home/config/autofit.ini", "3");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct place place;

		look(&place, *state, rows[i].variables);
		assert_string_equal(strbuf_text(&place.got), rows[i].got);
		assert_int_equal(place.warnings.count, 0);
		place_release(&place);
	}
}

struct refused {
	const char *name;
	uid_t owner; /* of the project's file; 0: as it is */
	gid_t group;
	mode_t mode;
	const char *warning; /* NULL: it is read */
};

static void check_refused(const char *folder, const struct refused *row)
{
	struct place place;

	put(folder, ".autofit.ini", "text");
	assert_int_equal(chmod(".autofit.ini", row->mode), 0);
	if (row->owner || row->group)
		assert_int_equal(chown(".autofit.ini", row->owner, row->group),
				 0);
	put(folder, "site/autofit.ini", "site");
	look(&place, folder, below);
	if (place.warnings.count != (row->warning != NULL) ||
	    (row->warning && (!strstr(place.warnings.items[0], row->warning) ||
			      !strstr(place.warnings.items[0], "passed over"))))
		fail_msg("%s: %s", row->name,
			 place.warnings.count ? place.warnings.items[0]
					      : "no warning");
	/* The others are read all the same. */
	assert_int_equal(place.files.count, row->warning ? 1 : 2);
	place_release(&place);
	assert_int_equal(unlink(".autofit.ini"), 0);
	assert_int_equal(unlink("site/autofit.ini"), 0);
}

static void what_others_may_write_is_refused(void **state)
{
	static const struct refused rows[] = {
		{ "mine", 0, 0, 0600, NULL },
		{ "read by all", 0, 0, 0644, NULL },
		{ "written by all", 0, 0, 0646, "others may write to it" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check_refused(*state, &rows[i]);
}

static void what_others_have_written_is_refused(void **state)
{
	static const struct refused rows[] = {
		{ "another's", SOMEBODY, SOMEBODY, 0644,
		  "belongs to another user" },
		{ "mine, of a group of others", 0, SOMEBODY, 0664,
		  "others may write to it" },
		{ "mine, read by a group of others", 0, SOMEBODY, 0640, NULL },
	};
	struct place place;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < COUNT(rows); i++)
		check_refused(*state, &rows[i]);
	/* In a folder of his own it counts, but is foreign. */
	put(*state, ".autofit.ini", "his");
	assert_int_equal(chown(".autofit.ini", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(chown(*state, SOMEBODY, SOMEBODY), 0);
	look(&place, *state, below);
	assert_string_equal(strbuf_text(&place.got), "<*.autofit.ini=his>");
	place_release(&place);
	/* A site is named by the user: what its owner says counts in full. */
	put(*state, "site/autofit.ini", "site");
	assert_int_equal(chown("site/autofit.ini", SOMEBODY, SOMEBODY), 0);
	look(&place, *state, below);
	assert_int_equal(place.files.count, 1);
	assert_int_equal(place.warnings.count, 1);
	place_release(&place);
	assert_int_equal(chown("site", SOMEBODY, SOMEBODY), 0);
	look(&place, *state, below);
	assert_string_equal(strbuf_text(&place.got),
			    "<*.autofit.ini=his></site/autofit.ini=site>");
	place_release(&place);
}

/* Nothing here may block or read without end. */
static void what_is_no_file_is_refused(void **state)
{
	struct place place;
	struct strbuf large = STRBUF_INIT;

	assert_int_equal(mkfifo(".autofit.ini", 0600), 0);
	look(&place, *state, below);
	assert_int_equal(place.files.count, 0);
	assert_int_equal(place.warnings.count, 1);
	assert_non_null(strstr(place.warnings.items[0], "not a regular file"));
	place_release(&place);
	assert_int_equal(unlink(".autofit.ini"), 0);

	assert_int_equal(symlink("/dev/zero", ".autofit.ini"), 0);
	make(*state, "home/config/autofit.ini");
	look(&place, *state, below);
	assert_int_equal(place.files.count, 0);
	assert_int_equal(place.warnings.count, 2);
	place_release(&place);
	assert_int_equal(unlink(".autofit.ini"), 0);

	for (size_t i = 0; i <= OPTIONS_FILE_BYTES_MAX; i++)
		strbuf_addch(&large, '\n');
	assert_int_equal(
		scratch_write(".autofit.ini", large.data, large.length), 0);
	look(&place, *state, below);
	assert_int_equal(place.files.count, 0);
	assert_non_null(strstr(place.warnings.items[0], "larger than 256 KiB"));
	place_release(&place);
	assert_int_equal(scratch_write(".autofit.ini", large.data,
				       OPTIONS_FILE_BYTES_MAX),
			 0);
	look(&place, *state, below);
	assert_int_equal(place.files.count, 1);
	place_release(&place);
	strbuf_release(&large);
}

static void links_of_the_user_are_followed(void **state)
{
	struct place place;

	put(*state, "real.ini", "linked");
	assert_int_equal(symlink("../../real.ini", "home/config/autofit.ini"),
			 0);
	look(&place, *state, below);
	assert_string_equal(strbuf_text(&place.got),
			    "</home/config/autofit.ini=linked>");
	place_release(&place);
	/* One that leads nowhere is as no file. */
	assert_int_equal(unlink("real.ini"), 0);
	look(&place, *state, below);
	assert_int_equal(place.files.count, 0);
	assert_int_equal(place.warnings.count, 0);
	place_release(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_strongest_comes_first,
						enter, leave),
		cmocka_unit_test_setup_teardown(what_is_missing_is_passed_over,
						enter, leave),
		cmocka_unit_test_setup_teardown(
			folders_come_from_the_environment, enter, leave),
		cmocka_unit_test_setup_teardown(
			what_others_may_write_is_refused, enter, leave),
		cmocka_unit_test_setup_teardown(
			what_others_have_written_is_refused, enter, leave),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_refused,
						enter, leave),
		cmocka_unit_test_setup_teardown(links_of_the_user_are_followed,
						enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
