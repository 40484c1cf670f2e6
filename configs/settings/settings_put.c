/* Settings that are put together of several files. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings.h"

#include "configs/settings/settings_internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static struct setting *put_find(const struct settings *settings,
				const char *key)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].key, key) == 0)
			return &settings->items[i];
	return NULL;
}

/* The key below a package, "" for none. */
static char *put_key(struct settings *settings, const char *package,
		     const char *key)
{
	char *whole = xasprintf("%s%s%s", package, *package ? "." : "", key);
	char *kept = pool_add(&settings->texts, whole, strlen(whole));

	free(whole);
	return kept;
}

enum settings_put settings_put(struct settings *settings, const char *package,
			       const struct setting *setting)
{
	struct setting put = *setting;
	struct setting *known;
	bool is_other;

	put.key = put_key(settings, package, setting->key);
	put.is_scalar = false;
	known = put_find(settings, put.key);
	if (known) {
		is_other = strcmp(known->value, put.value) != 0;
		*known = put;
		return is_other ? SETTINGS_PUT_OVER : SETTINGS_PUT_NEW;
	}
	if (settings->count == SETTINGS_PUT_MAX)
		return SETTINGS_PUT_FULL;
	settings->items = xgrow(settings->items, settings->count,
				&settings->capacity, sizeof(*settings->items));
	settings->items[settings->count++] = put;
	return SETTINGS_PUT_NEW;
}

void settings_put_end(struct settings *settings)
{
	settings_index_names(settings);
}
