/* The recommended config of a command on a device, with all its evidence. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORD_H
#define AUTOFIT_CONFIGS_RECORD_H

#include "base/error.h"
#include "base/strlist.h"
#include "base/trial.h"

#include <stddef.h>
#include <stdint.h>

/* A probe with the words that go with it. */
struct probe_note {
	struct trial trial;
	char *why; /* one line: what the verdict rests on; may be NULL */
	char *log; /* path of its log; may be NULL */
};

struct probe_notes {
	struct probe_note *items;
	size_t count, capacity;
};

/* Both texts are copied. */
void probe_notes_add(struct probe_notes *notes, const struct trial *trial,
		     const char *why, const char *log);
void probe_notes_release(struct probe_notes *notes);
/* The trials alone, count of them; the caller frees the array. */
struct trial *probe_notes_trials(const struct probe_notes *notes);

/* One device as it was when the record was made. */
struct record_device {
	char uuid[80]; /* "" for host memory */
	char name[96];
	uint64_t total_bytes, free_bytes, budget_bytes;
};

#define RECORD_DEVICES_MAX 64

struct record {
	char *id; /* <script>-<device>-<4 hex>, also the file's name */
	/*
	 * Everything an exact repeat must share, as one text: compared in
	 * full, any bytes. subject is what a hint must share (script or
	 * program, preset, device kind).
	 */
	char *identity, *subject;
	struct strlist argv; /* the command as the user gave it */
	char *preset;
	char *device_kind; /* "cuda" or "host" */
	struct record_device devices[RECORD_DEVICES_MAX];
	size_t device_count;
	int64_t effective_batch_asked;
	int64_t micro_batch, grad_accum, world_size, effective_batch;
	int64_t largest_micro_batch;          /* 0: not searched */
	int64_t largest_fit, smallest_misfit; /* 0: none */
	char *misfit_by; /* "probe", "prediction", "limit"; NULL: none */
	uint64_t peak_bytes, limit_bytes, headroom_bytes, budget_bytes;
	enum coverage coverage;
	enum steps_source steps_source;
	int64_t confirmed_steps;
	struct strlist not_exercised, caveats;
	struct probe_notes probes;
	int64_t created; /* seconds since 1970 */
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
/* Writes folder/<id>.ini atomically, 0600, fsynced. */
int record_write(const struct record *record, const char *folder,
		 struct error *err);
void record_release(struct record *record);

/* record->id from script name, device name and identity. */
void record_set_id(struct record *record, const char *script,
		   const char *device);

/*
 * Look in folder for the record with this identity; record is filled and 1 is
 * returned, else 0. Only files whose name can belong are opened.
 */
int record_find(struct record *record, const char *folder, const char *identity,
		struct error *err);

/*
 * The newest record with this subject whose identity differs: a hint. Files
 * that cannot be read are passed over. 1 when there is one, else 0.
 */
int record_find_hint(struct record *record, const char *folder,
		     const char *subject, const char *identity);

/* Paths of all records in folder, newest first. */
int record_list(struct strlist *paths, const char *folder, struct error *err);

#endif
