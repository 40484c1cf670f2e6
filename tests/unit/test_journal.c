/* A journal: what was finished before a kill is not done again. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/journal.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "tests/unit/record_sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define FILE_MAX (1 << 24)

static const char who[] = "python train.py\n\xff\x01 \"who\"";

/* Opens, hands over what was resumed, adds some, closes. */
static struct probe_notes open_and_add(const char *folder, const char *identity,
				       const struct probe_notes *added)
{
	struct probe_notes resumed = { 0 };
	struct error err = ERROR_INIT;
	struct journal journal;

	if (journal_open(&journal, folder, identity, &resumed, &err) < 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; added && i < added->count; i++)
		if (journal_add(&journal, &added->items[i], &err) < 0)
			fail_msg("%s", err.message);
	journal_close(&journal);
	return resumed;
}

static void assert_resumes(const char *folder, const char *identity,
			   const struct probe_notes *expected)
{
	struct probe_notes resumed = open_and_add(folder, identity, NULL);

	assert_int_equal(resumed.count, expected->count);
	assert_true(notes_equal(&resumed, expected));
	probe_notes_release(&resumed);
}

static void assert_resumes_nothing(const char *folder, const char *identity)
{
	static const struct probe_notes nothing = { 0 };

	assert_resumes(folder, identity, &nothing);
}

static struct probe_notes sample_notes(void)
{
	struct probe_notes notes = { 0 };
	struct trial trial = sample_trial(8);

	probe_notes_add(&notes, &trial, "peak 3 GiB \"of\" 8", "/logs/1.log");
	trial = (struct trial){ .micro_batch = 16,
				.grad_accum = 1,
				.verdict = VERDICT_OOM_HOST,
				.rank = 3,
				.step_seconds = 1e-9,
				.seconds = 0.1 };
	probe_notes_add(&notes, &trial, NULL, NULL);
	trial.is_elsewhere = true;
	probe_notes_add(&notes, &trial, "\xff not\nUTF-8 %41", "\xc3\xa9");
	strcpy(notes.items[2].gpu, "GPU-12345678-1234-1234-1234-123456789abc");
	notes.items[2].round = 3;
	return notes;
}

/* The one file in folder. */
static void only_file(char path[SCRATCH_PATH_MAX], const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, SCRATCH_PATH_MAX, "%s/%s", folder,
			       entry->d_name);
		count++;
	}
	(void)closedir(dir);
	assert_int_equal(count, 1);
}

static struct strbuf text_of(const char *path)
{
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(textfile_read(path, FILE_MAX, &text, NULL), 0);
	return text;
}

static void probes_are_resumed(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed = open_and_add(*state, who, &notes);

	assert_int_equal(resumed.count, 0);
	assert_resumes(*state, who, &notes);
	resumed = open_and_add(*state, who, &notes);
	assert_int_equal(resumed.count, notes.count);
	probe_notes_release(&resumed);
	resumed = open_and_add(*state, who, NULL);
	assert_int_equal(resumed.count, 2 * notes.count);
	assert_true(
		trials_equal(&resumed.items[5].trial, &notes.items[2].trial));
	probe_notes_release(&resumed);
	probe_notes_release(&notes);
}

static void random_probes_are_resumed(void **state)
{
	struct probe_notes notes = { 0 };
	uint64_t seed = 5;

	for (size_t i = 0; i < 200; i++) {
		struct trial trial = sample_trial((int64_t)i + 1);
		char *why = scratch_random_text(&seed, i * 7);
		char *log = scratch_random_text(&seed, i);

		trial.seconds = (double)(scratch_random(&seed) % 1000000) / 7;
		probe_notes_add(&notes, &trial, why, log);
		free(why);
		free(log);
	}
	(void)open_and_add(*state, who, &notes);
	assert_resumes(*state, who, &notes);
	probe_notes_release(&notes);
}

static void the_file_is_the_users_own(void **state)
{
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed = { 0 };
	struct journal journal;
	struct stat info;
	mode_t mask = umask(0);

	scratch_path(folder, *state, "state/journals");
	assert_int_equal(journal_open(&journal, folder, who, &resumed, NULL),
			 0);
	(void)umask(mask);
	assert_true(fcntl(journal.fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(journal.fd, F_GETFL) & O_APPEND);
	only_file(path, folder);
	assert_string_equal(path, journal.path);
	assert_int_equal(journal_add(&journal, &notes.items[0], NULL), 0);
	journal_close(&journal);
	journal_close(&journal);
	assert_int_equal(journal.fd, -1);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(chmod(path, 0666), 0);
	resumed = open_and_add(folder, who, NULL);
	assert_int_equal(resumed.count, 1);
	probe_notes_release(&resumed);
	probe_notes_release(&notes);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
}

static void a_finished_tuning_leaves_no_journal(void **state)
{
	struct probe_notes resumed = { 0 };
	struct journal journal;
	struct strbuf path = STRBUF_INIT;

	assert_int_equal(journal_open(&journal, *state, who, &resumed, NULL),
			 0);
	strbuf_adds(&path, journal.path);
	assert_int_equal(access(path.data, F_OK), 0);
	journal_finish(&journal);
	assert_int_equal(access(path.data, F_OK), -1);
	assert_int_equal(journal.fd, -1);
	assert_null(journal.path);
	strbuf_release(&path);
}

static void nothing_to_resume_leaves_no_journal(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed = open_and_add(*state, who, NULL);

	assert_int_equal(rmdir(*state), 0);
	resumed = open_and_add(*state, who, &notes);
	assert_int_equal(rmdir(*state), -1);
	probe_notes_release(&resumed);
	probe_notes_release(&notes);
}

/* One of another command, left this many days ago. */
static void what_is_too_old_is_removed(void **state)
{
	static const struct {
		const char *name;
		int days;
		bool stays;
	} rows[] = { { "young", JOURNAL_DAYS - 1, true },
		     { "old", JOURNAL_DAYS + 1, false } };
	struct probe_notes notes = sample_notes();

	for (size_t i = 0; i < 2; i++) {
		struct probe_notes resumed = open_and_add(*state, who, &notes);
		struct timespec times[2] = { { 0 } };
		char path[SCRATCH_PATH_MAX];

		print_message("%s\n", rows[i].name);
		only_file(path, *state);
		times[0].tv_sec = time(NULL) - (time_t)rows[i].days * 86400;
		times[1] = times[0];
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		resumed = open_and_add(*state, "another", NULL);
		assert_int_equal(access(path, F_OK) == 0, rows[i].stays);
		(void)unlink(path);
		probe_notes_release(&resumed);
	}
	probe_notes_release(&notes);
}

static size_t count_lines(const char *text, size_t length)
{
	size_t lines = 0;

	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	return lines;
}

static void a_cut_journal_goes_on_after_its_last_whole_line(void **state)
{
	struct probe_notes notes = sample_notes();
	char path[SCRATCH_PATH_MAX];
	struct strbuf whole;

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	whole = text_of(path);
	assert_int_equal(count_lines(whole.data, whole.length), 4);
	for (size_t length = 0; length <= whole.length; length++) {
		size_t lines = count_lines(whole.data, length);
		struct probe_notes first = notes;
		struct probe_notes again;
		struct probe_notes resumed;

		first.count = lines ? lines - 1 : 0;
		assert_int_equal(scratch_write(path, whole.data, length), 0);
		resumed = open_and_add(*state, who, &notes);
		assert_true(notes_equal(&resumed, &first));
		again = open_and_add(*state, who, NULL);
		assert_int_equal(again.count, first.count + notes.count);
		probe_notes_release(&resumed);
		probe_notes_release(&again);
	}
	strbuf_release(&whole);
	probe_notes_release(&notes);
}

static void a_changed_byte_is_survived(void **state)
{
	static const char bytes[] = { 0,   '\n', ' ', '"', '\\',  '{',
				      '9', '-',  ',', '}', '\xff' };
	struct probe_notes notes = sample_notes();
	char path[SCRATCH_PATH_MAX];
	struct strbuf text;
	size_t lost = 0;

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	text = text_of(path);
	for (size_t at = 0; at < text.length; at++) {
		char old = text.data[at];
		struct probe_notes resumed;

		text.data[at] = bytes[at % sizeof(bytes)];
		assert_int_equal(scratch_write(path, text.data, text.length),
				 0);
		resumed = open_and_add(*state, who, NULL);
		assert_true(resumed.count <= notes.count);
		lost += resumed.count < notes.count;
		probe_notes_release(&resumed);
		text.data[at] = old;
	}
	assert_true(lost > text.length / 2);
	strbuf_release(&text);
	probe_notes_release(&notes);
}

static const struct {
	const char *name, *from, *to;
} wrongs[] = {
	{ "schema", "journal/1", "journal/2" },
	{ "no schema", "\"schema\"", "\"schemas\"" },
	{ "identity", "python%20", "python3%20" },
	{ "identity no text", "\"identity\":\"", "\"identity\":1,\"x\":\"" },
	{ "broken escape", "%20train", "%2xtrain" },
	{ "no object", "{\"schema\"", "[\"schema\"" },
	{ "empty line", "{\"schema\"", "\n{\"schema\"" },
	{ "no JSON", "\"micro_batch\":8", "micro_batch:8" },
	{ "missing", "\"micro_batch\":8,", "" },
	{ "twice", "\"micro_batch\":8", "\"micro_batch\":8,\"micro_batch\":8" },
	{ "number as text", "\"micro_batch\":8", "\"micro_batch\":\"8\"" },
	{ "real", "\"micro_batch\":8", "\"micro_batch\":8.0" },
	{ "negative", "\"micro_batch\":8", "\"micro_batch\":-8" },
	{ "no micro-batch", "\"micro_batch\":8", "\"micro_batch\":0" },
	{ "no accumulation", "\"grad_accum\":", "\"grad_accum\":0,\"x\":" },
	{ "huge", "\"micro_batch\":8", "\"micro_batch\":99999999999999999999" },
	{ "null", "\"micro_batch\":8", "\"micro_batch\":null" },
	{ "rank", "\"rank\":3", "\"rank\":4294967296" },
	{ "bytes", "\"peak_bytes\":76543210987", "\"peak_bytes\":-1" },
	{ "verdict", "fits_barely", "fits_well" },
	{ "verdict as number", "\"fits_barely\"", "2" },
	{ "phase", "\"phase\":\"save\"", "\"phase\":\"\"" },
	{ "bool", "\"peak_rising\":false", "\"peak_rising\":0" },
	{ "seconds", "\"seconds\":12.5", "\"seconds\":-12.5" },
	{ "endless seconds", "\"seconds\":12.5", "\"seconds\":1e308" },
	{ "why", "\"why\":null", "\"why\":[]" },
	{ "no why", "\"why\":null,", "" },
	{ "rows as text", "\"input_rows\":32", "\"input_rows\":\"32\"" },
	{ "rows null", "\"input_rows\":32", "\"input_rows\":null" },
	{ "rows below 0", "\"input_rows\":32", "\"input_rows\":-1" },
	{ "escaped why", "\"why_escaped\":\"%FF", "\"why_escaped\":\"%00" },
	{ "NUL", "/logs/1", "\\u0000" },
	{ "array", "{\"micro_batch\":8", "[],{\"micro_batch\":8" },
};

static void what_is_wrong_starts_afresh(void **state)
{
	struct probe_notes notes = sample_notes();
	char path[SCRATCH_PATH_MAX];
	struct strbuf sound;

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	sound = text_of(path);
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		struct strbuf text = STRBUF_INIT;
		const char *at = strstr(sound.data, wrongs[i].from);

		print_message("%s\n", wrongs[i].name);
		assert_non_null(at);
		strbuf_add(&text, sound.data, (size_t)(at - sound.data));
		strbuf_adds(&text, wrongs[i].to);
		strbuf_adds(&text, at + strlen(wrongs[i].from));
		assert_int_equal(scratch_write(path, text.data, text.length),
				 0);
		assert_resumes_nothing(*state, who);
		strbuf_release(&text);
		(void)open_and_add(*state, who, &notes);
		assert_resumes(*state, who, &notes);
	}
	strbuf_release(&sound);
	probe_notes_release(&notes);
}

static void keys_of_a_later_version_are_passed_over(void **state)
{
	struct probe_notes notes = sample_notes();
	struct strbuf text;
	struct strbuf later = STRBUF_INIT;
	char path[SCRATCH_PATH_MAX];

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	text = text_of(path);
	for (size_t i = 0; i < text.length; i++) {
		strbuf_addch(&later, text.data[i]);
		if (text.data[i] == '{')
			strbuf_adds(&later, "\"colour\":[1,{}],");
	}
	assert_int_equal(scratch_write(path, later.data, later.length), 0);
	assert_resumes(*state, who, &notes);
	strbuf_release(&later);
	strbuf_release(&text);
	probe_notes_release(&notes);
}

/* Cuts each "key":number, out of the text. */
static void cut_numbers(struct strbuf *text, const char *key)
{
	size_t cut = 0;
	char *at;

	while ((at = strstr(text->data, key))) {
		char *end = strchr(at, ',') + 1;
		size_t left = strlen(end);

		memmove(at, end, left + 1);
		text->length = (size_t)(at - text->data) + left;
		cut++;
	}
	assert_int_equal(cut, 3);
}

static void what_an_older_version_did_not_write_is_none(void **state)
{
	static const char *const keys[] = {
		"\"limit_bytes\":",  "\"step_growth_bytes\":",
		"\"input_rows\":",   "\"seen_accum\":",
		"\"seen_ranks\":",   "\"loader_rows\":",
		"\"data_rows\":",    "\"echo_micro\":",
		"\"echo_accum\":",   "\"echo_effective\":",
		"\"is_elsewhere\":", "\"gpu\":",
		"\"round\":"
	};
	struct probe_notes notes = sample_notes();
	char path[SCRATCH_PATH_MAX];
	struct strbuf text;

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	text = text_of(path);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		cut_numbers(&text, keys[i]);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	for (size_t i = 0; i < notes.count; i++) {
		struct trial *trial = &notes.items[i].trial;

		trial->limit_bytes = 0;
		trial->step_growth_bytes = 0;
		trial->input_rows = 0;
		trial->seen_accum = 0;
		trial->seen_ranks = 0;
		trial->loader_rows = 0;
		trial->data_rows = 0;
		trial->printed_sizes_micro = 0;
		trial->printed_sizes_accum = 0;
		trial->printed_sizes_effective = 0;
		trial->is_elsewhere = false;
		notes.items[i].gpu[0] = '\0';
		notes.items[i].round = 0;
	}
	assert_resumes(*state, who, &notes);
	strbuf_release(&text);
	probe_notes_release(&notes);
}

static void another_identity_is_not_resumed(void **state)
{
	struct probe_notes notes = sample_notes();
	char mine[SCRATCH_PATH_MAX];
	char theirs[SCRATCH_PATH_MAX];
	struct probe_notes resumed = { 0 };
	struct journal journal;

	(void)open_and_add(*state, who, &notes);
	only_file(mine, *state);
	assert_resumes_nothing(*state, "somebody else");
	assert_resumes(*state, who, &notes);
	/* As after a collision of the hashes. */
	assert_int_equal(
		journal_open(&journal, *state, "somebody else", &resumed, NULL),
		0);
	(void)snprintf(theirs, sizeof(theirs), "%s", journal.path);
	journal_close(&journal);
	assert_int_equal(rename(mine, theirs), 0);
	assert_resumes_nothing(*state, "somebody else");
	(void)open_and_add(*state, "somebody else", &notes);
	assert_resumes(*state, "somebody else", &notes);
	assert_resumes_nothing(*state, who);
	probe_notes_release(&notes);
}

static void lines_are_bounded(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed;
	struct strbuf text;
	char path[SCRATCH_PATH_MAX];
	char *blanks = xmalloc(300000);

	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	text = text_of(path);
	text.length--;
	memset(blanks, ' ', 300000);
	strbuf_add(&text, blanks, 300000);
	strbuf_addch(&text, '\n');
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_resumes_nothing(*state, who);
	/* Words that would make such a line are cut when they are written. */
	memset(blanks, '\x01', 299999);
	blanks[299999] = '\0';
	sample_set(&notes.items[0].why, xstrdup(blanks));
	sample_set(&notes.items[0].log, blanks);
	(void)open_and_add(*state, who, &notes);
	resumed = open_and_add(*state, who, NULL);
	assert_int_equal(resumed.count, notes.count);
	assert_in_range(strlen(resumed.items[0].why), 10000, 100000);
	probe_notes_release(&resumed);
	probe_notes_release(&notes);
	strbuf_release(&text);
}

static void a_long_identity_is_resumed(void **state)
{
	struct probe_notes notes = sample_notes();
	uint64_t seed = 9;
	char *identity = scratch_random_text(&seed, 1000000);

	(void)open_and_add(*state, identity, &notes);
	assert_resumes(*state, identity, &notes);
	free(identity);
	probe_notes_release(&notes);
}

static void more_probes_than_any_tuning_has_start_afresh(void **state)
{
	struct probe_notes notes = { 0 };
	struct trial trial = sample_trial(1);
	struct strbuf text;
	char path[SCRATCH_PATH_MAX];
	size_t line_at;
	size_t line_length;

	probe_notes_add(&notes, &trial, NULL, NULL);
	(void)open_and_add(*state, who, &notes);
	only_file(path, *state);
	text = text_of(path);
	line_at = (size_t)(strchr(text.data, '\n') + 1 - text.data);
	line_length = text.length - line_at;
	for (size_t i = 1; i < 1001; i++) {
		char *line = xstrndup(text.data + line_at, line_length);

		strbuf_add(&text, line, line_length);
		free(line);
	}
	assert_int_equal(
		scratch_write(path, text.data, text.length - line_length), 0);
	for (size_t i = 1; i < 1000; i++)
		probe_notes_add(&notes, &trial, NULL, NULL);
	assert_resumes(*state, who, &notes);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_resumes_nothing(*state, who);
	strbuf_release(&text);
	probe_notes_release(&notes);
}

static void what_is_no_file_is_put_out_of_the_way(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed;
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];
	char target[SCRATCH_PATH_MAX];
	struct strbuf text;
	struct stat info;

	scratch_path(folder, *state, "journals");
	scratch_path(target, *state, "precious");
	assert_int_equal(scratch_write(target, "precious", 8), 0);
	(void)open_and_add(folder, who, &notes);
	only_file(path, folder);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(turn == 0 ? symlink(target, path)
					   : mkfifo(path, 0600),
				 0);
		resumed = open_and_add(folder, who, &notes);
		assert_int_equal(resumed.count, 0);
		assert_int_equal(lstat(path, &info), 0);
		assert_true(S_ISREG(info.st_mode));
	}
	text = text_of(target);
	assert_string_equal(text.data, "precious");
	strbuf_release(&text);
	probe_notes_release(&notes);
}

static void what_cannot_be_opened_is_an_error(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed = { 0 };
	struct error err = ERROR_INIT;
	char path[SCRATCH_PATH_MAX];
	struct journal journal;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "", 0), 0);
	assert_int_equal(journal_open(&journal, path, who, &resumed, &err),
			 -ENOTDIR);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(journal.fd, -1);
	assert_null(journal.path);
	assert_int_equal(unlink(path), 0);
	(void)open_and_add(*state, who, &notes);
	probe_notes_release(&notes);
	only_file(path, *state);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(journal_open(&journal, *state, who, &resumed, &err) < 0);
	assert_non_null(strstr(err.message, path));
}

/* Exits 0 when the disk was full for the second probe only. */
static void add_beyond_the_limit(const char *folder, struct probe_notes *notes)
{
	struct probe_notes resumed = { 0 };
	struct journal journal;
	struct rlimit limit;
	struct stat info;

	if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    journal_open(&journal, folder, who, &resumed, NULL) < 0 ||
	    journal_add(&journal, &notes->items[0], NULL) < 0 ||
	    fstat(journal.fd, &info) < 0)
		_exit(2);
	limit.rlim_cur = limit.rlim_max = (rlim_t)info.st_size + 20;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		_exit(2);
	_exit(journal_add(&journal, &notes->items[1], NULL) < 0 ? 0 : 1);
}

static void a_full_disk_leaves_whole_lines(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes first = notes;
	char path[SCRATCH_PATH_MAX];
	struct strbuf text;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		add_beyond_the_limit(*state, &notes);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	only_file(path, *state);
	text = text_of(path);
	assert_int_equal(text.data[text.length - 1], '\n');
	strbuf_release(&text);
	first.count = 1;
	assert_resumes(*state, who, &first);
	probe_notes_release(&notes);
}

static void trials_are_copied_out(void **state)
{
	struct probe_notes notes = sample_notes();
	struct trial *trials = probe_notes_trials(&notes);

	(void)state;
	for (size_t i = 0; i < notes.count; i++)
		assert_true(trials_equal(&trials[i], &notes.items[i].trial));
	free(trials);
	probe_notes_release(&notes);
	trials = probe_notes_trials(&notes);
	assert_non_null(trials);
	free(trials);
}

static void a_journal_is_forgotten(void **state)
{
	struct probe_notes notes = sample_notes();
	struct probe_notes resumed = open_and_add(*state, who, &notes);
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;

	probe_notes_release(&resumed);
	assert_int_equal(journal_forget(*state, "another", &err), 0);
	assert_resumes(*state, who, &notes);
	only_file(path, *state);
	assert_int_equal(journal_forget(*state, who, &err), 1);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(journal_forget(*state, who, &err), 0);
	/* What is no file of ours is not removed with all that is in it. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(journal_forget(*state, who, &err) < 0);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(rmdir(path), 0);
	scratch_path(path, *state, "missing");
	assert_int_equal(journal_forget(path, who, &err), 0);
	probe_notes_release(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trials_are_copied_out),
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(probes_are_resumed),
		IN_FOLDER(random_probes_are_resumed),
		IN_FOLDER(the_file_is_the_users_own),
		IN_FOLDER(a_finished_tuning_leaves_no_journal),
		IN_FOLDER(nothing_to_resume_leaves_no_journal),
		IN_FOLDER(what_is_too_old_is_removed),
		IN_FOLDER(a_cut_journal_goes_on_after_its_last_whole_line),
		IN_FOLDER(a_changed_byte_is_survived),
		IN_FOLDER(what_is_wrong_starts_afresh),
		IN_FOLDER(keys_of_a_later_version_are_passed_over),
		IN_FOLDER(what_an_older_version_did_not_write_is_none),
		IN_FOLDER(another_identity_is_not_resumed),
		IN_FOLDER(lines_are_bounded),
		IN_FOLDER(a_long_identity_is_resumed),
		IN_FOLDER(more_probes_than_any_tuning_has_start_afresh),
		IN_FOLDER(what_is_no_file_is_put_out_of_the_way),
		IN_FOLDER(what_cannot_be_opened_is_an_error),
		IN_FOLDER(a_full_disk_leaves_whole_lines),
		IN_FOLDER(a_journal_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
