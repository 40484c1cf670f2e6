/* Writes a record that a real run has changed. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/record_lowered.h"

#include "configs/records/starts.h"

#include <time.h>

int record_lowered_write(struct record *record, const struct paths *paths,
			 struct error *err)
{
	int64_t now = (int64_t)time(NULL);
	int result = paths_make(paths->records, err);

	record->created = now > record->created ? now : record->created + 1;
	if (result == 0)
		result = record_write(record, paths->records, err);
	if (result == 0)
		start_forget(paths->starts, record->id);
	return result;
}
