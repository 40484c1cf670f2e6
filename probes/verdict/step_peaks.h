/* How the peak grew from step to step: stable, rising, varying. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_STEP_PEAKS_H
#define AUTOFIT_PROBES_VERDICT_STEP_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Later steps are not told apart; their peak is still watched. */
#define STEP_PEAKS_MAX 1024

/* The peak so far when each step was first seen, and when that was. */
struct step_peaks {
	uint64_t bytes[STEP_PEAKS_MAX]; /* bytes[k]: after step k + 1 */
	int64_t ms[STEP_PEAKS_MAX];
	int64_t steps;
};

/*
 * Growth that is noise: the larger of a share and a number of bytes. Steps
 * after the third that raise the peak by more than varying_share, as many of
 * them as varying_jumps, are not noise but data that vary.
 */
struct growth_noise {
	double share;
	uint64_t bytes;
	double varying_share;
	int varying_jumps;
	/* Backward passes after which a peak is near its largest: what malloc
	 * holds of freed memory creeps up from pass to pass. */
	int64_t settling_passes;
};

/* The count of steps rose to steps at now_ms, with this peak so far. A count
 * that falls is ignored. */
void step_peaks_note(struct step_peaks *peaks, int64_t steps,
		     uint64_t peak_bytes, int64_t now_ms);

/* The peak rose by at least the noise. */
bool step_peaks_rose(uint64_t from, uint64_t to,
		     const struct growth_noise *noise);

/* The last two steps raised the peak by less than the noise. */
bool step_peaks_are_stable(const struct step_peaks *peaks,
			   const struct growth_noise *noise);

/* It still rose by more than the noise in the last third of the steps. */
bool step_peaks_are_rising(const struct step_peaks *peaks,
			   const struct growth_noise *noise);

/*
 * Bytes that every step adds, where each quarter of the steps after the first
 * few added about as much, and together more than data that vary: what grows
 * with the largest sample so far grows ever more seldom. 0: there is no such
 * trend, or it cannot be told yet.
 */
uint64_t step_peaks_trend(const struct step_peaks *peaks,
			  const struct growth_noise *noise);

/* The first of the steps from the second on after which it rose by less than
 * the noise; 0: none, or none came later to tell. */
int64_t step_peaks_stand_after(const struct step_peaks *peaks,
			       const struct growth_noise *noise);

/*
 * Its rise over the last five steps, none of them the first three, is above the
 * noise were it to go on at that pace for so many steps; true: too few to tell.
 */
bool step_peaks_would_rise(const struct step_peaks *peaks, int64_t steps,
			   const struct growth_noise *noise);

/* The data vary: see struct growth_noise. */
bool step_peaks_are_varying(const struct step_peaks *peaks,
			    const struct growth_noise *noise);

#endif
