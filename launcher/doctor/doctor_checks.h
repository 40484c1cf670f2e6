/* What the checks of a doctor found, line by line. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DOCTOR_DOCTOR_CHECKS_H
#define AUTOFIT_LAUNCHER_DOCTOR_DOCTOR_CHECKS_H

#include "base/strbuf.h"
#include "base/strlist.h"
#include "configs/files/paths.h"
#include "launcher/options/options.h"
#include "probes/process/process_state.h"

#include <stdbool.h>

enum finding {
	FINDING_GOOD,
	FINDING_NOTE, /* less than there could be; nothing is wrong */
	FINDING_BAD,  /* needs the remedy that the text names */
};

struct doctor {
	const struct options *options;
	const struct process_state *state;
	const struct strlist *environment;
	struct paths paths;
	struct strbuf out;
	bool has_bad;
};

/* "bad   site        TEXT": one line, whatever the text holds. */
void doctor_add(struct doctor *doctor, enum finding finding, const char *what,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Each adds a line or more. */
typedef void doctor_check(struct doctor *doctor);
doctor_check doctor_check_site, doctor_check_clock;

#endif
