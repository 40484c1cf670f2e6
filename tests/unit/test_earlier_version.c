/* Records and journals that an earlier version wrote are still read. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/escape.h"
#include "configs/records/journal.h"
#include "configs/records/record.h"
#include "tests/unit/scratch.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DATA TEST_SOURCE_DIR "/tests/data/records"
#define FILE_MAX ((size_t)1 << 20)

/* Of the example trainer, by the program of November 2026. */
static void a_record_is_read(void **state)
{
	struct error err = ERROR_INIT;
	struct record record;

	(void)state;
	if (record_read(&record, DATA "/record.ini", &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(record.preset, "generic");
	assert_string_equal(record.device_kind, "host");
	assert_int_equal(record.batch.micro_batch, 16);
	assert_int_equal(record.batch.grad_accum, 1);
	assert_int_equal(record.batch.effective_batch, 16);
	assert_int_equal(record.largest_fit, 47);
	assert_int_equal(record.peak_bytes, 33738752);
	assert_string_equal(record.argv.items[0], "/opt/sample/trainer");
	assert_true(record.probes.count >= 3);
	assert_int_equal(record.probes.items[0].trial.verdict, VERDICT_FITS);
	record_release(&record);
}

/* Lines that the present version writes in addition. */
static void cut_later_lines(struct strbuf *text)
{
	static const char *const later[] = { "\nrest_bytes = 0",
					     "\nforward_bytes = 0",
					     "\npass_bytes = 0",
					     "\nlimit_bytes = 0",
					     "\nstep_growth_bytes = 0",
					     "\nran_to_end = no",
					     "\nsteps_were_awaited = no",
					     "\nsizes_differ = no",
					     "\ndata_in_order = no",
					     "\nis_idle = no",
					     "\nhas_frozen = no",
					     "\npeak_has_files = no",
					     "\nis_forked = no",
					     "\nis_elsewhere = no",
					     "\nround = 0",
					     "\nseen_accum = 0",
					     "\nseen_ranks = 0",
					     "\nstep_mad_seconds = 0.000000000",
					     "\nloader_rows = 0",
					     "\ndata_rows = 0",
					     "\nconfirmed_passes = 0",
					     "\nlater_passes = 0",
					     "\npass_seconds = 0.000000000",
					     "\nalike_after = 0",
					     "\ninput_columns = 0",
					     "\nown_micro_batch = 0",
					     "\nown_grad_accum = 0" };

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		size_t length = strlen(later[i]);
		char *at;

		assert_non_null(strstr(text->data, later[i]));
		while ((at = strstr(text->data, later[i])))
			memmove(at, at + length, strlen(at + length) + 1);
	}
}

/* And written again it says the same. */
static void a_record_comes_back(void **state)
{
	const char *folder = *state;
	char path[SCRATCH_PATH_MAX];
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct record record;

	assert_int_equal(record_read(&record, DATA "/record.ini", NULL), 0);
	assert_int_equal(record_write(&record, folder, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/%s.ini", folder, record.id);
	assert_int_equal(
		textfile_read(DATA "/record.ini", FILE_MAX, &before, NULL), 0);
	assert_int_equal(textfile_read(path, FILE_MAX, &after, NULL), 0);
	cut_later_lines(&after);
	assert_string_equal(strbuf_text(&after), strbuf_text(&before));
	strbuf_release(&before);
	strbuf_release(&after);
	record_release(&record);
}

/* The identity that the journal's first line tells. */
static char *identity_of(const struct strbuf *journal, char **hash)
{
	size_t length = strcspn(strbuf_text(journal), "\n");
	json_t *line = json_loadb(strbuf_text(journal), length, 0, NULL);
	struct strbuf identity = STRBUF_INIT;

	assert_non_null(line);
	*hash = xstrdup(
		json_string_value(json_object_get(line, "identity_hash")));
	assert_int_equal(
		unescape_add(&identity, json_string_value(json_object_get(
						line, "identity"))),
		0);
	json_decref(line);
	return strbuf_detach(&identity);
}

static void a_journal_is_resumed(void **state)
{
	const char *folder = *state;
	struct probe_notes resumed = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char path[SCRATCH_PATH_MAX];
	struct journal journal;
	char *hash, *identity;

	assert_int_equal(
		textfile_read(DATA "/journal.jsonl", FILE_MAX, &text, NULL), 0);
	identity = identity_of(&text, &hash);
	(void)snprintf(path, sizeof(path), "%s/%s.jsonl", folder, hash);
	assert_int_equal(scratch_write(path, strbuf_text(&text), text.length),
			 0);
	if (journal_open(&journal, folder, identity, &resumed, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(resumed.count, 3);
	assert_int_equal(resumed.items[0].trial.micro_batch, 16);
	assert_int_equal(resumed.items[0].trial.verdict, VERDICT_FITS);
	assert_int_equal(resumed.items[2].trial.micro_batch, 219);
	assert_int_equal(resumed.items[2].trial.steps, 20);
	probe_notes_release(&resumed);
	journal_close(&journal);
	strbuf_release(&text);
	free(identity);
	free(hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_read),
		cmocka_unit_test_setup_teardown(a_record_comes_back,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_journal_is_resumed,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
