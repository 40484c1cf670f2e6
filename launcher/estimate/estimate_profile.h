/* autofit estimate --profile and --tables. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_PROFILE_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_PROFILE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "launcher/estimate/estimate_case.h"

#include <jansson.h>

/*
 * Appends what the guide says, and puts "profile" into the object; null where
 * none was asked for. Negative: there is no such guide, or it has no answer.
 */
int estimate_profile(struct strbuf *out, json_t *root,
		     const struct estimate_case *all, struct error *err);

#endif
