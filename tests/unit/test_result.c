/* The JSON of --json: every key, null for what is not known, any bytes. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/report/rates.h"
#include "launcher/report/result.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/escape.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const enum outcome outcomes[] = {
	OUTCOME_TUNED,          OUTCOME_REUSED,       OUTCOME_AS_GIVEN,
	OUTCOME_PLANNED,        OUTCOME_NOTHING_FITS, OUTCOME_COMMAND_FAILED,
	OUTCOME_NOT_RECOGNISED, OUTCOME_REFUSED,      OUTCOME_TIME_LIMIT,
	OUTCOME_INTERRUPTED,    OUTCOME_DISTURBED,    OUTCOME_ERROR,
};

static const char *const outcome_words[] = {
	"tuned",        "reused",         "as_given",       "planned",
	"nothing_fits", "command_failed", "not_recognised", "refused",
	"time_limit",   "interrupted",    "disturbed",      "error",
};

static json_t *json_of(const struct result *result)
{
	struct strbuf text = STRBUF_INIT;
	json_error_t error;
	json_t *root;

	result_json(result, &text);
	assert_true(text.length > 1);
	assert_int_equal(text.data[text.length - 1], '\n');
	root = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES,
			  &error);
	if (!root)
		fail_msg("not JSON: %s\n%s", error.text, text.data);
	strbuf_release(&text);
	return root;
}

/* "evidence.coverage", "probes.0.micro_batch": what is there, or NULL. */
static json_t *at(json_t *value, const char *path)
{
	while (value && *path) {
		size_t length = strcspn(path, ".");
		char key[64];

		assert_true(length < sizeof(key));
		memcpy(key, path, length);
		key[length] = '\0';
		if (json_is_array(value))
			value = json_array_get(value, strtoul(key, NULL, 10));
		else
			value = json_object_get(value, key);
		path += length;
		path += *path == '.';
	}
	return value;
}

/* A value as JSON writes it, "(absent)" when it is not there. */
static void check_value(json_t *root, const char *path, const char *expected)
{
	json_t *value = at(root, path);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
						       JSON_REAL_PRECISION(6))
			   : NULL;

	if (strcmp(text ? text : "(absent)", expected) != 0)
		fail_msg("%s is %s, wanted %s", path, text ? text : "(absent)",
			 expected);
	free(text);
}

static void add_probes(struct record *record)
{
	const struct trial fit = {
		.micro_batch = 32,
		.grad_accum = 2,
		.verdict = VERDICT_FITS,
		.phase = PHASE_TRAIN,
		.rank = -1,
		.peak_bytes = 1500 * MIB,
		.coverage = COVERAGE_EXACT,
		.steps = 20,
		.seconds = 12.5,
		.step_seconds = 0.25,
		.input_rows = 32,
		.printed_sizes_micro = 16,
		.printed_sizes_accum = 2,
		.printed_sizes_effective = 64,
	};
	const struct trial misfit = {
		.micro_batch = 64,
		.grad_accum = 2,
		.verdict = VERDICT_OVER_BUDGET,
		.phase = PHASE_START,
		.rank = 3,
		.peak_bytes = 2000 * MIB,
		.peak_is_lower_bound = true,
		.peak_has_files = true,
		.seconds = (double)NAN,
	};

	probe_notes_add(&record->probes, &fit, NULL, "/logs/1.log");
	probe_notes_add(&record->probes, &misfit, "peak over \xff limit", NULL);
	record->probes.items[1].round = 2;
	strcpy(record->probes.items[1].gpu, "GPU-7");
}

static void fill(struct result *result)
{
	struct record *record = &result->record;

	memset(result, 0, sizeof(*result));
	result->outcome = OUTCOME_TUNED;
	result->message = xstrdup("a \"message\"\n");
	record->id = xstrdup("train-host-12ab");
	strlist_add(&record->argv, "python");
	strlist_add(&record->argv, "");
	strlist_add(&record->argv, "--bs=8");
	record->preset = xstrdup("generic");
	record->device_kind = xstrdup("host");
	(void)snprintf(record->devices[0].name, sizeof(record->devices[0].name),
		       "host memory");
	record->devices[0].total_bytes = 8 * GIB;
	record->devices[0].budget_bytes = 2 * GIB;
	record->device_count = 2;
	(void)snprintf(record->devices[1].name, sizeof(record->devices[1].name),
		       "NVIDIA H200");
	(void)snprintf(record->devices[1].emulated_as,
		       sizeof(record->devices[1].emulated_as), "Tesla T4");
	record->effective_batch_asked = 128;
	record->batch.micro_batch = 32;
	record->batch.grad_accum = 2;
	record->batch.world_size = 2;
	record->batch.effective_batch = 128;
	record->largest_micro_batch = 44;
	record->largest_fit = 32;
	record->smallest_misfit = 64;
	record->misfit_by = xstrdup("probe");
	record->peak_bytes = 1500 * MIB;
	record->limit_bytes = 1900 * MIB;
	record->coverage = COVERAGE_EXACT;
	record->steps_source = STEPS_HOOK;
	record->confirmed_steps = 20;
	strlist_add(&record->not_exercised, "evaluation");
	strlist_add(&record->caveats, "data vary");
	add_probes(record);
	result->record_path = xstrdup("/state/x.ini");
	result->record_grade = "near";
	result->difference = xstrdup("--lr");
	result->starts = "recommended";
	result->probes_run = 1;
	record->isolation = xstrdup("view");
	strlist_add(&result->run.argv, "python");
	strlist_add(&result->run.argv, "--bs=32");
	strlist_add(&result->run.environment, "A=1=2");
	strlist_add(&result->run.environment, "EMPTY=");
	strlist_add(&result->run.environment, "GONE");
	result->budget_source = xstrdup("--memory");
	result->seconds = 61.25;
}

static const struct {
	const char *path, *value;
} known_rows[] = {
	{ "schema", "\"autofit.result/1\"" },
	{ "autofit_version", "\"" AUTOFIT_VERSION "\"" },
	{ "outcome", "\"tuned\"" },
	{ "exit_code", "0" },
	{ "message", "\"a \\\"message\\\"\\n\"" },
	{ "starts", "\"recommended\"" },
	{ "command", "[\"python\",\"\",\"--bs=8\"]" },
	{ "argv_escaped", "null" },
	{ "preset", "\"generic\"" },
	{ "device_kind", "\"host\"" },
	{ "devices.0.uuid", "null" },
	{ "devices.0.name", "\"host memory\"" },
	{ "devices.0.total_bytes", "8589934592" },
	{ "devices.0.free_bytes", "0" },
	{ "devices.0.budget_bytes", "2147483648" },
	{ "devices.0.emulated_as", "null" },
	{ "devices.1.emulated_as", "\"Tesla T4\"" },
	{ "devices.2", "(absent)" },
	{ "budget_source", "\"--memory\"" },
	{ "isolation", "\"view\"" },
	{ "effective_batch_asked", "128" },
	{ "recommended.micro_batch", "32" },
	{ "recommended.grad_accum", "2" },
	{ "recommended.world_size", "2" },
	{ "recommended.effective_batch", "128" },
	{ "recommended.argv", "[\"python\",\"--bs=32\"]" },
	{ "recommended.argv_escaped", "null" },
	{ "recommended.env", "{\"A\":\"1=2\",\"EMPTY\":\"\",\"GONE\":null}" },
	{ "largest_micro_batch", "44" },
	{ "evidence.largest_fit", "32" },
	{ "evidence.smallest_misfit", "64" },
	{ "evidence.misfit_by", "\"probe\"" },
	{ "evidence.peak_bytes", "1572864000" },
	{ "evidence.limit_bytes", "1992294400" },
	{ "evidence.headroom_bytes", "0" },
	{ "evidence.coverage", "\"exact\"" },
	{ "evidence.steps_source", "\"hook\"" },
	{ "evidence.confirmed_steps", "20" },
	{ "evidence.not_exercised", "[\"evaluation\"]" },
	{ "record", "{\"id\":\"train-host-12ab\",\"grade\":\"near\","
		    "\"difference\":\"--lr\","
		    "\"path\":\"/state/x.ini\"}" },
	{ "caveats", "[\"data vary\"]" },
	/* In this call: the other one is of an earlier, interrupted one. */
	{ "probe_count", "1" },
	{ "seconds", "61.25" },
	{ "probes.0.micro_batch", "32" },
	{ "probes.0.grad_accum", "2" },
	{ "probes.0.verdict", "\"fits\"" },
	{ "probes.0.why", "null" },
	{ "probes.0.phase", "\"train\"" },
	{ "probes.0.rank", "null" },
	{ "probes.0.peak_bytes", "1572864000" },
	{ "probes.0.peak_is_lower_bound", "false" },
	{ "probes.0.peak_has_files", "false" },
	{ "probes.0.coverage", "\"exact\"" },
	{ "probes.0.steps", "20" },
	{ "probes.0.seconds", "12.5" },
	/* 32 samples x 2 micro-steps x 2 ranks in a quarter second */
	{ "probes.0.samples_per_second", "512.0" },
	{ "probes.0.input_rows", "32" },
	{ "probes.0.echo_micro", "16" },
	{ "probes.0.echo_accum", "2" },
	{ "probes.0.echo_effective", "64" },
	{ "probes.0.log", "\"/logs/1.log\"" },
	{ "probes.0.gpu", "null" },
	{ "probes.0.round", "null" },
	{ "probes.1.gpu", "\"GPU-7\"" },
	{ "probes.1.round", "2" },
	{ "probes.1.verdict", "\"over_budget\"" },
	{ "probes.1.why", "\"peak over \xef\xbf\xbd limit\"" },
	{ "probes.1.phase", "\"start\"" },
	{ "probes.1.rank", "3" },
	{ "probes.1.peak_is_lower_bound", "true" },
	{ "probes.1.peak_has_files", "true" },
	{ "probes.1.coverage", "null" },
	{ "probes.1.seconds", "null" },
	{ "probes.1.samples_per_second", "null" },
	{ "probes.1.input_rows", "null" },
	{ "probes.1.echo_micro", "null" },
	{ "probes.1.echo_accum", "null" },
	{ "probes.1.echo_effective", "null" },
	{ "probes.1.log", "null" },
};

static void everything_known_is_there(void **state)
{
	struct result result;
	json_t *root;

	(void)state;
	fill(&result);
	root = json_of(&result);
	for (size_t i = 0; i < COUNT(known_rows); i++)
		check_value(root, known_rows[i].path, known_rows[i].value);
	json_decref(root);
	result_release(&result);
}

static void nothing_known_is_null_and_never_absent(void **state)
{
	static const char *const nulls[] = {
		"message",
		"starts",
		"argv_escaped",
		"preset",
		"device_kind",
		"budget_source",
		"isolation",
		"effective_batch_asked",
		"recommended",
		"largest_micro_batch",
		"predicted_micro_batch",
		"nearest_effective_batch",
		"evidence.largest_fit",
		"evidence.smallest_misfit",
		"evidence.misfit_by",
		"evidence.peak_bytes",
		"evidence.limit_bytes",
		"evidence.headroom_bytes",
		"evidence.coverage",
		"evidence.steps_source",
		"evidence.confirmed_steps",
		"record.id",
		"record.grade",
		"record.difference",
		"record.path",
	};
	static const char *const empty[] = { "command", "devices",
					     "evidence.not_exercised",
					     "caveats", "probes" };

	(void)state;
	for (size_t i = 0; i < COUNT(outcomes); i++) {
		struct result result = RESULT_INIT;
		char quoted[64];
		json_t *root;

		result.outcome = outcomes[i];
		result.exit_code = 125;
		root = json_of(&result);
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"",
			       outcome_words[i]);
		check_value(root, "outcome", quoted);
		check_value(root, "exit_code", "125");
		check_value(root, "probe_count", "0");
		check_value(root, "seconds", "0.0");
		for (size_t j = 0; j < COUNT(nulls); j++)
			check_value(root, nulls[j], "null");
		for (size_t j = 0; j < COUNT(empty); j++)
			check_value(root, empty[j], "[]");
		json_decref(root);
		result_release(&result);
	}
}

/* The keys of the schema, in its order: readers may rely on it. */
static void keys_keep_their_order(void **state)
{
	static const char *const keys[] = {
		"\"schema\"",      "\"autofit_version\"",
		"\"outcome\"",     "\"command\"",
		"\"preset\"",      "\"device_kind\"",
		"\"devices\"",     "\"effective_batch_asked\"",
		"\"recommended\"", "\"largest_micro_batch\"",
		"\"evidence\"",    "\"record\"",
		"\"caveats\"",     "\"probe_count\"",
		"\"probes\"",
	};
	struct strbuf text = STRBUF_INIT;
	struct result result;
	const char *last;

	(void)state;
	fill(&result);
	result_json(&result, &text);
	last = strbuf_text(&text);
	for (size_t i = 0; last && i < COUNT(keys); i++) {
		const char *found = strstr(last, keys[i]);

		if (!found)
			fail_msg("%s is not after the key before it", keys[i]);
		last = found;
	}
	strbuf_release(&text);
	result_release(&result);
}

/* Each argument comes back byte by byte from argv_escaped. */
static void any_bytes_survive(void **state)
{
	static const char *const arguments[] = {
		"plain",
		"",
		"--name=caf\xc3\xa9",
		"--path=/data/\xff\xfe%41",
		"\xc0\x80",         /* overlong */
		"\xed\xa0\x80",     /* a surrogate */
		"\xf4\x90\x80\x80", /* past U+10FFFF */
		"\xe2\x82",         /* cut off */
		"a b;c#d\x01\n\x7f",
	};
	struct result result = RESULT_INIT;
	json_t *escaped;
	json_t *plain;
	json_t *root;

	(void)state;
	result.record.batch.micro_batch = 1;
	for (size_t i = 0; i < COUNT(arguments); i++) {
		strlist_add(&result.record.argv, arguments[i]);
		strlist_add(&result.run.argv, arguments[i]);
	}
	root = json_of(&result);
	plain = json_object_get(root, "command");
	escaped = json_object_get(root, "argv_escaped");
	assert_int_equal(json_array_size(plain), COUNT(arguments));
	assert_int_equal(json_array_size(escaped), COUNT(arguments));
	for (size_t i = 0; i < COUNT(arguments); i++) {
		const char *text =
			json_string_value(json_array_get(escaped, i));
		const char *digits = text;
		struct strbuf back = STRBUF_INIT;

		assert_non_null(text);
		for (; *digits; digits++)
			assert_true(*digits > ' ' && *digits <= '~');
		assert_int_equal(unescape_add(&back, text), 0);
		assert_string_equal(strbuf_text(&back), arguments[i]);
		strbuf_release(&back);
	}
	check_value(root, "command.2", "\"--name=caf\xc3\xa9\"");
	check_value(root, "command.3",
		    "\"--path=/data/\xef\xbf\xbd\xef\xbf\xbd%41\"");
	check_value(root, "command.7", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_true(json_equal(at(root, "recommended.argv_escaped"), escaped));
	assert_true(json_equal(at(root, "recommended.argv"), plain));
	json_decref(root);
	result_release(&result);
}

static void numbers_out_of_json_are_null(void **state)
{
	struct result result = RESULT_INIT;
	json_t *root;

	(void)state;
	result.seconds = (double)INFINITY;
	result.record.peak_bytes = UINT64_MAX;
	root = json_of(&result);
	check_value(root, "seconds", "null");
	check_value(root, "evidence.peak_bytes", "9223372036854775807");
	json_decref(root);
	result_release(&result);
}

static void speed_is_samples_of_all_ranks(void **state)
{
	struct result result = RESULT_INIT;
	struct trial trial = { .micro_batch = 8, .grad_accum = 2 };

	(void)state;
	assert_true(fabs(rates_samples_per_second(&result, &trial,
						  trial.grad_accum)) < 1e-9);
	trial.step_seconds = 0.5;
	assert_true(fabs(rates_samples_per_second(&result, &trial,
						  trial.grad_accum) -
			 32) < 1e-9);
	result.record.batch.world_size = 4;
	assert_true(fabs(rates_samples_per_second(&result, &trial,
						  trial.grad_accum) -
			 128) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_known_is_there),
		cmocka_unit_test(nothing_known_is_null_and_never_absent),
		cmocka_unit_test(keys_keep_their_order),
		cmocka_unit_test(any_bytes_survive),
		cmocka_unit_test(numbers_out_of_json_are_null),
		cmocka_unit_test(speed_is_samples_of_all_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
