/* The likely family of a model of which only numbers are known. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_FAMILY_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_FAMILY_H

#include "base/model_facts.h"
#include "base/strlist.h"

/*
 * That of facts, else the one that goes with the numbers; what is taken is
 * added to assumed. MODEL_UNKNOWN where only the parameters are known: the
 * estimator has a usual shape for each size.
 */
enum model_family estimate_family(const struct model_facts *facts,
				  struct strlist *assumed);

#endif
