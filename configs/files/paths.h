/* Where the user's files are: XDG, or all below AUTOFIT_HOME. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_PATHS_H
#define AUTOFIT_CONFIGS_FILES_PATHS_H

#include "base/error.h"
#include "base/strlist.h"

/* All absolute, owned by the struct; folders are made when first used. */
struct paths {
	char *config;  /* presets/ signatures/ autofit.ini of the user */
	char *records; /* 0700, as all of these */
	char *journals;
	char *locks;
	char *leases;   /* one tuning per identity, see probes/locks/lease.h */
	char *starts;   /* splits of runs under way, see starts.h */
	char *meanings; /* see launcher/request/seen_store.h */
	char *copies;   /* config files of runs, see
			   launcher/request/config_copies.h */
	char *logs;     /* one folder per tuning, the last 20 are kept */
	char *site;     /* AUTOFIT_SITE: records/, autofit.ini; NULL: none */
	char *scratch;  /* probes' scratch folders are made here */
};

/*
 * From the environment (NAME=value items): AUTOFIT_HOME, else XDG_CONFIG_HOME,
 * XDG_STATE_HOME, XDG_CACHE_HOME, HOME; relative values are passed over, as
 * XDG asks, with a warning where the name is autofit's. -ENOENT when there is
 * no HOME either.
 */
int paths_find(struct paths *paths, const struct strlist *environment,
	       struct error *err);
/* mkdir -p with 0700; an existing folder of another owner is -EPERM. */
int paths_make(const char *folder, struct error *err);

/* Keep the newest `keep` folders in folder, remove the others whole. */
void paths_prune(const char *folder, size_t keep);
/* Remove the files in folder that were not written for so many days. */
void paths_remove_old(const char *folder, int days);
/* Remove a folder and all in it; follows no links, and enters no mount: what
 * a program mounted in it is unmounted first, where that is allowed. */
void paths_remove_tree(const char *folder);
void paths_release(struct paths *paths);

#endif
