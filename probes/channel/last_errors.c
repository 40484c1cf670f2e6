/* The exceptions that ended processes of a probe, as its step hook told them.
 */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/last_errors.h"

#include "base/alloc.h"
#include "probes/channel/hook_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The hook writes less. */
#define ERROR_BYTES_MAX 32768

/* A decimal number and the blank behind it. */
static bool take_number(const char **at, long long *number)
{
	char *end;

	errno = 0;
	*number = strtoll(*at, &end, 10);
	if (end == *at || *end != ' ' || errno)
		return false;
	*at = end + 1;
	return true;
}

static void add_error(void *context, const struct strbuf *text)
{
	struct last_errors *errors = context;
	const char *at = strbuf_text(text);
	size_t key_length;
	long long time;
	long long rank;

	if (!take_number(&at, &time) || !take_number(&at, &rank) || rank < -1 ||
	    rank > INT_MAX)
		return;
	key_length = strcspn(at, "\n");
	if (!key_length || !at[key_length])
		return;
	errors->items = xgrow(errors->items, errors->count, &errors->capacity,
			      sizeof(*errors->items));
	errors->items[errors->count++] = (struct last_error){
		.time_ns = time,
		.rank = (int)rank,
		.key = xstrndup(at, key_length),
		.text = xstrdup(at + key_length + 1),
	};
}

static int by_time(const void *left, const void *right)
{
	const struct last_error *a = left;
	const struct last_error *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

void last_errors_read(struct last_errors *errors, const char *folder)
{
	const struct hook_files files = { "error", LAST_ERRORS_MAX,
					  ERROR_BYTES_MAX };

	hook_files_read(folder, &files, add_error, errors);
	if (errors->count)
		qsort(errors->items, errors->count, sizeof(*errors->items),
		      by_time);
}

void last_errors_release(struct last_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++) {
		free(errors->items[i].key);
		free(errors->items[i].text);
	}
	free(errors->items);
	*errors = (struct last_errors)LAST_ERRORS_INIT;
}
