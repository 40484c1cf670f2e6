/* How the peak grew from step to step: stable, rising, varying. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/step_peaks.h"

#define WARM_UP_STEPS 2
#define VARYING_AFTER 3

static int64_t known_steps(const struct step_peaks *peaks)
{
	return peaks->steps < STEP_PEAKS_MAX ? peaks->steps : STEP_PEAKS_MAX;
}

void step_peaks_note(struct step_peaks *peaks, int64_t steps,
		     uint64_t peak_bytes, int64_t now_ms)
{
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

static bool rose(uint64_t from, uint64_t to, const struct growth_noise *noise)
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
	return !rose(peaks->bytes[last - 2], peaks->bytes[last], noise);
}

bool step_peaks_are_rising(const struct step_peaks *peaks,
			   const struct growth_noise *noise)
{
	int64_t count = known_steps(peaks);

	if (count < 3)
		return false;
	return rose(peaks->bytes[count - 1 - count / 3],
		    peaks->bytes[count - 1], noise);
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

/* Steps that were seen in one look share their time: count them together. */
double step_peaks_median_seconds(const struct step_peaks *peaks)
{
	int64_t count = known_steps(peaks);
	int64_t first = count > WARM_UP_STEPS + 1 ? WARM_UP_STEPS : 0;
	int64_t smaller;

	if (count - first < 2)
		return 0;
	if (peaks->ms[count - 1] - peaks->ms[first] < (count - first) * 40)
		return (double)(peaks->ms[count - 1] - peaks->ms[first]) /
		       (double)(count - 1 - first) / 1000;
	for (int64_t i = first + 1; i < count; i++) {
		int64_t took = peaks->ms[i] - peaks->ms[i - 1];

		smaller = 0;
		for (int64_t k = first + 1; k < count; k++)
			if (peaks->ms[k] - peaks->ms[k - 1] < took ||
			    (peaks->ms[k] - peaks->ms[k - 1] == took && k < i))
				smaller++;
		if (smaller == (count - first - 1) / 2)
			return (double)took / 1000;
	}
	return 0;
}
