/* The recommended setting as data: each name that gets a value, and where. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record_settings.h"

#include "base/alloc.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void record_settings_add(struct record_settings *settings,
			 const struct record_setting_texts *setting)
{
	if (settings->count == RECORD_SETTINGS_MAX)
		return;
	settings->items = xgrow(settings->items, settings->count,
				&settings->capacity, sizeof(*settings->items));
	settings->items[settings->count++] = (struct record_setting){
		.size = copy_of(setting->size),
		.name = copy_of(setting->name),
		.value = copy_of(setting->value),
		.was = copy_of(setting->was),
		.where = copy_of(setting->where),
	};
}

void record_settings_release(struct record_settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct record_setting *setting = &settings->items[i];

		free(setting->size);
		free(setting->name);
		free(setting->value);
		free(setting->was);
		free(setting->where);
	}
	free(settings->items);
	memset(settings, 0, sizeof(*settings));
}

/* How a size changes; 0 for both: it does not, or is none that is known. */
static void ratio_of(const char *size, const struct batch *from,
		     const struct batch *to, int64_t *old, int64_t *new)
{
	*old = *new = 0;
	if (!size)
		return;
	if (strcmp(size, "micro_batch") == 0) {
		*old = from->micro_batch;
		*new = to->micro_batch;
	} else if (strcmp(size, "grad_accum") == 0) {
		*old = from->grad_accum;
		*new = to->grad_accum;
	}
}

void record_settings_rescale(struct record_settings *settings,
			     const struct batch *from, const struct batch *to)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct record_setting *setting = &settings->items[i];
		int64_t old, new, value;

		ratio_of(setting->size, from, to, &old, &new);
		if (old < 1 || !setting->value ||
		    integer_parse(setting->value, &value, NULL) < 0 ||
		    __builtin_mul_overflow(value, new, &value))
			continue;
		free(setting->value);
		setting->value =
			xasprintf("%" PRId64, value / old + (value % old != 0));
	}
}
