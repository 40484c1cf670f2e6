/* The folder that a site publishes into, as its users see it. */
/* SPDX-License-Identifier: MIT */
#include "launcher/doctor/doctor_checks.h"

#include "base/alloc.h"
#include "configs/records/record.h"
#include "configs/records/record_files.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SITE "site"
/* Of a large site; a sample says as much. */
#define RECORDS_LOOKED_AT 200
#define CLOCK_SECONDS_MAX 60
#define RECORD_FUTURE_SECONDS (INT64_C(24) * 3600)

static const char *owner_name(uid_t owner)
{
	const struct passwd *entry = getpwuid(owner);

	return entry ? entry->pw_name : "a user without a name";
}

struct site_records {
	size_t good, refused, future;
	struct error first; /* why the first one is refused */
};

static void look_at_record(struct site_records *records, const char *path,
			   const char *site)
{
	struct error err = ERROR_INIT;
	struct record record;
	int fd = record_open(path, RECORD_SITE, site, &err);
	int result = fd < 0 ? fd : record_read_open(&record, fd, path, &err);

	if (result < 0) {
		if (!records->refused++)
			records->first = err;
		return;
	}
	if (record.created > (int64_t)time(NULL) + RECORD_FUTURE_SECONDS)
		records->future++;
	else
		records->good++;
	record_release(&record);
}

static void check_records(struct doctor *doctor, const char *folder)
{
	struct site_records records = { .good = 0 };
	struct strlist paths = STRLIST_INIT;
	struct error err = ERROR_INIT;

	if (record_list(&paths, folder, &err) < 0)
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%s: let all read it: chmod a+rx", err.message);
	for (size_t i = 0; i < paths.count && i < RECORDS_LOOKED_AT; i++)
		look_at_record(&records, paths.items[i], doctor->paths.site);
	if (!err.code)
		doctor_add(doctor, paths.count ? FINDING_GOOD : FINDING_NOTE,
			   SITE, "%zu records in %s, %zu of %zu can be used",
			   paths.count, folder, records.good,
			   records.good + records.refused + records.future);
	if (records.refused)
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%zu records are not used, the first: %s; publish "
			   "them again as the owner of %s",
			   records.refused, records.first.message,
			   doctor->paths.site);
	if (records.future)
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%zu records are from the future: set the clock of "
			   "the machine that published them, or of this one",
			   records.future);
	strlist_release(&paths);
}

/* A folder that others may write to gives everybody's numbers to everybody. */
static bool check_site_folder(struct doctor *doctor, const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode)) {
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%s: %s; make it, or name another in AUTOFIT_SITE",
			   path,
			   errno == ENOENT ? "is not there" : "is no folder");
		return false;
	}
	if (info.st_mode & (S_IWGRP | S_IWOTH))
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%s may be written to by others than %s, so its "
			   "records are not used: chmod go-w %s",
			   path, owner_name(info.st_uid), path);
	else if (access(path, R_OK | X_OK) < 0)
		doctor_add(doctor, FINDING_BAD, SITE,
			   "%s may not be read: chmod a+rx %s", path, path);
	else
		doctor_add(doctor, FINDING_GOOD, SITE, "%s, of %s%s", path,
			   owner_name(info.st_uid),
			   info.st_uid == getuid() ? ", who is you: you may "
						     "publish"
						   : ", who may publish");
	return true;
}

void doctor_check_site(struct doctor *doctor)
{
	const char *site = doctor->paths.site;
	struct stat info;
	char *folder;

	if (!site) {
		doctor_add(doctor, FINDING_NOTE, SITE,
			   "AUTOFIT_SITE is not set: published records are not "
			   "used");
		return;
	}
	folder = xasprintf("%s/records", site);
	if (check_site_folder(doctor, site)) {
		if (stat(folder, &info) < 0 && errno == ENOENT)
			doctor_add(doctor, FINDING_NOTE, SITE,
				   "nothing is published in %s yet: autofit "
				   "nightly with publish = %s",
				   site, site);
		else if (check_site_folder(doctor, folder))
			check_records(doctor, folder);
	}
	free(folder);
}

/* The newest file that this machine can make says what time it is there. */
void doctor_check_clock(struct doctor *doctor)
{
	char *path = xasprintf("%s/.doctor-XXXXXX", doctor->paths.records);
	int fd = mkstemp(path);
	int64_t apart = 0;
	struct stat info;

	if (fd < 0) {
		doctor_add(doctor, FINDING_NOTE, "clock",
			   "not compared: %s cannot be written",
			   doctor->paths.records);
	} else {
		if (fstat(fd, &info) == 0)
			apart = (int64_t)time(NULL) - (int64_t)info.st_mtime;
		(void)unlink(path);
		(void)close(fd);
		if (apart > CLOCK_SECONDS_MAX || apart < -CLOCK_SECONDS_MAX)
			doctor_add(doctor, FINDING_BAD, "clock",
				   "%lld seconds from the file server's: "
				   "let both follow a time server",
				   (long long)apart);
		else
			doctor_add(doctor, FINDING_GOOD, "clock",
				   "as the file system's, within a minute");
	}
	free(path);
}
