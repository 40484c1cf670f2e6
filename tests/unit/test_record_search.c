/* Which record is the best for a command, and which are not used. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record.h"

#include "base/textfile.h"
#include "tests/unit/record_folder.h"

#include <errno.h>
#include <time.h>

#define NOBODY 65534
#define FILE_MAX (1 << 24)

/* As the launcher makes them: a place, and parts. */
static char *identity_of(const char *world, const char *length)
{
	struct strbuf out = STRBUF_INIT;

	identity_begin(&out);
	identity_add(&out, IDENTITY_PLACE, "world", world);
	identity_add(&out, IDENTITY_PART, "argument", "train.py");
	identity_add(&out, IDENTITY_PART, "argument", "--len");
	identity_add(&out, IDENTITY_PART, "argument", length);
	return strbuf_detach(&out);
}

#define RECORDS_MAX 4

/* A record in one of the folders, by what of its identity is the same. */
struct wanted_record {
	int64_t created; /* 0: none */
	bool in_site;
	const char *world, *length, *subject; /* NULL: as wanted */
	const char *stamp;                    /* of the file "model.py" */
	int64_t lowered_from;
};

static void write_wanted(const char *folder, const struct wanted_record *wanted,
			 const char *model)
{
	char *identity = identity_of(wanted->world ? wanted->world : "1",
				     wanted->length ? wanted->length : "256");
	struct record record = plain_record(identity, wanted->created);

	if (wanted->subject)
		sample_set(&record.subject, xstrdup(wanted->subject));
	if (wanted->stamp)
		strlist_addf(&record.stamps, "%s %s", wanted->stamp, model);
	record.lowered_from = wanted->lowered_from;
	assert_int_equal(record_write(&record, folder, NULL), 0);
	record_release(&record);
	free(identity);
}

#define SAME "af63dc4c8601ec8c" /* of "a" */
#define OTHER "0000000000000000"

static const struct {
	const char *name;
	struct wanted_record records[RECORDS_MAX];
	enum record_grade grade;
	int64_t created;
	const char *difference;
} bests[] = {
	{ "none", { { 0 } }, RECORD_NONE, 0, NULL },
	{ "exact", { { .created = 5 } }, RECORD_EXACT, 5, "" },
	{ "exact by its files",
	  { { .created = 5, .stamp = SAME } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "a file changed",
	  { { .created = 5, .stamp = OTHER } },
	  RECORD_NEAR,
	  5,
	  "model.py changed" },
	{ "near",
	  { { .created = 5, .length = "512" } },
	  RECORD_NEAR,
	  5,
	  "argument --len 256, was 512" },
	{ "near, and a file changed",
	  { { .created = 5, .length = "512", .stamp = OTHER } },
	  RECORD_NEAR,
	  5,
	  "argument --len 256, was 512; model.py changed" },
	{ "hint",
	  { { .created = 5, .world = "2", .stamp = OTHER } },
	  RECORD_HINT,
	  5,
	  "world 1, was 2" },
	{ "another subject",
	  { { .created = 5, .subject = "eval" } },
	  RECORD_NONE,
	  0,
	  NULL },
	{ "another subject, near",
	  { { .created = 5, .subject = "eval", .length = "512" } },
	  RECORD_NONE,
	  0,
	  NULL },
	{ "exact before near",
	  { { .created = 5 }, { .created = 9, .length = "512" } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "near before hint",
	  { { .created = 5, .length = "512" }, { .created = 9, .world = "2" } },
	  RECORD_NEAR,
	  5,
	  "argument --len 256, was 512" },
	{ "the newest near",
	  { { .created = 5, .length = "512" },
	    { .created = 7, .length = "128" },
	    { .created = 6, .length = "64" } },
	  RECORD_NEAR,
	  7,
	  "argument --len 256, was 128" },
	{ "the newest near is of changed files",
	  { { .created = 5, .length = "512" },
	    { .created = 7, .stamp = OTHER } },
	  RECORD_NEAR,
	  7,
	  "model.py changed" },
	{ "the newest near is of another argument",
	  { { .created = 8, .length = "512" },
	    { .created = 7, .stamp = OTHER } },
	  RECORD_NEAR,
	  8,
	  "argument --len 256, was 512" },
	{ "the newest hint",
	  { { .created = 5, .world = "2" }, { .created = 7, .world = "3" } },
	  RECORD_HINT,
	  7,
	  "world 1, was 3" },
	{ "the site's",
	  { { .created = 5, .in_site = true } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "the site's newer before the own",
	  { { .created = 5 }, { .created = 9, .in_site = true } },
	  RECORD_EXACT,
	  9,
	  "" },
	{ "the own newer before the site's",
	  { { .created = 9 }, { .created = 5, .in_site = true } },
	  RECORD_EXACT,
	  9,
	  "" },
	{ "the own lowered one before the site's newer",
	  { { .created = 5, .lowered_from = 64 },
	    { .created = 9, .in_site = true } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "the site's exact before the own near",
	  { { .created = 5, .in_site = true },
	    { .created = 9, .length = "512" } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "the site's exact before the own with changed files",
	  { { .created = 5, .in_site = true },
	    { .created = 9, .stamp = OTHER } },
	  RECORD_EXACT,
	  5,
	  "" },
	{ "own near before the site's older near with changed files",
	  { { .created = 4, .in_site = true, .stamp = OTHER },
	    { .created = 5, .length = "512" } },
	  RECORD_NEAR,
	  5,
	  "argument --len 256, was 512" },
	{ "the site's near before the own hint",
	  { { .created = 5, .in_site = true, .length = "512" },
	    { .created = 9, .world = "2" } },
	  RECORD_NEAR,
	  5,
	  "argument --len 256, was 512" },
};

static void the_best_is_found(void **state)
{
	for (size_t i = 0; i < sizeof(bests) / sizeof(*bests); i++) {
		char *identity = identity_of("1", "256");
		char name[SCRATCH_PATH_MAX];
		char own[SCRATCH_PATH_MAX];
		char site[SCRATCH_PATH_MAX];
		char model[SCRATCH_PATH_MAX];
		struct record_folders folders = { own, site };
		struct record_match match;

		print_message("%s\n", bests[i].name);
		scratch_path(model, *state, "model.py");
		assert_int_equal(scratch_write(model, "a", 1), 0);
		(void)snprintf(name, sizeof(name), "%zu/records", i);
		scratch_path(own, *state, name);
		(void)snprintf(name, sizeof(name), "site%zu/records", i);
		scratch_path(site, *state, name);
		for (size_t j = 0; j < RECORDS_MAX; j++)
			if (bests[i].records[j].created)
				write_wanted(bests[i].records[j].in_site ? site
									 : own,
					     &bests[i].records[j], model);
		record_search(&match, &folders, identity, SUBJECT);
		assert_int_equal(match.grade, bests[i].grade);
		assert_int_equal(match.record.created, bests[i].created);
		assert_true(texts_equal(match.difference, bests[i].difference));
		assert_int_equal(match.path != NULL,
				 bests[i].grade != RECORD_NONE);
		record_match_release(&match);
		record_match_release(&match);
		free(identity);
	}
}

/* stderr to a file while the search runs; what was said. */
static struct strbuf said_of(const char *scratch, const char *folder,
			     const char *identity, enum record_grade grade)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf said = STRBUF_INIT;
	struct record_match match;
	int saved = dup(STDERR_FILENO);
	int fd = open(scratch_path(path, scratch, "said"),
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(saved >= 0 && fd >= 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	search(&match, folder, identity);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(fd);
	(void)close(saved);
	assert_int_equal(match.grade, grade);
	record_match_release(&match);
	assert_int_equal(textfile_read(path, FILE_MAX, &said, NULL), 0);
	return said;
}

/* A sound record's path, and its text with one part changed. */
static void change_file(const char *path, const char *from, const char *to)
{
	struct strbuf text = STRBUF_INIT;
	struct strbuf changed = STRBUF_INIT;
	const char *at;

	assert_int_equal(textfile_read(path, FILE_MAX, &text, NULL), 0);
	at = strstr(text.data, from);
	assert_non_null(at);
	strbuf_add(&changed, text.data, (size_t)(at - text.data));
	strbuf_adds(&changed, to);
	strbuf_adds(&changed, at + strlen(from));
	assert_int_equal(scratch_write(path, changed.data, changed.length), 0);
	strbuf_release(&text);
	strbuf_release(&changed);
}

static void make_fifo(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_endless(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
}

static void make_huge(const char *path)
{
	assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
}

static void make_cut(const char *path)
{
	assert_int_equal(truncate(path, 700), 0);
}

static void make_later(const char *path)
{
	change_file(path, "record/1", "record/2");
}

static void make_product(const char *path)
{
	change_file(path, "micro_batch = 32", "micro_batch = 33");
}

static void make_zero(const char *path)
{
	change_file(path, "micro_batch = 32", "micro_batch = 0");
}

static void make_writable(const char *path)
{
	assert_int_equal(chmod(path, 0666), 0);
}

static void make_other(const char *path)
{
	if (geteuid() == 0)
		assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	else
		make_writable(path);
}

static void make_future(const char *path)
{
	change_file(path, "created = 5", "created = 9223372036854775807");
}

static const struct {
	const char *name;
	void (*make)(const char *path);
	const char *message;
} troubles[] = {
	{ "FIFO", make_fifo, "not a regular file" },
	{ "folder", make_folder, "not a regular file" },
	{ "endless", make_endless, "not a regular file" },
	{ "huge", make_huge, ":1: the file is larger" },
	{ "cut", make_cut, ":" },
	{ "later version", make_later, ":3: written by a later autofit" },
	{ "product", make_product, "effective_batch is not" },
	{ "zero", make_zero, "micro_batch cannot be \"0\"" },
	{ "others may write", make_writable, "others may write to it" },
	{ "another's", make_other, NULL },
	{ "future", make_future, "future" },
};

static size_t count_lines(const struct strbuf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->length; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* One line for what was meant for this command, none for the others. */
static void what_cannot_be_used_is_told_once(void **state)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++) {
		char folder[SCRATCH_PATH_MAX];
		char number[32];
		struct strbuf said;
		char *path;

		print_message("%s\n", troubles[i].name);
		(void)snprintf(number, sizeof(number), "%zu", i);
		scratch_path(folder, *state, number);
		write_sample(folder, "who", 5);
		path = path_of_record(folder);
		troubles[i].make(path);
		said = said_of(*state, folder, "who", RECORD_NONE);
		assert_int_equal(count_lines(&said), 1);
		assert_non_null(strstr(said.data, "record passed over: "));
		assert_non_null(strstr(said.data, path));
		if (troubles[i].message &&
		    !strstr(said.data, troubles[i].message))
			fail_msg("%s", said.data);
		strbuf_release(&said);
		said = said_of(*state, folder, "somebody", RECORD_NONE);
		assert_int_equal(said.length, 0);
		strbuf_release(&said);
		free(path);
	}
}

/* --from FILE: the same troubles, each with one line. */
static void a_file_that_cannot_be_used_is_refused(void **state)
{
	static const struct record_match empty = { 0 };

	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++) {
		struct error err = ERROR_INIT;
		char folder[SCRATCH_PATH_MAX];
		char number[32];
		struct record_match match;
		char *path;
		int result;

		print_message("%s\n", troubles[i].name);
		(void)snprintf(number, sizeof(number), "%zu", i);
		scratch_path(folder, *state, number);
		write_sample(folder, "who", 5);
		path = path_of_record(folder);
		troubles[i].make(path);
		result = record_match_file(&match, path, NULL, "who", SUBJECT,
					   &err);
		assert_true(result == -EINVAL || result == -EPERM);
		assert_int_equal(err.code, result);
		assert_non_null(strstr(err.message, path));
		assert_null(strchr(err.message, '\n'));
		assert_memory_equal(&match, &empty, sizeof(match));
		free(path);
	}
}

static void the_clock_of_another_machine_may_differ(void **state)
{
	static const struct {
		const char *name;
		int64_t ahead;
		enum record_grade grade;
	} rows[] = {
		{ "an hour ahead", 3600, RECORD_EXACT },
		{ "nearly a day ahead", 86400 - 600, RECORD_EXACT },
		{ "over a day ahead", 86400 + 600, RECORD_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;
		struct record_match match;
		char *path;
		int result;

		print_message("%s\n", rows[i].name);
		write_sample(*state, "who",
			     (int64_t)time(NULL) + rows[i].ahead);
		search(&match, *state, "who");
		assert_int_equal(match.grade, rows[i].grade);
		record_match_release(&match);
		path = path_of_record(*state);
		result = record_match_file(&match, path, NULL, "who", SUBJECT,
					   &err);
		assert_int_equal(result,
				 rows[i].grade == RECORD_NONE ? -EINVAL : 0);
		if (result < 0)
			assert_non_null(
				strstr(err.message, "in the future (2"));
		record_match_release(&match);
		free(path);
	}
}

static void a_file_is_graded_as_others_are(void **state)
{
	static const struct {
		const char *name;
		struct wanted_record record;
		enum record_grade grade;
		const char *difference;
	} rows[] = {
		{ "exact", { .created = 5, .stamp = SAME }, RECORD_EXACT, "" },
		{ "files",
		  { .created = 5, .stamp = OTHER },
		  RECORD_NEAR,
		  "model.py changed" },
		{ "near",
		  { .created = 5, .length = "512" },
		  RECORD_NEAR,
		  "argument --len 256, was 512" },
		{ "hint",
		  { .created = 5, .world = "2" },
		  RECORD_HINT,
		  "world 1, was 2" },
		{ "subject",
		  { .created = 5, .subject = "eval" },
		  RECORD_HINT,
		  "recorded for another script" },
		{ "subject and more",
		  { .created = 5, .subject = "eval", .world = "2" },
		  RECORD_HINT,
		  "recorded for another script; world 1, was 2" },
	};
	char *identity = identity_of("1", "256");
	char model[SCRATCH_PATH_MAX];

	scratch_path(model, *state, "model.py");
	assert_int_equal(scratch_write(model, "a", 1), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char folder[SCRATCH_PATH_MAX];
		char number[32];
		struct record_match match;
		char *path;

		print_message("%s\n", rows[i].name);
		(void)snprintf(number, sizeof(number), "%zu", i);
		scratch_path(folder, *state, number);
		write_wanted(folder, &rows[i].record, model);
		path = path_of_record(folder);
		assert_int_equal(record_match_file(&match, path, NULL, identity,
						   SUBJECT, NULL),
				 0);
		assert_int_equal(match.grade, rows[i].grade);
		assert_string_equal(match.difference, rows[i].difference);
		assert_string_equal(match.path, path);
		assert_int_equal(match.record.created, 5);
		record_match_release(&match);
		free(path);
	}
	assert_int_equal(record_match_file(&(struct record_match){ 0 },
					   "/missing/a.ini", NULL, identity,
					   SUBJECT, NULL),
			 -ENOENT);
	free(identity);
}

/* The site's folder names who is trusted: its owner, not the records'. */
static void the_sites_owner_is_the_owner_of_the_site(void **state)
{
	static const struct {
		const char *name;
		bool site_is_nobodys, records_are_nobodys, file_is_nobodys;
		bool is_used;
	} rows[] = {
		{ "all of root", false, false, false, true },
		{ "all of the owner", true, true, true, true },
		{ "the owner's, written by root", true, true, false, true },
		{ "the owner's, folder of root", true, false, true, true },
		{ "root's with a file of another", false, false, true, false },
		{ "root's with a folder of another", false, true, false,
		  false },
	};

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char site[SCRATCH_PATH_MAX];
		char records[SCRATCH_PATH_MAX];
		char number[32];
		struct record_folders folders = { NULL, records };
		struct record_match match;
		char *path;

		print_message("%s\n", rows[i].name);
		(void)snprintf(number, sizeof(number), "%zu", i);
		scratch_path(site, *state, number);
		scratch_path(records, site, "records");
		write_sample(records, "who", 5);
		path = path_of_record(records);
		if (rows[i].site_is_nobodys)
			assert_int_equal(chown(site, NOBODY, NOBODY), 0);
		if (rows[i].records_are_nobodys)
			assert_int_equal(chown(records, NOBODY, NOBODY), 0);
		if (rows[i].file_is_nobodys)
			assert_int_equal(chown(path, NOBODY, NOBODY), 0);
		record_search(&match, &folders, "who", SUBJECT);
		assert_int_equal(match.grade,
				 rows[i].is_used ? RECORD_EXACT : RECORD_NONE);
		record_match_release(&match);
		free(path);
	}
}

static void assert_near(const char *folder)
{
	char *identity = identity_of("1", "256");
	struct record_match match;

	search(&match, folder, identity);
	assert_int_equal(match.grade, RECORD_NEAR);
	record_match_release(&match);
	free(identity);
}

static int watch_of(const char *folder, uint32_t events)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, folder, events) >= 0);
	return watch;
}

/* A folder of thousands, or of large files, costs no more than this. */
static void less_than_exact_reads_so_many(void **state)
{
	struct strlist paths = STRLIST_INIT;
	int watch;

	for (int i = 0; i < 230; i++) {
		char length[16];
		char *identity;

		(void)snprintf(length, sizeof(length), "%d", 1000 + i);
		identity = identity_of("1", length);
		write_sample(*state, identity, i);
		free(identity);
	}
	watch = watch_of(*state, IN_OPEN);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(count_events(watch), 0);
	assert_near(*state);
	assert_in_range(count_events(watch), 190, 200);
	(void)close(watch);
	/* The newest of all: one of them is read, then there is no room. */
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(truncate(paths.items[i], 60 << 20), 0);
	watch = watch_of(*state, IN_ACCESS);
	assert_near(*state);
	assert_in_range(count_events(watch), 180, 191);
	(void)close(watch);
	strlist_release(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(the_best_is_found),
		IN_FOLDER(what_cannot_be_used_is_told_once),
		IN_FOLDER(a_file_that_cannot_be_used_is_refused),
		IN_FOLDER(the_clock_of_another_machine_may_differ),
		IN_FOLDER(a_file_is_graded_as_others_are),
		IN_FOLDER(the_sites_owner_is_the_owner_of_the_site),
		IN_FOLDER(less_than_exact_reads_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
