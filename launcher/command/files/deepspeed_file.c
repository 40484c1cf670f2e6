/* DeepSpeed's own config file, where sizes must not stand. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/deepspeed_file.h"

#include "base/alloc.h"
#include "launcher/command/text/argument.h"

#include <string.h>

/* A number; "auto" is what the program that starts it says. */
static const struct setting *find_size(const struct settings *settings)
{
	static const char *const keys[] = {
		"train_micro_batch_size_per_gpu",
		"gradient_accumulation_steps",
		"train_batch_size",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct setting *found;
		int64_t number;

		if (settings_find_all(settings, keys[i], &found, 1) &&
		    strcmp(found->key, keys[i]) == 0 &&
		    count_parse(found->value, &number))
			return found;
	}
	return NULL;
}

char *deepspeed_fault(const struct settings *settings, const char *path)
{
	const struct setting *size = find_size(settings);
	char shown[BRIEF_MAX], value[BRIEF_MAX];

	if (!size)
		return NULL;
	return xasprintf("%s sets %s = %s for DeepSpeed, and another size "
			 "would contradict it: write \"auto\" there",
			 argument_brief(shown, path), size->key,
			 argument_brief(value, size->value));
}
