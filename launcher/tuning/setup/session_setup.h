/* What a tuning works with. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SETUP_SESSION_SETUP_H
#define AUTOFIT_LAUNCHER_TUNING_SETUP_SESSION_SETUP_H

#include "configs/records/record.h"
#include "launcher/admission/device_locks.h"
#include "launcher/report/report.h"
#include "launcher/request/memory_target.h"
#include "launcher/request/request.h"
#include "probes/locks/lease.h"

/* All is the caller's. */
struct session_setup {
	const struct request *request;
	struct memory_target *target;
	struct device_locks *guard;
	struct lease *lease;        /* beats meanwhile */
	struct record_match *match; /* near: checked first; hint: the start */
	struct report_style *style; /* its width follows the terminal */
};

#endif
