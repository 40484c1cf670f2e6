/* Frames of a traceback, in plain lines or in the boxes of rich. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_FRAMES_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_FRAMES_H

#include "base/span.h"
#include "probes/output/failure.h"

/* A line of the traceback under way; none is kept while two are mixed. */
void failure_frames_add(struct failure_source *source, struct span line);

/* A line within a box: its frames are kept. False: it is of no box. */
bool failure_frames_box(struct failure_source *source, struct span line);

/* How wide it is drawn, where no character is of two columns. */
size_t failure_frames_columns(struct span line);

#endif
