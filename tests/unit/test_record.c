/* A record's file: every byte comes back, nothing hostile gets in. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record.h"

#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/ini.h"
#include "tests/unit/record_sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#define FILE_MAX (1 << 24)
#define PIECE_50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define PIECES PIECE_50 PIECE_50 PIECE_50 "\n\t"

static void file_of(char path[SCRATCH_PATH_MAX], const char *folder,
		    const struct record *record)
{
	(void)snprintf(path, SCRATCH_PATH_MAX, "%s/%s.ini", folder, record->id);
}

static void assert_round_trip(struct record *record, const char *folder)
{
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;
	struct record back;

	record_set_id(record, "train.py", "NVIDIA H200");
	if (record_write(record, folder, &err) < 0)
		fail_msg("%s", err.message);
	file_of(path, folder, record);
	if (record_read(&back, path, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(back.id, record->id);
	assert_true(records_equal(record, &back));
	record_release(&back);
}

static void any_argument_comes_back(void **state)
{
	static const struct {
		const char *name, *argument;
	} rows[] = {
		{ "empty", "" },
		{ "blanks", "  a b  " },
		{ "quotes", "\"it's\" `x` \\" },
		{ "inline comment", "a ; b ;c" },
		{ "comments", ";a" },
		{ "hash", "#a" },
		{ "percent", "%41%%" },
		{ "equals", "=a=b=" },
		{ "colon", ":12:a" },
		{ "section", "[probe.1]" },
		{ "key", "identity = 1:x" },
		{ "newlines", "\na\r\n\n" },
		{ "tabs", "\ta\t" },
		{ "unicode", "na\xc3\xafve \xe2\x82\xac" },
		{ "not unicode", "\xff\xfe\x80" },
		{ "byte order mark", "\xef\xbb\xbfx" },
		{ "control", "\x01\x02\x1b[31m\x7f" },
		{ "no-break space", "\xc2\xa0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct record record = sample_record("who");

		print_message("%s\n", rows[i].name);
		strlist_insert(&record.argv, 0, rows[i].argument);
		strlist_add(&record.argv, rows[i].argument);
		strlist_add(&record.caveats, rows[i].argument);
		strlist_add(&record.stamps, rows[i].argument);
		sample_set(&record.isolation, xstrdup(rows[i].argument));
		sample_set(&record.identity, xstrdup(rows[i].argument));
		sample_set(&record.subject, xstrdup(rows[i].argument));
		assert_round_trip(&record, *state);
		record_release(&record);
	}
}

static void arguments_of_any_length_come_back(void **state)
{
	static const size_t lengths[] = { 1,   159, 160, 161,  319,   320,
					  321, 479, 480, 4096, 100000 };
	static const char fills[] = { 'x', ' ', '%', '\xff' };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		for (size_t j = 0; j < sizeof(fills); j++) {
			struct record record = sample_record("who");
			char *text = xmalloc(lengths[i] + 1);

			memset(text, fills[j], lengths[i]);
			text[lengths[i]] = '\0';
			strlist_replace(&record.argv, 1, text);
			sample_set(&record.identity, text);
			assert_round_trip(&record, *state);
			record_release(&record);
		}
	}
}

static void random_records_come_back(void **state)
{
	uint64_t seed = 42;

	for (int i = 0; i < 150; i++) {
		struct record record = noisy_record(&seed);

		assert_round_trip(&record, *state);
		record_release(&record);
	}
}

static void optional_members_may_be_missing(void **state)
{
	struct record record = sample_record("who");

	sample_set(&record.preset, NULL);
	sample_set(&record.misfit_by, NULL);
	sample_set(&record.autofit_version, NULL);
	sample_set(&record.isolation, NULL);
	sample_set(&record.device_kind, xstrdup("host"));
	record.lowered_from = 0;
	strlist_release(&record.stamps);
	strlist_release(&record.not_exercised);
	strlist_release(&record.caveats);
	probe_notes_release(&record.probes);
	record.device_count = 0;
	assert_round_trip(&record, *state);
	record_release(&record);
}

static void all_devices_and_probes_have_room(void **state)
{
	struct record record = sample_record("who");
	struct trial trial = sample_trial(1);

	record.device_count = RECORD_DEVICES_MAX;
	for (size_t i = 1; i < RECORD_DEVICES_MAX; i++)
		record.devices[i] = record.devices[0];
	memset(record.devices[63].uuid, 'u', sizeof(record.devices[63].uuid));
	record.devices[63].uuid[79] = '\0';
	while (record.probes.count < 1000)
		probe_notes_add(&record.probes, &trial, "", "");
	assert_round_trip(&record, *state);
	probe_notes_add(&record.probes, &trial, "", "");
	assert_int_equal(record_write(&record, *state, NULL), -EINVAL);
	record_release(&record);
}

static void the_file_is_plain(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char folder[SCRATCH_PATH_MAX];
	struct strbuf text = STRBUF_INIT;
	uint64_t seed = 3;
	struct record record = noisy_record(&seed);
	struct stat info;
	size_t length = 0;

	scratch_path(folder, *state, "state/records");
	assert_int_equal(record_write(&record, folder, NULL), 0);
	file_of(path, folder, &record);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(textfile_read(path, FILE_MAX, &text, NULL), 0);
	for (size_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		length = c == '\n' ? 0 : length + 1;
		assert_true(length <= INI_LINE_MAX);
		assert_true((c >= ' ' && c <= '~') || c == '\n' || c == '\t');
	}
	assert_int_equal(length, 0);
	strbuf_release(&text);
	record_release(&record);
}

/* The text of a sound record's file. */
static struct strbuf sound_text(const char *folder)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf text = STRBUF_INIT;
	struct record record = sample_record("a long identity\nof two lines");

	assert_int_equal(record_write(&record, folder, NULL), 0);
	file_of(path, folder, &record);
	assert_int_equal(textfile_read(path, FILE_MAX, &text, NULL), 0);
	record_release(&record);
	return text;
}

static void a_cut_file_is_an_error(void **state)
{
	static const struct record empty = RECORD_INIT;
	struct record original = sample_record("a long identity\nof two lines");
	struct strbuf text = sound_text(*state);
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "cut.ini");
	for (size_t length = 0; length <= text.length; length++) {
		/* Without the last end of line, or with it, all is there. */
		bool whole = length + 1 >= text.length;
		struct error err = ERROR_INIT;
		struct record record;

		assert_int_equal(scratch_write(path, text.data, length), 0);
		assert_int_equal(record_read(&record, path, &err),
				 whole ? 0 : -EINVAL);
		if (whole)
			assert_true(records_equal(&record, &original));
		assert_int_equal(err.code, whole ? 0 : -EINVAL);
		if (!whole) {
			assert_memory_equal(&record, &empty, sizeof(record));
			assert_int_equal(
				strncmp(err.message, path, strlen(path)), 0);
			assert_int_equal(err.message[strlen(path)], ':');
		}
		record_release(&record);
	}
	record_release(&original);
	strbuf_release(&text);
}

static void a_changed_byte_is_survived(void **state)
{
	static const char bytes[] = { 0,   '\n', ' ', '%', ';',    '=',
				      '9', '-',  '[', '"', '\xff', '\t' };
	struct strbuf text = sound_text(*state);
	char path[SCRATCH_PATH_MAX];
	size_t refused = 0;

	scratch_path(path, *state, "changed.ini");
	for (size_t at = 0; at < text.length; at++) {
		char old = text.data[at];
		struct record record;
		int result;

		text.data[at] = bytes[at % sizeof(bytes)];
		assert_int_equal(scratch_write(path, text.data, text.length),
				 0);
		result = record_read(&record, path, NULL);
		assert_true(result == 0 || result == -EINVAL);
		refused += result < 0;
		record_release(&record);
		text.data[at] = old;
	}
	assert_true(refused > text.length / 4);
	strbuf_release(&text);
}

/* The text with the first place of from changed to to. */
static struct strbuf replaced(const struct strbuf *text, const char *from,
			      const char *to)
{
	const char *at = strstr(text->data, from);
	struct strbuf changed = STRBUF_INIT;

	assert_non_null(at);
	strbuf_add(&changed, text->data, (size_t)(at - text->data));
	strbuf_adds(&changed, to);
	strbuf_adds(&changed, at + strlen(from));
	return changed;
}

static unsigned line_of(const struct strbuf *text, const char *part)
{
	const char *end = strstr(text->data, part);
	unsigned line = 1;

	assert_non_null(end);
	for (const char *at = text->data; at < end; at++)
		line += *at == '\n';
	return line;
}

struct damage {
	const char *name, *from, *to;
	const char *line_with; /* the line it is told of; NULL: any */
	const char *message;
};

static void assert_damage(const struct strbuf *sound, const char *path,
			  const struct damage *damage)
{
	struct strbuf text = replaced(sound, damage->from, damage->to);
	struct error err = ERROR_INIT;
	char place[SCRATCH_PATH_MAX + 16];
	struct record record;

	print_message("%s\n", damage->name);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	if (!strstr(err.message, damage->message))
		fail_msg("%s", err.message);
	if (damage->line_with) {
		(void)snprintf(place, sizeof(place), "%s:%u: ", path,
			       line_of(&text, damage->line_with));
		if (strncmp(err.message, place, strlen(place)) != 0)
			fail_msg("%s is not in %s", place, err.message);
	}
	strbuf_release(&text);
}

static const struct damage damages[] = {
	{ "no schema", "schema = autofit.record/1\n", "", "complete = yes",
	  "schema" },
	{ "later schema", "record/1", "record/2", "schema",
	  "written by a later autofit (schema autofit.record/2" },
	{ "much later schema", "record/1", "record/4711", "schema",
	  "written by a later autofit" },
	{ "schema of nobody", "record/1", "record/0", "schema",
	  "schema is not autofit.record/1" },
	{ "schema of something else", "autofit.record/1", "record/2", "schema",
	  "schema is not autofit.record/1" },
	{ "schema with more", "record/1", "record/1.5", "schema",
	  "schema is not autofit.record/1" },
	{ "lowered from", "lowered_from = 64", "lowered_from = -1", "= -1",
	  "lowered_from" },
	{ "micro of NaN", "micro_batch = 32", "micro_batch = nan", "= nan",
	  "micro_batch" },
	{ "no record", "[record]", "[other]", "complete = yes", "schema" },
	{ "no number", "micro_batch = 32", "micro_batch = many", "= many",
	  "micro_batch" },
	{ "empty number", "micro_batch = 32", "micro_batch =", "micro_batch",
	  "micro_batch" },
	{ "zero", "grad_accum = 2", "grad_accum = 0", "= 0\n", "grad_accum" },
	{ "negative", "world_size = 2", "world_size = -2", "= -2",
	  "world_size" },
	{ "fraction", "largest_fit = 44", "largest_fit = 44.5", "44.5",
	  "largest_fit" },
	{ "hex", "largest_fit = 44", "largest_fit = 0x44", "0x44",
	  "largest_fit" },
	{ "huge", "largest_fit = 44", "largest_fit = 9223372036854775808",
	  "9223372036854775808", "largest_fit" },
	{ "endless", "largest_fit = 44",
	  "largest_fit = 99999999999999999999999999999999999999", "9999999",
	  "largest_fit" },
	{ "bytes too large", "limit_bytes = 18446744073709551615",
	  "limit_bytes = 18446744073709551616", "551616", "limit_bytes" },
	{ "negative bytes", "headroom_bytes = 300", "headroom_bytes = -1",
	  "= -1\n", "headroom_bytes" },
	{ "rank", "rank = -1", "rank = -2", "= -2", "rank" },
	{ "rank too large", "rank = -1", "rank = 2147483648", "2147483648",
	  "rank" },
	{ "rank wraps around", "rank = -1", "rank = 18446744073709551615",
	  "rank = 184", "rank" },
	{ "coverage", "coverage = exact", "coverage = total", "= total",
	  "coverage" },
	{ "steps source", "steps_source = hook", "steps_source = guess",
	  "= guess", "steps_source" },
	{ "verdict", "verdict = fits_barely", "verdict = maybe", "= maybe",
	  "verdict" },
	{ "phase", "phase = save", "phase = later", "= later", "phase" },
	{ "bool", "peak_rising = no", "peak_rising = 0", "peak_rising = 0",
	  "peak_rising" },
	{ "seconds", "seconds = 12.500000000", "seconds = nan", "= nan",
	  "seconds" },
	{ "exponent", "seconds = 12.500000000", "seconds = 1e300", "= 1e300",
	  "seconds" },
	{ "long time", "seconds = 12.500000000",
	  "seconds = 12000000000.000000000", "= 12000000000", "seconds" },
	{ "digits", "seconds = 12.500000000", "seconds = 12.5", "= 12.5\n",
	  "seconds" },
	{ "missing", "micro_batch = 32\n", "", "uuid", "micro_batch" },
	{ "no argv",
	  "argv = 6:python\nargv = 8:train.py\n"
	  "argv = 17:--name=my%20run%3B%20%231\n",
	  "", "uuid", "[record] has no argv" },
	{ "no identity", "identity", "identify", "uuid", "identity" },
	{ "no uuid", "uuid", "UUID", NULL, "[device.1] has no uuid" },
	{ "no verdict", "verdict = fits_barely\n", "", NULL,
	  "[probe.1] has no verdict" },
	{ "twice", "grad_accum = 2", "grad_accum = 2\ngrad_accum = 2\nx = y",
	  "grad_accum = 2\nx", "grad_accum is given twice" },
	{ "text twice", "preset = 2:hf", "preset = 2:hf\npreset = 2:ab\nx = y",
	  "preset = 2:ab", "preset is given twice" },
	{ "no length", "preset = 2:hf", "preset = hf", "preset",
	  "preset does not begin with its length" },
	{ "only a length", "preset = 2:hf", "preset = 2", "preset",
	  "preset does not begin with its length" },
	{ "negative length", "preset = 2:hf", "preset = -2:hf", "preset",
	  "preset does not begin with its length" },
	{ "huge length", "preset = 2:hf", "preset = 18446744073709551617:hf",
	  "preset", "preset does not begin with its length" },
	{ "too long", "preset = 2:hf", "preset = 1:hf", "preset",
	  "preset is longer than its 1 bytes" },
	{ "too short", "preset = 2:hf", "preset = 3:hf", "device_kind",
	  "preset has 2 of 3 bytes" },
	{ "more than it said", "preset = 2:hf", "preset = 2:hf\n\tx", "\tx",
	  "preset is given twice" },
	{ "argument longer", "argv = 6:python", "argv = 5:python", "argv = 5",
	  "argv is longer" },
	{ "argument shorter", "argv = 6:python", "argv = 7:python",
	  "argv = 8:train.py", "argv is longer" },
	{ "escape", "preset = 2:hf", "preset = 2:h%4", "preset",
	  "preset has a broken escape" },
	{ "NUL", "preset = 2:hf", "preset = 2:h%00", "preset",
	  "preset has a broken escape" },
	{ "id is a path", "id = 22:train-NVIDIA", "id = 22:..%2F..-NVIDIA",
	  NULL, "id" },
	{ "id is hidden", "id = 22:t", "id = 22:.", NULL, "id" },
	{ "device kind", "device_kind = 4:cuda", "device_kind = 3:tpu", NULL,
	  "device_kind" },
	{ "misfit by", "misfit_by = 10:prediction", "misfit_by = 4:%1B%5B1m",
	  NULL, "misfit_by" },
	{ "product", "micro_batch = 32", "micro_batch = 33", NULL,
	  "effective_batch" },
	{ "overflow", "micro_batch = 32", "micro_batch = 4611686018427387904",
	  NULL, "effective_batch" },
	{ "device order", "[device.1]", "[device.2]", "uuid", "[device.2]" },
	{ "probe order", "[probe.2]", "[probe.3]", NULL, "[probe.3]" },
	{ "probe twice", "[probe.2]", "[probe.1]", NULL,
	  "micro_batch is given twice" },
	{ "record twice", "[end]", "[record]", "complete = yes", "[record]" },
	{ "not complete", "complete = yes", "complete = no", NULL,
	  "cut short" },
	{ "long uuid", "uuid = 8:GPU-1b2c",
	  "uuid = 80:12345678901234567890123456789012345678901234567890"
	  "123456789012345678901234567890",
	  "uuid", "uuid is longer than 79 bytes" },
};

static void damage_is_named(void **state)
{
	struct strbuf sound = sound_text(*state);
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "damaged.ini");
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		assert_damage(&sound, path, &damages[i]);
	strbuf_release(&sound);
}

static void what_a_later_version_adds_is_passed_over(void **state)
{
	static const struct {
		const char *name, *from, *to;
	} rows[] = {
		{ "key", "micro_batch = 32", "colour = red\nmicro_batch = 32" },
		{ "key of lines", "micro_batch = 32",
		  "colour = 300:red\n\tgreen\n\tblue\nmicro_batch = 32" },
		{ "key in a probe", "verdict = ", "hue = 1\nverdict = " },
		{ "key in the device", "uuid = ", "hue = 1\nuuid = " },
		{ "section", "[end]", "[moon]\nmicro_batch = full\n[end]" },
		{ "section at the end", "complete = yes",
		  "complete = yes\n[device.x]\nuuid = 1" },
		{ "section first", "[record]", "a = b\n[record]" },
		{ "comments", "[device.1]", "; one\n# two\n\n[device.1]" },
	};
	struct strbuf sound = sound_text(*state);
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "later.ini");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf text = replaced(&sound, rows[i].from, rows[i].to);
		struct error err = ERROR_INIT;
		struct record record;

		print_message("%s\n", rows[i].name);
		assert_int_equal(scratch_write(path, text.data, text.length),
				 0);
		if (record_read(&record, path, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(record.batch.micro_batch, 32);
		assert_int_equal(record.probes.count, 2);
		record_release(&record);
		strbuf_release(&text);
	}
	strbuf_release(&sound);
}

/* Lines that autofit 0.1.0 did not write. */
static const char *const later_lines[] = {
	"isolation = 7:overlay\n",
	"lowered_from = 64\n",
	"stamps = 30:0123456789abcdef%20/src/model.py\n",
	"emulated_as = 16:NVIDIA%20L4%3B%2024%20GB\n",
	/* Of both probes. */
	"input_rows = 32\n",
	"input_rows = 32\n",
	"limit_bytes = 76000000000\n",
	"limit_bytes = 76000000000\n",
	"step_growth_bytes = 524288\n",
	"step_growth_bytes = 524288\n",
	"ran_to_end = yes\n",
	"ran_to_end = yes\n",
	"is_elsewhere = no\n",
	"is_elsewhere = yes\n",
	"gpu = 5:GPU-b\n",
	"round = 0\n",
	"round = 4\n",
	"seen_accum = 3\n",
	"seen_accum = 3\n",
	"seen_ranks = 5\n",
	"seen_ranks = 5\n",
	"loader_rows = 96\n",
	"loader_rows = 96\n",
	"data_rows = 4000\n",
	"data_rows = 4000\n",
	"echo_micro = 16\n",
	"echo_micro = 16\n",
	"echo_accum = 2\n",
	"echo_accum = 2\n",
	"echo_effective = 128\n",
	"echo_effective = 128\n",
};

/* As autofit 0.1.0 wrote them. */
static void records_of_the_version_before_are_read(void **state)
{
	struct strbuf text = sound_text(*state);
	struct error err = ERROR_INIT;
	char path[SCRATCH_PATH_MAX];
	struct record record;

	for (size_t i = 0; i < sizeof(later_lines) / sizeof(*later_lines);
	     i++) {
		struct strbuf without = replaced(&text, later_lines[i], "");

		strbuf_release(&text);
		text = without;
	}
	scratch_path(path, *state, "before.ini");
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	if (record_read(&record, path, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(record.batch.micro_batch, 32);
	assert_int_equal(record.lowered_from, 0);
	assert_null(record.isolation);
	assert_int_equal(record.stamps.count, 0);
	assert_string_equal(record.devices[0].emulated_as, "");
	assert_int_equal(record.probes.items[1].trial.input_rows, 0);
	assert_int_equal(record.probes.items[1].trial.printed_sizes_micro, 0);
	assert_int_equal(record.probes.items[1].trial.printed_sizes_accum, 0);
	assert_int_equal(record.probes.items[1].trial.printed_sizes_effective,
			 0);
	record_release(&record);
	strbuf_release(&text);
}

/* A card that is itself says nothing of it: older readers lose nothing. */
static void what_is_not_emulated_has_no_line(void **state)
{
	struct record record = sample_record("who");
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(record_format(&record, &text, NULL), 0);
	assert_non_null(strstr(strbuf_text(&text), "emulated_as"));
	strbuf_reset(&text);
	record.devices[0].emulated_as[0] = '\0';
	assert_int_equal(record_format(&record, &text, NULL), 0);
	assert_null(strstr(strbuf_text(&text), "emulated_as"));
	assert_round_trip(&record, *state);
	strbuf_release(&text);
	record_release(&record);
}

static void add_lines(struct strbuf *text, const char *line, size_t count)
{
	while (count--)
		strbuf_adds(text, line);
}

static void add_sections(struct strbuf *text, const char *name, size_t from,
			 size_t to)
{
	for (; from <= to; from++)
		strbuf_addf(text, "[%s.%zu]\nx = y\n", name, from);
}

static void hostile_files_are_bounded(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct record record;

	scratch_path(path, *state, "hostile.ini");
	strbuf_adds(&text, "[record]\n");
	add_lines(&text, "argv = 0:\n", 100001);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_non_null(strstr(err.message, ":100002: argv has more than"));
	strbuf_reset(&text);
	add_sections(&text, "device", 1, 65);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_non_null(strstr(err.message, "[device."));
	assert_int_equal(truncate(path, (64 << 20) + 1), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_non_null(strstr(err.message, "larger than 64 MiB"));
	strbuf_reset(&text);
	strbuf_adds(&text, "[record]\npreset = 99999999:");
	while (text.length < (size_t)60 << 20)
		strbuf_adds(&text, PIECES);
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_non_null(strstr(err.message, "of 99999999 bytes"));
	assert_int_equal(record_read(&record, *state, &err), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(record_read(&record, path, &err), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(record_read(&record, path, &err), -ENOENT);
	strbuf_release(&text);
}

static void break_id(struct record *record)
{
	sample_set(&record->id, xstrdup("../x"));
}

static void break_no_id(struct record *record)
{
	sample_set(&record->id, NULL);
}

static void break_no_identity(struct record *record)
{
	sample_set(&record->identity, NULL);
}

static void break_no_subject(struct record *record)
{
	sample_set(&record->subject, NULL);
}

static void break_no_argv(struct record *record)
{
	strlist_release(&record->argv);
}

static void break_kind(struct record *record)
{
	sample_set(&record->device_kind, xstrdup("gpu"));
}

static void break_product(struct record *record)
{
	record->batch.world_size = 3;
}

static void break_misfit_by(struct record *record)
{
	sample_set(&record->misfit_by, xstrdup("a b"));
}

static void what_could_not_be_read_is_not_written(void **state)
{
	static const struct {
		const char *name;
		void (*break_it)(struct record *record);
		const char *message;
	} rows[] = {
		{ "id", break_id, "id" },
		{ "no id", break_no_id, "id" },
		{ "no identity", break_no_identity, "identity" },
		{ "no subject", break_no_subject, "subject" },
		{ "no argv", break_no_argv, "argv" },
		{ "kind", break_kind, "device_kind" },
		{ "product", break_product, "effective_batch" },
		{ "misfit by", break_misfit_by, "misfit_by" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct record record = sample_record("who");
		struct strlist paths = STRLIST_INIT;
		struct error err = ERROR_INIT;

		print_message("%s\n", rows[i].name);
		rows[i].break_it(&record);
		assert_int_equal(record_write(&record, *state, &err), -EINVAL);
		assert_non_null(strstr(err.message, rows[i].message));
		assert_int_equal(record_list(&paths, *state, NULL), 0);
		assert_int_equal(paths.count, 0);
		strlist_release(&paths);
		record_release(&record);
	}
}

static void times_that_are_none_are_written_as_not_known(void **state)
{
	static const double times[] = { -1, 0.0 / 0.0, 1.0 / 0.0, 1e30 };
	struct record record = sample_record("who");
	char path[SCRATCH_PATH_MAX];

	file_of(path, *state, &record);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct record back;

		record.probes.items[0].trial.seconds = times[i];
		assert_int_equal(record_write(&record, *state, NULL), 0);
		assert_int_equal(record_read(&back, path, NULL), 0);
		assert_true(back.probes.items[0].trial.seconds == 0);
		record_release(&back);
	}
	record_release(&record);
}

/* Exits 0 when the record on a full disk was refused. */
static void write_beyond_the_limit(const struct record *record,
				   const char *folder)
{
	struct rlimit limit = { 100, 100 };

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		_exit(2);
	_exit(record_write(record, folder, NULL) == -EFBIG ? 0 : 1);
}

static void a_write_that_fails_changes_nothing(void **state)
{
	struct record record = sample_record("who");
	struct strlist paths = STRLIST_INIT;
	int status;
	pid_t pid;

	assert_round_trip(&record, *state);
	pid = fork();
	if (pid == 0)
		write_beyond_the_limit(&record, *state);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(paths.count, 1);
	assert_round_trip(&record, *state);
	strlist_release(&paths);
	record_release(&record);
}

/* What a writer killed in the middle leaves: half of a temporary file. */
static void left_overs_of_a_killed_writer_do_no_harm(void **state)
{
	struct strbuf text = sound_text(*state);
	struct strlist paths = STRLIST_INIT;
	struct record record;
	char left[SCRATCH_PATH_MAX + 16];

	assert_int_equal(record_list(&paths, *state, NULL), 0);
	(void)snprintf(left, sizeof(left), "%s.a1B2c3", paths.items[0]);
	strlist_release(&paths);
	assert_int_equal(scratch_write(left, text.data, text.length / 2), 0);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(paths.count, 1);
	assert_int_equal(record_read(&record, paths.items[0], NULL), 0);
	assert_int_equal(record_write(&record, *state, NULL), 0);
	record_release(&record);
	strlist_release(&paths);
	strbuf_release(&text);
}

static void write_again_and_again(struct record *record, const char *folder,
				  int writer)
{
	for (int i = 0; i < 25; i++) {
		record->created = writer;
		if (record_write(record, folder, NULL) < 0)
			_exit(1);
	}
	_exit(0);
}

static void readers_see_whole_records_only(void **state)
{
	struct record record = sample_record("who");
	char path[SCRATCH_PATH_MAX];
	struct strlist paths = STRLIST_INIT;
	size_t reads = 0;
	int left = 8;
	int status;

	assert_round_trip(&record, *state);
	file_of(path, *state, &record);
	for (int writer = 0; writer < 8; writer++)
		if (fork() == 0)
			write_again_and_again(&record, *state, writer);
	while (left) {
		struct error err = ERROR_INIT;
		struct record back;

		if (record_read(&back, path, &err) < 0)
			fail_msg("%s", err.message);
		reads++;
		assert_string_equal(back.identity, "who");
		record_release(&back);
		while (left && waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			left--;
		}
	}
	assert_true(reads > 1);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(paths.count, 1);
	strlist_release(&paths);
	record_release(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(any_argument_comes_back),
		IN_FOLDER(arguments_of_any_length_come_back),
		IN_FOLDER(random_records_come_back),
		IN_FOLDER(optional_members_may_be_missing),
		IN_FOLDER(all_devices_and_probes_have_room),
		IN_FOLDER(the_file_is_plain),
		IN_FOLDER(a_cut_file_is_an_error),
		IN_FOLDER(a_changed_byte_is_survived),
		IN_FOLDER(damage_is_named),
		IN_FOLDER(what_a_later_version_adds_is_passed_over),
		IN_FOLDER(records_of_the_version_before_are_read),
		IN_FOLDER(what_is_not_emulated_has_no_line),
		IN_FOLDER(hostile_files_are_bounded),
		IN_FOLDER(what_could_not_be_read_is_not_written),
		IN_FOLDER(times_that_are_none_are_written_as_not_known),
		IN_FOLDER(a_write_that_fails_changes_nothing),
		IN_FOLDER(left_overs_of_a_killed_writer_do_no_harm),
		IN_FOLDER(readers_see_whole_records_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
