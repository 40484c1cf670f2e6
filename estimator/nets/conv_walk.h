/* An image on its way through a network of convolutions. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_NETS_CONV_WALK_H
#define AUTOFIT_ESTIMATOR_NETS_CONV_WALK_H

#include "base/model_facts.h"
#include "estimator/nets/conv.h"

#include <stdint.h>

/* How far the image has come. */
struct conv_walk {
	const struct model_facts *facts;
	struct conv_totals *totals;
	int64_t channels, side;
	int64_t beside; /* elements of what a block adds at its end */
};

/* Elements of what comes out now. */
int64_t conv_plane(const struct conv_walk *walk);
/* So many tensors as large as that are kept. */
void conv_keep(struct conv_walk *walk, int64_t tensors);
/* One block of the step's kind: what it counts and keeps goes into the totals,
 * and the walk stands behind it. */
void conv_walk_step(struct conv_walk *walk, const struct conv_step *step);

#endif
