/* The best record for a command, of the user's own and of the site's. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "configs/identity/stamps.h"
#include "configs/records/record_files.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LESS_THAN_EXACT_MAX 200
/* Bytes of all those: large files of a shared folder must not stop a launch. */
#define LESS_THAN_EXACT_BYTES ((off_t)64 << 20)
/* Clocks of two machines differ; by this much only when one is wrong. */
#define FUTURE_SECONDS_MAX (INT64_C(24) * 3600)

struct record_search_wanted {
	const char *identity, *subject;
	const char *site; /* AUTOFIT_SITE or NULL: its owner is trusted */
	int64_t now;      /* seconds since 1970 */
};

/* One folder that is searched, and the best of all so far. */
struct search {
	const struct record_search_wanted *wanted;
	enum record_place place;
	struct record_match *best;
	enum record_place best_place;
	off_t bytes; /* read for less than exact */
};

void record_match_release(struct record_match *match)
{
	record_release(&match->record);
	free(match->path);
	free(match->difference);
	memset(match, 0, sizeof(*match));
}

static int check_time(const struct record *record, const char *path,
		      int64_t now, struct error *err)
{
	time_t created = (time_t)record->created;
	char date[32] = "later";
	struct tm day;

	if (record->created <= now ||
	    record->created - now <= FUTURE_SECONDS_MAX)
		return 0;
	if (gmtime_r(&created, &day))
		(void)strftime(date, sizeof(date), "%Y-%m-%d", &day);
	return error_set(err, -EINVAL,
			 "cannot use %s: it was made in the future (%s), or "
			 "this machine's clock is wrong",
			 path, date);
}

static int read_sound(struct record *record, int fd, const char *path,
		      const struct record_search_wanted *wanted,
		      struct error *err)
{
	int result = record_read_open(record, fd, path, err);

	assert(fd >= 0);
	if (result == 0)
		result = check_time(record, path, wanted->now, err);
	if (result < 0)
		record_release(record);
	return result;
}

/* Its files count only where the texts do not differ already. */
static enum record_grade grade_of(const struct record *record,
				  const struct record_search_wanted *wanted)
{
	enum record_grade grade =
		identity_grade(record->identity, wanted->identity, NULL);

	if (strcmp(record->subject, wanted->subject) != 0)
		return RECORD_HINT;
	if (grade == RECORD_EXACT && !stamps_hold(&record->stamps, NULL))
		return RECORD_NEAR;
	return grade;
}

static void record_search_add_part(struct strbuf *out,
				   const struct strbuf *part)
{
	if (out->length && part->length)
		strbuf_adds(out, "; ");
	strbuf_add(out, strbuf_text(part), part->length);
}

/* What differs, for the one record that is used. */
static char *difference_of(const struct record *record,
			   const struct record_search_wanted *wanted,
			   enum record_grade grade)
{
	struct strbuf difference = STRBUF_INIT;
	struct strbuf part = STRBUF_INIT;

	if (strcmp(record->subject, wanted->subject) != 0)
		strbuf_adds(&difference, "recorded for another script");
	(void)identity_grade(record->identity, wanted->identity, &part);
	record_search_add_part(&difference, &part);
	strbuf_reset(&part);
	if (grade == RECORD_NEAR && !stamps_hold(&record->stamps, &part))
		record_search_add_part(&difference, &part);
	strbuf_release(&part);
	return strbuf_detach(&difference);
}

/*
 * Among equals the newer one, be it the user's own or the site's: what a site
 * tuned last night replaces what its users found out before.
 */
static bool is_better(const struct search *search, enum record_grade grade,
		      const struct record *record)
{
	const struct record_match *best = search->best;

	if (grade != best->grade)
		return grade > best->grade;
	/* What ran out of memory here counts more than what the site saw. */
	if (search->place != search->best_place && best->record.lowered_from)
		return false;
	return record->created > best->record.created;
}

/* Takes what record owns, or leaves it. */
static void record_search_consider(struct search *search, struct record *record,
				   const char *path)
{
	struct record_match *best = search->best;
	enum record_grade grade;

	if (strcmp(record->subject, search->wanted->subject) != 0)
		return;
	grade = grade_of(record, search->wanted);
	if (!is_better(search, grade, record))
		return;
	assert(grade != RECORD_NONE);
	record_match_release(best);
	best->grade = grade;
	best->path = xstrdup(path);
	best->record = *record;
	memset(record, 0, sizeof(*record));
	search->best_place = search->place;
}

/*
 * A record that cannot be used costs a new tuning, never the launch. Whose
 * name fits was meant for this command, so that is told.
 */
static void consider_fitting(struct search *search, const char *path)
{
	const struct record_search_wanted *wanted = search->wanted;
	struct error why = ERROR_INIT;
	struct record record;
	int fd = record_open(path, search->place, wanted->site, &why);
	int result = fd;

	if (fd >= 0)
		result = read_sound(&record, fd, path, wanted, &why);
	if (result == 0) {
		record_search_consider(search, &record, path);
		record_release(&record);
	} else if (result != -ENOENT) {
		log_warning("record passed over: %s", why.message);
	}
}

static void consider_other(struct search *search, const char *path)
{
	const struct record_search_wanted *wanted = search->wanted;
	struct record record;
	struct stat info;
	int fd = record_open(path, search->place, wanted->site, NULL);

	if (fd < 0)
		return;
	if (fstat(fd, &info) < 0 ||
	    info.st_size > LESS_THAN_EXACT_BYTES - search->bytes) {
		(void)close(fd);
		return;
	}
	assert(search->bytes <= LESS_THAN_EXACT_BYTES);
	search->bytes += info.st_size;
	if (read_sound(&record, fd, path, wanted, NULL) < 0)
		return;
	record_search_consider(search, &record, path);
	record_release(&record);
}

static void search_fitting(struct search *search, const char *folder)
{
	struct strlist paths = STRLIST_INIT;
	struct error why = ERROR_INIT;

	if (record_list_fitting(&paths, folder, search->wanted->identity,
				&why) < 0)
		log_warning("records passed over: %s", why.message);
	for (size_t i = 0; i < paths.count; i++)
		consider_fitting(search, paths.items[i]);
	strlist_release(&paths);
}

/* Those that fit by name were read before, and are few. */
static void search_others(struct search *search, const char *folder)
{
	struct strlist paths = STRLIST_INIT;

	search->bytes = 0;
	/* A folder that cannot be read was told before. */
	(void)record_list(&paths, folder, NULL);
	for (size_t i = 0; i < paths.count && i < LESS_THAN_EXACT_MAX; i++) {
		const char *name = strrchr(paths.items[i], '/') + 1;

		assert(strrchr(paths.items[i], '/') && "a folder and a name");
		if (!record_name_fits(name, search->wanted->identity))
			consider_other(search, paths.items[i]);
	}
	strlist_release(&paths);
}

static void search_folders(struct search *search, const char *const folders[2],
			   void (*pass)(struct search *, const char *))
{
	static const enum record_place places[2] = { RECORD_OWN, RECORD_SITE };

	for (size_t i = 0; i < 2; i++) {
		if (!folders[i])
			continue;
		search->place = places[i];
		pass(search, folders[i]);
	}
}

/* AUTOFIT_SITE, of its records/; NULL: none. The caller frees it. */
static char *site_of(const char *records)
{
	const char *slash = records ? strrchr(records, '/') : NULL;

	if (!slash || slash == records)
		return records ? xstrdup(slash ? "/" : ".") : NULL;
	return xstrndup(records, (size_t)(slash - records));
}

void record_search(struct record_match *match,
		   const struct record_folders *folders, const char *identity,
		   const char *subject)
{
	char *site = site_of(folders->site);
	struct record_search_wanted wanted = { identity, subject, site,
					       (int64_t)time(NULL) };
	struct search search = { .wanted = &wanted, .best = match };
	const char *both[2] = { folders->own, folders->site };

	memset(match, 0, sizeof(*match));
	search_folders(&search, both, search_fitting);
	/* Only those whose name fits can be exact. */
	if (match->grade != RECORD_EXACT)
		search_folders(&search, both, search_others);
	if (match->grade != RECORD_NONE)
		match->difference =
			difference_of(&match->record, &wanted, match->grade);
	assert((match->grade == RECORD_NONE) == !match->path);
	free(site);
}

/* NOLINTNEXTLINE(readability-function-size): a file and a command are six */
int record_match_file(struct record_match *match, const char *path,
		      const char *site, const char *identity,
		      const char *subject, struct error *err)
{
	struct record_search_wanted wanted = { identity, subject, site,
					       (int64_t)time(NULL) };
	int fd = record_open(path, RECORD_GIVEN, site, err);
	int result = fd;

	memset(match, 0, sizeof(*match));
	if (fd >= 0)
		result = read_sound(&match->record, fd, path, &wanted, err);
	if (result < 0)
		return result;
	match->grade = grade_of(&match->record, &wanted);
	match->path = xstrdup(path);
	match->difference =
		difference_of(&match->record, &wanted, match->grade);
	return 0;
}
