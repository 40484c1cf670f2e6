/* What `devices --check` saw and found: data, and words for it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECKED_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECKED_H

#include "base/error.h"
#include "base/strbuf.h"
#include "launcher/devices/devices.h"
#include "probes/observers/selftest/selftest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cap of the self-test, and so the most that it takes of a GPU. */
#define CHECK_CAP_BYTES (1 * GIB)

enum check_state {
	CHECK_GOOD,
	CHECK_NOTE, /* less than there could be; nothing is wrong */
	CHECK_BAD,  /* not as autofit's answers need it */
};

#define CHECK_FINDINGS_MAX 64

struct check_finding {
	enum check_state state;
	const char *name; /* one word */
	char *text;       /* owned */
};

struct check_findings {
	struct check_finding items[CHECK_FINDINGS_MAX];
	size_t count;
};

/* How long NVML takes for a look at all GPUs. */
struct check_latency {
	size_t looks;                        /* 0: it does not answer */
	double median_seconds, slow_seconds; /* 99 of 100 are not slower */
};

/* A run of the self-test; not run: error.code and test.count are 0. */
struct check_run {
	struct selftest test;
	struct error error; /* how it ended before its end */
};

/* A command of the user's, by what was seen of it. */
struct check_command {
	bool is_run;
	struct error error;      /* it could not be */
	int code;                /* of its end, as a shell tells it */
	bool is_counted;         /* the library was in one of its processes */
	uint64_t tracked_bytes;  /* the largest peak of any GPU */
	uint64_t reserved_bytes; /* of torch's own allocator; 0: not known */
	uint64_t refused_count;
};

struct devices_checked {
	struct devices devices;
	char *driver_version; /* of the kernel module; NULL: not known */
	double list_seconds;  /* of the driver and NVML, until the list was */
	struct check_latency nvml;
	bool is_container, is_wsl;
	int kernel_count;          /* GPUs that the kernel module lists */
	bool kernel_order_differs; /* from the driver's */
	size_t tested;  /* place in devices.gpus, if untested is NULL */
	char *untested; /* why no GPU was */
	struct check_run kinds, cap;
	struct check_command command;
	double seconds; /* all of it */
};

/* Pure: what all that means. The caller releases findings. */
void devices_checked_judge(const struct devices_checked *checked,
			   struct check_findings *findings);
void check_findings_release(struct check_findings *findings);

/* Each appends; the object is autofit.devices.check/1, with a newline, and
 * names no host, user or path. */
void devices_checked_text(const struct check_findings *findings,
			  struct strbuf *out);
void devices_checked_json(const struct devices_checked *checked,
			  const struct check_findings *findings,
			  struct strbuf *out);

/* What one kind of allocation showed; 0 where it is not known. */
struct check_allocation {
	uint32_t answer;
	uint64_t asked_bytes, counted_bytes, driver_bytes;
	bool is_taken; /* the rest means something */
	bool has_driver;
	bool is_given_back;
};
struct check_allocation check_allocation_of(const struct selftest *test,
					    enum selftest_kind kind);

/* What the driver keeps for a process with a context; 0: not known. */
uint64_t check_context_bytes(const struct selftest *test);

#endif
