/* The tables and advice of a published guide, for people and programs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_PROFILE_TABLES_H
#define AUTOFIT_LAUNCHER_ESTIMATE_PROFILE_TABLES_H

#include "base/error.h"
#include "base/profile.h"
#include "base/strbuf.h"
#include "estimator/profiles/profile.h"

#include <jansson.h>

/* Every row of it computes, every name in it is there. */
int profile_check(const struct profile *profile, struct error *err);

/*
 * Reads (configs/profiles/profile.h) and checks. The caller calls
 * profile_release, whatever the result.
 */
int profile_open(struct profile *profile, const char *name, const char *folder,
		 struct error *err);

/*
 * All of a profile that profile_open gave, 80 columns of plain ASCII; and as
 * an object {"profile","description","unit","unit_bytes","tables","advice",
 * "differs"}. The caller frees the text, and decrefs the object.
 */
char *profile_tables_text(const struct profile *profile);
json_t *profile_tables_json(const struct profile *profile);

/*
 * One estimate as a table, and as {"profile","method","unit","unit_bytes",
 * "items","total","verdict","differs"}.
 */
void profile_result_text(struct strbuf *out, const struct profile *profile,
			 const struct profile_result *result);
json_t *profile_result_json(const struct profile *profile,
			    const struct profile_result *result);

/*
 * How a guide's figure and that of physics part, of a PROFILE_DIFFERS section;
 * percent: above (below: negative) physics, NAN where physics is 0. -ENOENT:
 * the section has words only.
 */
struct profile_difference {
	double claimed, physical, percent;
	const char *against; /* "physics", or what else physical is of */
};
int profile_difference(const struct profile_scope *scope,
		       const struct profile_section *section,
		       struct profile_difference *difference,
		       struct error *err);

#endif
