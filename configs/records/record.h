/* The recommended config of a command on a device, with all its evidence. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_H

#include "base/batch.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/trial.h"
#include "configs/identity/identity_text.h"
#include "configs/records/record_settings.h"

#include <stddef.h>
#include <stdint.h>

/* A probe with the words that go with it. */
struct probe_note {
	struct trial trial;
	char *why; /* one line: what the verdict rests on; may be NULL */
	char *log; /* path of its log; may be NULL */
	/* The GPU it ran on, where that is another than the command's own: its
	 * UUID; "": it is not. */
	char gpu[80];
	/* Probes with the same number ran side by side; 0: it ran alone. */
	int64_t round;
};

struct probe_notes {
	struct probe_note *items;
	size_t count, capacity;
};

/* One that ran alone, on the record's own devices. Both texts are copied. */
void probe_notes_add(struct probe_notes *notes, const struct trial *trial,
		     const char *why, const char *log);
/* Any, with all that belongs to it. */
void probe_notes_copy(struct probe_notes *notes, const struct probe_note *note);
void probe_notes_release(struct probe_notes *notes);
/* The last trial of this size, which is the one that counts; NULL: none. */
const struct trial *probe_notes_last(const struct probe_notes *notes,
				     int64_t micro_batch);
/* The trials alone, count of them; the caller frees the array. */
struct trial *probe_notes_trials(const struct probe_notes *notes);
/* The largest size that was run and fits, below every misfit; of a micro-batch
 * above 0 the one of that size. NULL: none. */
const struct trial *probe_notes_fitting(const struct probe_notes *notes,
					int64_t micro);
/* Is there a size whose verdict another start need not ask for again? */
bool probe_notes_can_resume(const struct probe_notes *notes);

/* One device as it was when the record was made. */
struct record_device {
	char uuid[80]; /* "" for host memory */
	char name[96];
	uint64_t total_bytes, free_bytes, budget_bytes;
	char emulated_as[96]; /* what it stood in for; "": itself */
};

#define RECORD_DEVICES_MAX 64

struct record {
	char *id; /* <script>-<device>-<4 hex>, also the file's name */
	/*
	 * Everything an exact repeat must share, see identity_text.h: compared
	 * in full. subject is what a hint must share (script or program,
	 * preset). stamps: files that the probes had imported, see stamps.h.
	 */
	char *identity, *subject;
	struct strlist stamps;
	struct strlist argv; /* as the user gave it, secrets masked */
	char *preset;
	char *device_kind; /* "cuda", "host" or "phantom" */
	struct record_device devices[RECORD_DEVICES_MAX];
	size_t device_count;
	int64_t effective_batch_asked;
	struct batch batch;                   /* the recommended split */
	int64_t largest_micro_batch;          /* 0: not searched */
	int64_t largest_fit, smallest_misfit; /* 0: none */
	char *misfit_by; /* "probe", "prediction", "limit"; NULL: none */
	uint64_t peak_bytes, limit_bytes, headroom_bytes, budget_bytes;
	enum coverage coverage;
	enum steps_source steps_source;
	int64_t confirmed_steps;
	/* And backward passes after the first of them, where a confirmation
	 * counted those as steps; 0: it did not. */
	int64_t confirmed_passes;
	char *isolation; /* of the probes: isolation_name(); NULL: not known */
	int64_t lowered_from; /* micro that ran out of memory later; 0: none */
	struct strlist not_exercised, caveats;
	/* Paths of the config files that the recommended command reads. */
	struct strlist copies;
	struct probe_notes probes;
	/* The command's own split, which one of the probes may have run. */
	int64_t own_micro_batch, own_grad_accum; /* 0: not known */
	/*
	 * The recommended split as data, for exports; of nothing here more than
	 * numbers is used by autofit itself. The command has secrets masked;
	 * it is empty where only the sizes are known.
	 */
	struct record_settings settings;
	struct strlist recommended_argv, recommended_env;
	char *host;              /* where the probes ran; NULL: not known */
	struct strlist versions; /* "torch 2.9.0", "driver 550.54.14" */
	int64_t created;         /* seconds since 1970 */
	char *autofit_version;
};

#define RECORD_INIT                                                            \
	{                                                                      \
		0                                                              \
	}

/*
 * One INI file per record. Any text round-trips: percent-escaped pieces of at
 * most 160 bytes on continuation lines; each argument begins with its byte
 * length, which is checked when it is read. Whatever is wrong in a file is
 * -EINVAL with "path:line: ..."; a record is all there or it is an error.
 */
int record_read(struct record *record, const char *path, struct error *err);
/* The same for text that was read already; name is for messages. */
int record_parse(struct record *record, const char *name,
		 const struct strbuf *text, struct error *err);
/* Writes folder/<id>.ini atomically, 0600, fsynced. */
int record_write(const struct record *record, const char *folder,
		 struct error *err);
/* The same for a folder that everybody reads: 0644, the folder 0755. */
int record_publish(const struct record *record, const char *folder,
		   struct error *err);
/* Append the text of that file: ASCII, whatever the record's texts hold. */
int record_format(const struct record *record, struct strbuf *out,
		  struct error *err);
void record_release(struct record *record);

/* Its probes ran on a card that is not there. */
bool record_is_phantom(const struct record *record);

/* Appends "confirmed over 6 steps", with the passes that counted as steps. */
void record_add_confirmation(const struct record *record, struct strbuf *out);

/* record->id from script name, device name and identity. */
void record_set_id(struct record *record, const char *script,
		   const char *device);

/* Whose a record is, and so whom it must belong to. */
enum record_place {
	RECORD_OWN,   /* the user's own folder: the user */
	RECORD_SITE,  /* AUTOFIT_SITE: the owner of that folder, or root */
	RECORD_GIVEN, /* --from, import: the user, root, the site's owner */
};

/*
 * May numbers of this file be used? -EPERM with one clear line when it, or its
 * folder, belongs to the wrong user or others may write to it (group: unless
 * the group is the owner's own); -EINVAL when it is no regular file. site is
 * AUTOFIT_SITE or NULL.
 */
int record_trust(const char *path, enum record_place place, const char *site,
		 struct error *err);

/*
 * The folders to search, in this order: the user's own, AUTOFIT_SITE/records
 * (NULL: none).
 */
struct record_folders {
	const char *own, *site;
};

/* A record for a command; the caller releases it. */
struct record_match {
	enum record_grade grade; /* RECORD_NONE: all else is empty */
	struct record record;
	char *path;
	char *difference; /* for the user; "" when exact */
};

/*
 * The best record of the subject: by grade, then the newest, be it own or the
 * site's; but an own one that was lowered stays before the site's. An exact one
 * whose stamps do not hold is near. Files that cannot be trusted, are damaged
 * or lie in the future (more than a day) are passed over, with one warning each
 * for those whose name fits the identity. At most 200 of each folder are read
 * for less than exact.
 */
void record_search(struct record_match *match,
		   const struct record_folders *folders, const char *identity,
		   const char *subject);
/* The same question for one file, as --from names it: -errno, or 0. */
int record_match_file(struct record_match *match, const char *path,
		      const char *site, const char *identity,
		      const char *subject, struct error *err);
void record_match_release(struct record_match *match);

/* Paths of all records in folder, newest first. */
int record_list(struct strlist *paths, const char *folder, struct error *err);

#endif
