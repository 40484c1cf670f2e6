/* Profiles of any text: refused with words, or all of it can be printed. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/estimate/profile_tables.h"

#include "configs/profiles/profile.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

static void check_refusal(const struct error *err)
{
	fuzz_check(err->code < 0 && *err->message, "refused with words");
}

static void check_ascii(const char *text)
{
	for (; *text; text++)
		fuzz_check(*text == '\n' || (*text >= ' ' && *text <= '~'),
			   "what is printed is plain");
}

static void print_all(const struct profile *profile)
{
	char *text = profile_tables_text(profile);
	json_t *json = profile_tables_json(profile);

	check_ascii(text);
	fuzz_check(json_object_size(json) == 7, "JSON has all of it");
	json_decref(json);
	free(text);
}

static void estimate_all(const struct profile *profile)
{
	struct profile_inputs inputs = { .params = 7e9,
					 .model_gb = 14,
					 .hidden = 4096,
					 .layers = 32,
					 .batch = 8,
					 .gpu_gb = 80,
					 .gpus = 4 };

	for (size_t i = 0; i < profile->count; i++) {
		struct error err = ERROR_INIT;
		struct profile_result result;
		struct strbuf out = STRBUF_INIT;

		if (profile->sections[i].kind != PROFILE_ESTIMATE)
			continue;
		inputs.method = profile->sections[i].name;
		if (profile_estimate(profile, &inputs, &result, &err) < 0) {
			check_refusal(&err);
			continue;
		}
		fuzz_check(isfinite(result.low) && isfinite(result.high),
			   "a total is a number");
		profile_result_text(&out, profile, &result);
		json_decref(profile_result_json(profile, &result));
		check_ascii(strbuf_text(&out));
		strbuf_release(&out);
	}
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	char *text = fuzz_copy(input, false);
	struct error err = ERROR_INIT;
	struct profile profile;

	if (profile_parse(&profile, "fuzz.ini", text, size, &err) < 0 ||
	    profile_check(&profile, &err) < 0) {
		check_refusal(&err);
	} else {
		print_all(&profile);
		estimate_all(&profile);
	}
	profile_release(&profile);
	free(text);
}
