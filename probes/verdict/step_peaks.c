/* How the peak grew from step to step: stable, rising, varying. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/step_peaks.h"

#include <assert.h>

#define VARYING_AFTER 3
/* The first ones still grow; an allocator's last growth may be later yet. */
#define PACE_AFTER 3
#define PACE_OVER 5
/* A trend is what all parts of so many steps agree on, but for this factor:
 * steps that are seen in one look share its peak. */
#define TREND_PARTS 4
#define TREND_STEPS_MIN 4
#define TREND_FACTOR 3

static int64_t known_steps(const struct step_peaks *peaks)
{
	return peaks->steps < STEP_PEAKS_MAX ? peaks->steps : STEP_PEAKS_MAX;
}

void step_peaks_note(struct step_peaks *peaks, int64_t steps,
		     uint64_t peak_bytes, int64_t now_ms)
{
	assert(!peaks->steps || peaks->steps > STEP_PEAKS_MAX ||
	       now_ms >= peaks->ms[peaks->steps - 1]);
	while (peaks->steps < steps) {
		if (peaks->steps >= STEP_PEAKS_MAX) {
			peaks->steps = steps;
			return;
		}
		peaks->bytes[peaks->steps] = peak_bytes;
		peaks->ms[peaks->steps] = now_ms;
		peaks->steps++;
	}
}

bool step_peaks_rose(uint64_t from, uint64_t to,
		     const struct growth_noise *noise)
{
	double allowed = (double)from * noise->share;

	if (allowed < (double)noise->bytes)
		allowed = (double)noise->bytes;
	return to > from && (double)(to - from) >= allowed;
}

bool step_peaks_are_stable(const struct step_peaks *peaks,
			   const struct growth_noise *noise)
{
	int64_t last = known_steps(peaks) - 1;

	if (last < 2)
		return false;
	return !step_peaks_rose(peaks->bytes[last - 2], peaks->bytes[last],
				noise);
}

bool step_peaks_are_rising(const struct step_peaks *peaks,
			   const struct growth_noise *noise)
{
	int64_t count = known_steps(peaks);

	if (count < 3)
		return false;
	return step_peaks_rose(peaks->bytes[count - 1 - count / 3],
			       peaks->bytes[count - 1], noise);
}

uint64_t step_peaks_trend(const struct step_peaks *peaks,
			  const struct growth_noise *noise)
{
	int64_t last = known_steps(peaks) - 1;
	int64_t part = (last - VARYING_AFTER) / TREND_PARTS;
	uint64_t least = UINT64_MAX, most = 0, start, rise;

	if (part < TREND_STEPS_MIN)
		return 0;
	for (int64_t end = last, i = 0; i < TREND_PARTS; i++, end -= part) {
		rise = peaks->bytes[end] - peaks->bytes[end - part];
		least = rise < least ? rise : least;
		most = rise > most ? rise : most;
	}
	start = peaks->bytes[last - TREND_PARTS * part];
	rise = peaks->bytes[last] - start;
	if (rise < noise->bytes ||
	    (double)rise < (double)start * noise->varying_share ||
	    most > TREND_FACTOR * least)
		return 0;
	return rise / (uint64_t)(TREND_PARTS * part);
}

int64_t step_peaks_stand_after(const struct step_peaks *peaks,
			       const struct growth_noise *noise)
{
	int64_t last = known_steps(peaks) - 1;

	for (int64_t step = 2; step <= last; step++)
		if (!step_peaks_rose(peaks->bytes[step - 1], peaks->bytes[last],
				     noise))
			return step;
	return 0;
}

bool step_peaks_would_rise(const struct step_peaks *peaks, int64_t steps,
			   const struct growth_noise *noise)
{
	int64_t last = known_steps(peaks) - 1;
	double base, rise;

	if (last < PACE_AFTER + PACE_OVER - 1)
		return true;
	base = (double)peaks->bytes[last - PACE_OVER];
	rise = ((double)peaks->bytes[last] - base) * (double)steps / PACE_OVER;
	return rise > 0 && rise >= base * noise->share &&
	       rise >= (double)noise->bytes;
}

bool step_peaks_are_varying(const struct step_peaks *peaks,
			    const struct growth_noise *noise)
{
	int jumps = 0;

	for (int64_t i = VARYING_AFTER; i < known_steps(peaks); i++)
		jumps += (double)peaks->bytes[i] >
			 (double)peaks->bytes[i - 1] *
				 (1 + noise->varying_share);
	return jumps >= noise->varying_jumps;
}
