/* Numbers and lists of them in config.json. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/config/model_hf_number.h"

#include "configs/files/json_bounded.h"

#include <errno.h>

int hf_number(const json_t *json, const char *key, int64_t most, int64_t *value,
	      struct error *err)
{
	const json_t *number = json_object_get(json, key);

	if (!number || json_is_null(number))
		return 0;
	if (json_whole(number, value) && *value >= 1 && *value <= most)
		return 0;
	return error_set(err, -EINVAL,
			 "%s is not a whole number from 1 to %lld", key,
			 (long long)most);
}

int hf_numbers(const json_t *json, const char *key, int64_t most,
	       struct hf_list *list, struct error *err)
{
	const json_t *array = json_object_get(json, key);
	size_t size = json_array_size(array);

	if (!array || json_is_null(array))
		return 0;
	list->count = size;
	for (size_t i = 0; size <= HF_STAGES_MAX && i < size; i++)
		if (!json_whole(json_array_get(array, i), &list->values[i]) ||
		    list->values[i] < 1 || list->values[i] > most)
			size = 0;
	if (size == 0 || size > HF_STAGES_MAX)
		return error_set(err, -EINVAL,
				 "%s is no list of 1 to %d whole numbers from "
				 "1 to %lld",
				 key, HF_STAGES_MAX, (long long)most);
	return 0;
}
