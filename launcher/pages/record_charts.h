/* The charts of a record: memory, speed, and the probes in time. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_RECORD_CHARTS_H
#define AUTOFIT_LAUNCHER_PAGES_RECORD_CHARTS_H

#include "configs/records/record.h"
#include "launcher/pages/chart.h"

/* Peaks against the micro-batch, with the memory line, limit and budget. */
void record_chart_memory(const struct record *record, struct chart *chart);
/* Samples per second of those that fit. */
void record_chart_speed(const struct record *record, struct chart *chart);
/* x is how long each probe took, in the order in which they ran. */
void record_chart_time(const struct record *record, struct chart *chart);

#endif
