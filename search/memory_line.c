/* The memory line: peak bytes as fixed + per_sample x micro-batch. */
/* SPDX-License-Identifier: MIT */
#include "search/memory_line.h"

#include "base/units.h"

#include <assert.h>

uint64_t memory_line_noise(uint64_t peak_bytes)
{
	uint64_t share =
		(uint64_t)(MEMORY_LINE_NOISE_SHARE * (double)peak_bytes);

	return share > MEMORY_LINE_NOISE_BYTES ? share
					       : MEMORY_LINE_NOISE_BYTES;
}

/* Two peaks are on any line. A third that is near it may be so by chance. */
#define ON_LINE_MIN 3
#define DOUBT_TIMES 4

/* Converts to whole bytes; what is beyond the type becomes its largest. */
static uint64_t line_bytes(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

/* The point of the largest size; of equal sizes the larger peak. */
static const struct trial *largest_size(const struct trial *trials,
					size_t count)
{
	const struct trial *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (!trial_is_point(trial) || trial->micro_batch < 1)
			continue;
		if (!best || trial->micro_batch > best->micro_batch ||
		    (trial->micro_batch == best->micro_batch &&
		     trial->peak_bytes > best->peak_bytes))
			best = trial;
	}
	return best;
}

/*
 * Two sizes this near each other, as a share of the larger one, give a slope
 * that is mostly noise: a point further off is taken, where there is one.
 */
#define NEAR_SHARE 0.75

/* The largest peak; with `above` only of smaller sizes, and so far below it. */
static const struct trial *largest_peak(const struct trial *trials,
					size_t count, const struct trial *above,
					uint64_t apart, int64_t micro_max)
{
	const struct trial *best = NULL;

	assert(!above || micro_max < above->micro_batch);
	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (!trial_is_point(trial) || trial->micro_batch < 1)
			continue;
		if (above && (trial->micro_batch > micro_max ||
			      trial->peak_bytes >= above->peak_bytes ||
			      above->peak_bytes - trial->peak_bytes <= apart))
			continue;
		if (!best || trial->peak_bytes > best->peak_bytes)
			best = trial;
	}
	return best;
}

static bool is_over_memory(const struct trial *trial)
{
	return trial->verdict == VERDICT_OVER_BUDGET ||
	       trial_is_out_of_memory(trial);
}

/* A size ran out of memory though the line let it fit. */
static bool is_refuted(const struct memory_line *line,
		       const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];
		uint64_t needed =
			bytes_max(trial->peak_bytes, trial->limit_bytes);

		if (is_over_memory(trial) &&
		    memory_line_peak(line, trial->micro_batch) < needed)
			return true;
	}
	return false;
}

static struct memory_line line_of(const struct trial *low,
				  const struct trial *high, double more)
{
	struct memory_line line = { .points = 2 };

	assert(high->micro_batch > low->micro_batch);
	assert(high->peak_bytes >= low->peak_bytes);
	line.bytes_per_sample =
		((double)(high->peak_bytes - low->peak_bytes) + more) /
		(double)(high->micro_batch - low->micro_batch);
	line.fixed_bytes = (double)high->peak_bytes -
			   line.bytes_per_sample * (double)high->micro_batch;
	return line;
}

/*
 * Through the largest peak and the next that is more than `apart` times the
 * noise below it, rising more than measured by `doubt` times the noise. The
 * second is one that is far off, unless a misfit refutes that line: memory that
 * rises only from some size on is told by the nearest two. Where larger sizes
 * took less, the largest peak is what the largest of them may take as well.
 */
static struct memory_line line_through(const struct trial *trials, size_t count,
				       uint64_t apart, int doubt)
{
	const struct trial *peak = largest_peak(trials, count, NULL, 0, 0);
	const struct trial *near, *far;
	struct memory_line line = { 0, 0, 0 };
	struct trial high;
	double more;
	uint64_t noise;

	if (!peak)
		return line;
	high = *peak;
	high.micro_batch = largest_size(trials, count)->micro_batch;
	noise = memory_line_noise(high.peak_bytes);
	more = doubt * (double)noise;
	near = largest_peak(trials, count, &high, apart * noise,
			    peak->micro_batch - 1);
	if (!near)
		return line;
	far = largest_peak(trials, count, &high, apart * noise,
			   (int64_t)(NEAR_SHARE * (double)peak->micro_batch));
	line = line_of(far ? far : near, &high, more);
	if (is_refuted(&line, trials, count))
		line = line_of(near, &high, more);
	return line;
}

struct memory_line memory_line_guess(const struct trial *trials, size_t count)
{
	return line_through(trials, count, 0, 0);
}

struct memory_line memory_line_cautious(const struct trial *trials,
					size_t count)
{
	return line_through(trials, count, 1, -1);
}

/* As steep as noise may hide it between the smallest and the largest size. */
static struct memory_line line_hidden(const struct trial *trials, size_t count)
{
	const struct trial *large = largest_size(trials, count);
	const struct trial *small = large;
	const struct trial *peak = largest_peak(trials, count, NULL, 0, 0);
	struct memory_line line = { 0, 0, 0 };
	double rise;

	for (size_t i = 0; i < count; i++)
		if (trial_is_point(&trials[i]) && trials[i].micro_batch >= 1 &&
		    trials[i].micro_batch < small->micro_batch)
			small = &trials[i];
	if (small == large)
		return line;
	assert(small->micro_batch < large->micro_batch);
	rise = (double)memory_line_noise(peak->peak_bytes);
	if (large->peak_bytes > small->peak_bytes)
		rise += (double)(large->peak_bytes - small->peak_bytes);
	line.points = 2;
	line.bytes_per_sample =
		rise / (double)(large->micro_batch - small->micro_batch);
	line.fixed_bytes = (double)peak->peak_bytes -
			   line.bytes_per_sample * (double)large->micro_batch;
	return line;
}

struct memory_line memory_line_steep(const struct trial *trials, size_t count)
{
	struct memory_line line = line_through(trials, count, 1, 1);

	return line.points ? line : line_hidden(trials, count);
}

struct memory_line memory_line_fit(const struct trial *trials, size_t count)
{
	const struct trial *one = largest_size(trials, count);
	struct memory_line line = line_through(trials, count, 1, 0);

	if (line.points || !one)
		return line;
	line.points = 1;
	line.bytes_per_sample =
		(double)one->peak_bytes / (double)one->micro_batch;
	return line;
}

struct memory_line memory_line_sloped(const struct trial *trials, size_t count,
				      double bytes_per_sample)
{
	const struct trial *one = largest_size(trials, count);
	struct memory_line line = { 0, 0, 0 };

	if (!one)
		return line;
	line.points = 2;
	line.bytes_per_sample = bytes_per_sample;
	line.fixed_bytes = (double)one->peak_bytes -
			   bytes_per_sample * (double)one->micro_batch;
	return line;
}

/* The largest size that fits and says what it holds at rest; or NULL. */
static const struct trial *largest_at_rest(const struct trial *trials,
					   size_t count)
{
	const struct trial *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (trial_is_point(trial) && trial->rest_bytes &&
		    trial->rest_bytes < trial->peak_bytes &&
		    trial->micro_batch > (best ? best->micro_batch : 0))
			best = trial;
	}
	return best;
}

/* Through this peak; its rise, from 0 to its size, is that many bytes. */
static struct memory_line line_of_rise(const struct trial *trial, double rise)
{
	assert(trial->micro_batch >= 1 && rise >= 0);
	return (struct memory_line){
		.points = 2,
		.fixed_bytes = (double)trial->peak_bytes - rise,
		.bytes_per_sample = rise / (double)trial->micro_batch,
	};
}

struct memory_line memory_line_rest(const struct trial *trials, size_t count)
{
	const struct trial *trial = largest_at_rest(trials, count);
	struct memory_line line = { 0, 0, 0 };
	struct memory_line usual;
	double rise, most;

	if (!trial)
		return line;
	rise = (double)(trial->peak_bytes - trial->rest_bytes);
	most = (double)bytes_max(trial->pass_bytes,
				 MEMORY_LINE_BACKWARD * trial->forward_bytes);
	line = line_of_rise(trial, rise);
	if (!(most > 0) || rise <= most)
		return line;
	usual = line_of_rise(trial, most);
	return is_refuted(&usual, trials, count) ? line : usual;
}

struct memory_line memory_line_least(const struct trial *trials, size_t count)
{
	const struct trial *trial = largest_at_rest(trials, count);
	struct memory_line line = { 0, 0, 0 };
	double bytes;

	if (!trial)
		return line;
	bytes = MEMORY_LINE_PASS * (double)trial->pass_bytes;
	if (bytes < (double)trial->forward_bytes)
		bytes = (double)trial->forward_bytes;
	line.points = 2;
	line.fixed_bytes = (double)trial->rest_bytes;
	line.bytes_per_sample = bytes / (double)trial->micro_batch;
	return line;
}

/* The smallest size that is too large after whole steps; or NULL. */
static const struct trial *smallest_late(const struct trial *trials,
					 size_t count)
{
	const struct trial *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (is_over_memory(&trials[i]) &&
		    trials[i].steps >= MEMORY_LINE_LATE &&
		    (!best || trials[i].micro_batch < best->micro_batch))
			best = &trials[i];
	return best;
}

struct memory_line memory_line_late(const struct trial *trials, size_t count)
{
	const struct trial *late = smallest_late(trials, count);
	const struct memory_line none = { 0, 0, 0 };
	struct trial low = { .verdict = VERDICT_FITS };
	struct trial high;

	if (!late)
		return none;
	high = *late;
	high.peak_bytes = bytes_max(late->peak_bytes, late->limit_bytes);
	low.peak_bytes = late->rest_bytes;
	for (size_t i = 0; i < count && !late->rest_bytes; i++)
		if (trial_fits(&trials[i]) && trial_is_point(&trials[i]) &&
		    trials[i].micro_batch < late->micro_batch &&
		    trials[i].micro_batch > low.micro_batch)
			low = trials[i];
	return low.peak_bytes && low.peak_bytes < high.peak_bytes
		       ? line_of(&low, &high, 0)
		       : none;
}

static uint64_t distance(const struct memory_line *line,
			 const struct trial *trial)
{
	return bytes_apart(memory_line_peak(line, trial->micro_batch),
			   trial->peak_bytes);
}

uint64_t memory_line_doubt(const struct memory_line *line,
			   const struct trial *trials, size_t count,
			   uint64_t noise)
{
	int64_t bend = 0; /* the largest size that is not on the line */
	uint64_t most = 0;
	size_t on_line = 0;

	assert(line->points == 2 && "one point has nothing to miss");
	for (size_t i = 0; i < count; i++)
		if (trial_is_point(&trials[i]) &&
		    trials[i].micro_batch > bend &&
		    distance(line, &trials[i]) > noise)
			bend = trials[i].micro_batch;
	for (size_t i = 0; i < count; i++)
		if (trial_is_point(&trials[i]) &&
		    trials[i].micro_batch > bend) {
			most = bytes_max(most, distance(line, &trials[i]));
			on_line++;
		}
	most = bytes_max(DOUBT_TIMES * most, MEMORY_LINE_NOISE_BYTES);
	return on_line < ON_LINE_MIN ? noise : bytes_min(most, noise);
}

uint64_t memory_line_peak(const struct memory_line *line, int64_t micro_batch)
{
	if (!line->points)
		return 0;
	return line_bytes(line->fixed_bytes +
			  line->bytes_per_sample * (double)micro_batch + 0.5);
}

int64_t memory_line_micro(const struct memory_line *line, uint64_t limit_bytes)
{
	double size;
	int64_t micro;

	if (!line->points || !(line->bytes_per_sample > 0))
		return 0;
	size = ((double)limit_bytes - line->fixed_bytes) /
	       line->bytes_per_sample;
	if (!(size >= 0))
		return 0;
	if (size >= 0x1p63)
		return INT64_MAX;
	/* The quotient may be rounded down: the peak decides. */
	micro = (int64_t)size;
	if (micro < INT64_MAX &&
	    memory_line_peak(line, micro + 1) <= limit_bytes)
		micro++;
	return micro;
}
