/* Whose records are used: by owner and by who else may write to them. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record.h"

#include "configs/files/owned_file.h"
#include "configs/records/record_files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The site is named by the user: who owns it is trusted with numbers. */
static void add_site_owner(struct owners *owners, const char *site)
{
	struct stat info;

	if (site && stat(site, &info) == 0 && S_ISDIR(info.st_mode))
		owners->uids[owners->count++] = info.st_uid;
}

static void add_root(struct owners *owners)
{
	owners->uids[owners->count++] = 0;
}

static struct owners owners_for(enum record_place place, const char *site)
{
	struct owners owners = { .count = 0 };

	switch (place) {
	case RECORD_OWN:
		return owners_of_user();
	case RECORD_SITE:
		break;
	case RECORD_GIVEN:
		owners = owners_of_user();
		break;
	}
	add_root(&owners);
	add_site_owner(&owners, site);
	return owners;
}

int record_open(const char *path, enum record_place place, const char *site,
		struct error *err)
{
	struct owners owners = owners_for(place, site);

	return owned_file_open(path, &owners, err);
}

int record_trust(const char *path, enum record_place place, const char *site,
		 struct error *err)
{
	int fd = record_open(path, place, site, err);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}
