/* Curves of memory: what a training takes at a micro-batch, real or made up. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_CURVE_H
#define AUTOFIT_TESTS_UNIT_CURVE_H

#include "base/units.h"
#include "search/memory_line.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An answer may be below the exact one by so much, where it is above 64. */
#define TOLERANCE 0.02

/* What one program takes at a size, in KiB: a row of tests/data/curves.csv. */
struct curve_point {
	int64_t micro;
	double peak, rest, forward;
};

#define CURVE_POINTS_MAX 32
#define CURVE_NAME_MAX 64

struct curve_record {
	char name[CURVE_NAME_MAX]; /* program and version of torch */
	struct curve_point points[CURVE_POINTS_MAX]; /* micro ascending */
	size_t count;
	/* Of the size that was probed again: half of what its peaks differ. */
	double noise;
};

struct curve {
	const struct curve_record *record; /* NULL: the next ones make it up */
	double fixed, per_sample, power;
	/* Of the fixed bytes, those that are there only within a step. */
	double transient_share;
	/* Share of the fixed bytes that gradients take at the end of a step,
	 * when what the samples take is gone: the larger is the peak. */
	double gradients;
	uint64_t rounding; /* the allocator's blocks */
	/* The rise of the peak, to what a forward pass leaves. */
	double backward;

	double noise; /* share of the peak, either way, of a repetition */
	double estimate_error_fixed, estimate_error_slope;
	int64_t effective_batch; /* 0: any size may be the answer */
	int64_t start;
	uint64_t limit;
	bool is_host; /* no leaps beyond four times what fitted */
};

static uint64_t random_state;

static double draw(double low, double high)
{
	random_state = random_state * UINT64_C(6364136223846793005) +
		       UINT64_C(1442695040888963407);
	return low + (high - low) * ((double)(random_state >> 11) / 0x1p53);
}

static double draw_log(double low, double high)
{
	return exp(draw(log(low), log(high)));
}

static bool draw_chance(double chance)
{
	return draw(0, 1) < chance;
}

static int64_t draw_effective_batch(void)
{
	static const int64_t effective[] = { 0,   0,   32,  48,  64,  96,  128,
					     240, 256, 384, 480, 512, 1000 };

	return effective[(size_t)draw(0, 13)];
}

/* What a user runs mostly fits. */
static int64_t smaller_start(int64_t start, double answer)
{
	while (start > 1 && (double)start > answer && draw_chance(0.75))
		start /= 2;
	return start;
}

/*
 * Made up. Limits from 500 MiB to 80 GiB, answers from 1 to 512. At the answer
 * the samples take from a tenth to nine tenths of the limit, as in the
 * published measurements of tests/data/measurements; one in ten less. One curve
 * in four bends upwards, one in four comes in blocks of 20 MiB, one in four has
 * bytes that are there only within a step, half are flat until the samples take
 * more than the gradients, and half of the trainings repeat their peak only to
 * 1%.
 */
static struct curve draw_curve(double backward_low, double backward_high)
{
	struct curve curve = { .power = 1 };
	double answer, share, limit;

	/* One after the other: the order of draws is part of the seed. */
	if (draw_chance(0.25))
		curve.power = draw(1, 1.15);
	if (draw_chance(0.25))
		curve.transient_share = draw(0, 0.2);
	if (draw_chance(0.5))
		curve.noise = draw(0, 0.01);
	curve.rounding = draw_chance(0.25) ? 20 * MIB : 2 * MIB;
	curve.backward = draw_log(backward_low, backward_high);
	curve.estimate_error_fixed = draw(0.75, 1.2);
	curve.estimate_error_slope = draw(0.75, 1.2);
	curve.effective_batch = draw_effective_batch();
	curve.start = INT64_C(1) << (int)draw(0, 6);
	curve.is_host = draw_chance(0.5);
	answer = draw_log(1, 513);
	share = draw_chance(0.1) ? draw(0.01, 0.1) : draw(0.1, 0.9);
	limit = draw_log(0.5, 80) * (double)GIB;
	curve.start = smaller_start(curve.start, answer);
	curve.limit = (uint64_t)limit;
	curve.fixed = limit * (1 - share);
	curve.per_sample = limit * share / pow(answer, curve.power);
	if (draw_chance(0.5))
		curve.gradients = fmin(draw(0.1, 0.33), share / (1 - share));
	return curve;
}

/* Between two sizes of a record, and beyond its ends, memory is a line. */
static struct curve_point record_at(const struct curve_record *record,
				    double micro)
{
	const struct curve_point *low = record->points;
	double share;

	assert(record->count >= 2);
	while (low < record->points + record->count - 2 &&
	       (double)low[1].micro <= micro)
		low++;
	share = (micro - (double)low[0].micro) /
		(double)(low[1].micro - low[0].micro);
	return (struct curve_point){
		.peak = low[0].peak + share * (low[1].peak - low[0].peak),
		.rest = low[0].rest + share * (low[1].rest - low[0].rest),
		.forward = low[0].forward +
			   share * (low[1].forward - low[0].forward),
	};
}

/* A recorded program under a limit that lies at any of its sizes. */
static struct curve draw_recorded(const struct curve_record *record)
{
	double largest = (double)record->points[record->count - 1].micro;
	double answer = draw_log(1, largest);
	struct curve_point there = record_at(record, answer);
	struct curve curve = {
		.record = record,
		.noise = record->noise,
		.limit = (uint64_t)there.peak * KIB,
		.fixed = there.rest * (double)KIB,
		.per_sample = (there.peak - there.rest) * (double)KIB / answer,
		.is_host = true,
	};

	curve.estimate_error_fixed = draw(0.75, 1.2);
	curve.estimate_error_slope = draw(0.75, 1.2);
	curve.effective_batch = draw_effective_batch();
	curve.start = smaller_start(INT64_C(1) << (int)draw(0, 6), answer);
	return curve;
}

static double samples_of(const struct curve *curve, int64_t micro)
{
	return curve->per_sample * pow((double)micro, curve->power);
}

static uint64_t peak_of(const struct curve *curve, int64_t micro, double noise)
{
	double peak;
	uint64_t blocks;

	if (curve->record)
		return (uint64_t)(record_at(curve->record, (double)micro).peak *
				  noise) *
		       KIB;
	peak = curve->fixed + fmax(samples_of(curve, micro),
				   0.95 * curve->gradients * curve->fixed);
	blocks = (uint64_t)(peak * noise) / curve->rounding + 1;
	return blocks * curve->rounding;
}

static uint64_t rest_of(const struct curve *curve, int64_t micro)
{
	if (curve->record)
		return (uint64_t)record_at(curve->record, (double)micro).rest *
		       KIB;
	return (uint64_t)(curve->fixed * (1 - curve->transient_share));
}

static uint64_t forward_of(const struct curve *curve, int64_t micro)
{
	if (curve->record)
		return (uint64_t)record_at(curve->record, (double)micro)
			       .forward *
		       KIB;
	return (uint64_t)(samples_of(curve, micro) / curve->backward);
}

/* Nobody recorded it. Of repeated runs on a CPU it differs by up to 6%. */
static uint64_t pass_of(const struct curve *curve, int64_t micro)
{
	if (curve->record)
		return 0;
	return (uint64_t)(samples_of(curve, micro) * draw(0.95, 1.05));
}

/* The sizes that can be the answer; 0 ends them. */
static int64_t next_size(const struct curve *curve, int64_t micro)
{
	int64_t last = curve->effective_batch ? curve->effective_batch : 4096;

	while (++micro <= last)
		if (!curve->effective_batch ||
		    curve->effective_batch % micro == 0)
			return micro;
	return 0;
}

/*
 * The smallest and largest answer that is right: between them lies noise, and
 * what fits again above a size that does not, be it one that can be the answer
 * or not: what a recorded run took less than smaller sizes is noise as well.
 */
static void right_answers(const struct curve *curve, int64_t *low,
			  int64_t *high)
{
	double noise = curve->noise + MEMORY_LINE_NOISE_SHARE;
	int64_t fits = 0; /* and so does all below it */

	*low = *high = 0;
	for (int64_t micro = next_size(curve, 0); micro;
	     micro = next_size(curve, micro)) {
		while (fits < micro &&
		       peak_of(curve, fits + 1, 1 + curve->noise) <=
			       curve->limit)
			fits++;
		if (fits == micro)
			*low = micro;
		if (peak_of(curve, micro, 1 - noise) <= curve->limit)
			*high = micro;
	}
	if (!curve->effective_batch && *low > 64)
		*low = (int64_t)((double)*low / (1 + TOLERANCE));
}

/* Half of what the peaks of one size differ, as a share. */
static void curve_note_again(struct curve_record *record, double first,
			     const struct curve_point *again)
{
	double half = fabs(again->peak - first) / (again->peak + first);

	record->noise = fmax(record->noise, half);
}

/* "NAME,NAME,number,...": the names stay, the numbers become the point. */
static struct curve_point read_point(char *line)
{
	char *at = strchr(line, ',');
	double numbers[4] = { 0 };

	at = at ? strchr(at + 1, ',') : NULL;
	if (!at)
		abort();
	*at = '\0';
	for (size_t i = 0; i < 4; i++) {
		char *number = at + 1;

		numbers[i] = strtod(number, &at);
		if (at == number || *at != (i < 3 ? ',' : '\n'))
			abort();
	}
	return (struct curve_point){ (int64_t)numbers[0], numbers[1],
				     numbers[2], numbers[3] };
}

static void add_point(struct curve_record *record,
		      const struct curve_point *point)
{
	struct curve_point *points = record->points;
	size_t count = record->count;

	if (count && points[count - 1].micro == point->micro)
		curve_note_again(record, points[count - 1].peak, point);
	else if (count < CURVE_POINTS_MAX)
		points[record->count++] = *point;
	else
		abort();
}

/* tests/data/curves.csv; how many there are, one or more. */
static size_t read_records(struct curve_record *records, size_t max)
{
	FILE *file = fopen(TEST_SOURCE_DIR "/tests/data/curves.csv", "re");
	char line[256];
	size_t count = 0;

	while (file && fgets(line, sizeof(line), file)) {
		struct curve_point point;

		if (*line == '#')
			continue;
		point = read_point(line);
		if (!count || strcmp(records[count - 1].name, line) != 0) {
			if (count == max || strlen(line) >= CURVE_NAME_MAX)
				abort();
			memcpy(records[count++].name, line, strlen(line) + 1);
		}
		add_point(&records[count - 1], &point);
	}
	if (!count)
		abort();
	(void)fclose(file);
	return count;
}

#endif
