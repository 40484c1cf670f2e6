/* A config.json of diffusers under way: what its readers share. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/config/model_diffusers_reading.h"

#include "configs/files/json_bounded.h"

#include <errno.h>

void diffusers_fail(struct diffusers_reading *reading, const char *key)
{
	reading->has_failed = true;
	(void)error_set(reading->err, -EINVAL,
			"%s is not a whole number from 1 to %d", key,
			DIFFUSERS_MOST);
}

int64_t diffusers_checked(struct diffusers_reading *reading, const char *key,
			  const json_t *json)
{
	int64_t value = 0;

	if (json_whole(json, &value) && value >= 1 && value <= DIFFUSERS_MOST)
		return value;
	diffusers_fail(reading, key);
	return 1;
}

int64_t diffusers_number(struct diffusers_reading *reading, const char *key,
			 int64_t other)
{
	const json_t *json = json_object_get(reading->root, key);

	return json && !json_is_null(json)
		       ? diffusers_checked(reading, key, json)
		       : other;
}

int64_t diffusers_matrix(int64_t in, int64_t out)
{
	return in * out + out;
}
