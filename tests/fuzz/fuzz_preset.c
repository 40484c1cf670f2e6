/* Presets of any text: read whole or refused with words, and then usable. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/presets/preset.h"

#include "configs/presets/steps.h"
#include "configs/signatures/pattern.h"
#include "tests/fuzz/fuzz.h"

/* Between the texts of two presets. */
#define BORDER "\n%%\n"

static const char *const files[] = { "generic", "a", "b", "c" };

static void check_list(const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		fuzz_check(list->items[i] && *list->items[i],
			   "an item of a list is not empty");
}

static void check_knob(const struct preset_knob *knob)
{
	static const char *const scopes[] = { "rank", "node", "global",
					      "total" };
	bool is_known = !knob->scope;

	for (size_t i = 0; i < 4 && !is_known; i++)
		is_known = strcmp(knob->scope, scopes[i]) == 0;
	fuzz_check(is_known, "the scope is one of four");
	fuzz_check(knob->default_value >= 0, "a default is not negative");
	fuzz_check(knob->unit <= UNIT_MICRO_STEPS, "the unit is one of three");
	check_list(&knob->names);
	check_list(&knob->keys);
}

static void check_examples(const struct preset *preset)
{
	for (size_t i = 0; i < preset->example_count; i++) {
		const struct preset_example *example = &preset->examples[i];

		fuzz_check(example->name && example->command,
			   "an example has a command");
		fuzz_check(example->refused || (example->expected &&
						example->micro_batch > 0 &&
						example->grad_accum > 0),
			   "an example expects something");
	}
}

/* What a preset brings is compiled and run on lines: within time. */
static void use_patterns(const struct preset *preset)
{
	static const char line[] = "step 7/1200 [00:01<00:02] aaaaaaaaaaaaaaa!";
	struct step_patterns *steps;
	struct error err = ERROR_INIT;

	if (step_patterns_make(&steps, &preset->log.step_patterns,
			       &preset->log.step_ignore, &err) < 0) {
		fuzz_check(*err.message && !steps, "refused with words");
		return;
	}
	fuzz_check(step_patterns_match(steps, line, sizeof(line) - 1) >= -1,
		   "a counter is not negative");
	step_patterns_free(steps);
}

static void check_preset(const struct preset *preset)
{
	fuzz_check(preset->name && preset->description,
		   "it has a name and a description");
	fuzz_check(preset->knobs.micro.names.count +
				   preset->knobs.micro.keys.count >
			   0,
		   "it has a micro-batch");
	check_knob(&preset->knobs.micro);
	check_knob(&preset->knobs.accum);
	check_knob(&preset->knobs.global);
	check_knob(&preset->knobs.steps);
	check_knob(&preset->knobs.output);
	check_list(&preset->signs.flags);
	check_list(&preset->signs.sources);
	check_list(&preset->probe.args);
	check_list(&preset->words.neutral_args);
	for (int i = 0; i < MODEL_FIELDS; i++)
		check_list(&preset->model[i]);
	check_examples(preset);
	use_patterns(preset);
}

static void add(struct presets *presets, const char *name,
		struct fuzz_input part)
{
	char *text = fuzz_copy(part, false);
	size_t before = presets->count;
	struct error err = ERROR_INIT;

	const struct ini_file file = {
		.path = name,
		.name = name,
		.text = text,
		.length = part.size,
		.is_users = true,
	};

	if (presets_add(presets, &file, &err) < 0) {
		fuzz_check(presets->count == before, "a bad one is not kept");
		fuzz_check(err.code < 0 && *err.message, "refused with words");
	}
	free(text);
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct presets presets = { 0 };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		add(&presets, files[i], fuzz_until(&input, BORDER));
		if (!input.size)
			break;
	}
	/* A second one of a name takes the place of the first. */
	add(&presets, "elsewhere/a.ini", input);
	for (size_t i = 0; i < presets.count; i++) {
		check_preset(&presets.items[i]);
		fuzz_check(presets_find(&presets, presets.items[i].name) ==
				   &presets.items[i],
			   "each is found by its name");
	}
	presets_release(&presets);
}
