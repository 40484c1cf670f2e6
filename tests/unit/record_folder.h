/* A folder of records for tests, and what is found in it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_RECORD_FOLDER_H
#define AUTOFIT_TESTS_UNIT_RECORD_FOLDER_H

#include "configs/records/record.h"

#include "tests/unit/record_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/inotify.h>

#include <cmocka.h>

#define SUBJECT "train.py\nhf\ncuda"

/* A record whose files have not changed, as it has none. */
static inline struct record plain_record(const char *identity, int64_t created)
{
	struct record record = sample_record(identity);

	strlist_release(&record.stamps);
	record.created = created;
	return record;
}

static inline void write_sample(const char *folder, const char *identity,
				int64_t created)
{
	struct record record = plain_record(identity, created);

	assert_int_equal(record_write(&record, folder, NULL), 0);
	record_release(&record);
}

static inline void search(struct record_match *match, const char *own,
			  const char *identity)
{
	struct record_folders folders = { own, NULL };

	record_search(match, &folders, identity, SUBJECT);
}

static inline void assert_found(const char *folder, const char *identity,
				int64_t created)
{
	struct record_match match;

	search(&match, folder, identity);
	assert_int_equal(match.grade, RECORD_EXACT);
	assert_string_equal(match.record.identity, identity);
	assert_int_equal(match.record.created, created);
	assert_string_equal(match.difference, "");
	record_match_release(&match);
}

/* At most a hint. */
static inline void assert_not_found(const char *folder, const char *identity)
{
	struct record_match match;

	search(&match, folder, identity);
	assert_true(match.grade < RECORD_NEAR);
	record_match_release(&match);
}

static inline void assert_nothing(const char *folder, const char *identity)
{
	static const struct record_match empty = { 0 };
	struct record_match match;

	search(&match, folder, identity);
	assert_memory_equal(&match, &empty, sizeof(match));
}

static inline char *path_of_record(const char *folder)
{
	struct strlist paths = STRLIST_INIT;
	char *path;

	assert_int_equal(record_list(&paths, folder, NULL), 0);
	assert_int_equal(paths.count, 1);
	path = xstrdup(paths.items[0]);
	strlist_release(&paths);
	return path;
}

/* What was seen of files in a folder since the watch began. */
static inline size_t count_events(int watch)
{
	char events[65536]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t length = read(watch, events, sizeof(events));
	size_t count = 0;

	for (char *at = events; at < events + length;) {
		struct inotify_event event;

		memcpy(&event, at, sizeof(event));
		count += !(event.mask & IN_ISDIR);
		at += sizeof(event) + event.len;
	}
	return count;
}

#endif
