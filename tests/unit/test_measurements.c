/* Estimates against published measurements: errors by group, intervals, and
 * what a first measurement corrects. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "tests/measurements.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define GROUPS_MAX 64

/* Rows that the estimator's numbers may have been chosen by, and others: the
 * groups whose names end so are held back. */
enum half { HALF_BOTH, HALF_FITTED, HALF_HELD };
#define HELD "-held"

/* Which rows a figure is over. */
struct choice {
	const char *group; /* its name, or its first letters and *; NULL: all */
	char tiers[4];
	enum half half;
};

struct figures {
	size_t count;
	double errors[MEASUREMENTS_MAX]; /* percent, without their signs */
	double widths[MEASUREMENTS_MAX]; /* upper edge / estimate */
	double mean, bias, median, p90, worst;
	double width_median, width_p90;
	size_t above, below; /* measured outside of the interval */
};

static int compare(const void *a, const void *b)
{
	const double *one = a;
	const double *other = b;

	return (*one > *other) - (*one < *other);
}

/* The smallest value that so many of the sorted ones do not exceed. */
static double quantile(const double *values, size_t count, double share)
{
	size_t rank = (size_t)ceil(share * (double)count);

	return count ? values[rank ? rank - 1 : 0] : 0;
}

static struct estimate estimated(const struct measurement *row)
{
	struct estimate estimate;
	struct error err = ERROR_INIT;

	if (estimate_memory(&row->work, &estimate, &err) < 0)
		fail_msg("%s %s: %s", row->group, row->model, err.message);
	return estimate;
}

static double error_percent(const struct measurement *row)
{
	struct estimate estimate = estimated(row);
	double peak = (double)estimate.peak[measurement_tier(row)];

	return (peak / row->bytes - 1) * 100;
}

/* A tier that is not said may be any of them. */
static int64_t low_edge(const struct estimate *estimate,
			const struct measurement *row)
{
	return estimate->low[measurement_tier(row)];
}

static int64_t high_edge(const struct estimate *estimate,
			 const struct measurement *row)
{
	return estimate
		->high[row->tier == '?' ? TIER_PROCESS : measurement_tier(row)];
}

static void figures_add(struct figures *figures, const struct measurement *row)
{
	struct estimate estimate = estimated(row);
	enum tier tier = measurement_tier(row);
	double peak = (double)estimate.peak[tier];
	double error = error_percent(row);

	figures->bias += error;
	figures->mean += fabs(error);
	figures->worst =
		fabs(error) > fabs(figures->worst) ? error : figures->worst;
	figures->above += row->bytes > (double)high_edge(&estimate, row);
	figures->below += row->bytes < (double)low_edge(&estimate, row);
	figures->widths[figures->count] =
		(double)high_edge(&estimate, row) / peak;
	figures->errors[figures->count++] = fabs(error);
}

static bool is_held(const struct measurement *row)
{
	size_t length = strlen(row->group);

	return length > strlen(HELD) &&
	       strcmp(row->group + length - strlen(HELD), HELD) == 0;
}

static bool is_chosen(const struct measurement *row,
		      const struct choice *choice)
{
	const char *group = choice->group;
	size_t length = group ? strcspn(group, "*") : 0;

	if (row->why_not[0] || !strchr(choice->tiers, row->tier))
		return false;
	if (choice->half && is_held(row) != (choice->half == HALF_HELD))
		return false;
	if (group && group[length] == '*')
		return strncmp(row->group, group, length) == 0;
	return !group || strcmp(row->group, group) == 0;
}

static void figures_of(const struct measurements *all,
		       const struct choice *choice, struct figures *figures)
{
	*figures = (struct figures){ 0 };
	assert(all->items);
	for (size_t i = 0; i < all->count; i++)
		if (is_chosen(&all->items[i], choice))
			figures_add(figures, &all->items[i]);
	if (!figures->count)
		return;
	figures->mean /= (double)figures->count;
	figures->bias /= (double)figures->count;
	qsort(figures->errors, figures->count, sizeof(double), compare);
	qsort(figures->widths, figures->count, sizeof(double), compare);
	figures->median = quantile(figures->errors, figures->count, 0.5);
	figures->p90 = quantile(figures->errors, figures->count, 0.9);
	figures->width_median = quantile(figures->widths, figures->count, 0.5);
	figures->width_p90 = quantile(figures->widths, figures->count, 0.9);
}

static void print_figures(const char *name, const struct figures *figures)
{
	print_message("%-18s %4zu %6.1f %6.1f %6.1f %+6.1f %+6.1f   %5.2f "
		      "%5.2f  %2zu %2zu\n",
		      name, figures->count, figures->mean, figures->median,
		      figures->p90, figures->worst, figures->bias,
		      figures->width_median, figures->width_p90, figures->above,
		      figures->below);
}

static bool is_first_of_group(const struct measurements *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(all->items[i].group, all->items[index].group) == 0)
			return false;
	return true;
}

/* Its workload is known, and its figure is another version's. */
static bool is_hard(const struct measurement *row)
{
	return strncmp(row->why_not, "hard:", 5) == 0;
}

static void rows_are_printed(void **state)
{
	const struct measurements *all = *state;

	for (size_t i = 0; i < all->count; i++) {
		const struct measurement *row = &all->items[i];
		struct estimate estimate;
		enum tier tier = measurement_tier(row);

		if (row->why_not[0] && !is_hard(row)) {
			print_message("%-16s %4s %-13s not usable: %s\n",
				      row->group, row->row, row->model,
				      row->why_not);
			continue;
		}
		estimate = estimated(row);
		print_message("%-16s %4s %-13s b%-2lld s%-5lld %c %8.0f %8.0f "
			      "%+6.1f%% %s %s\n",
			      row->group, row->row, row->model,
			      (long long)row->work.micro_batch,
			      (long long)row->work.sequence, row->tier,
			      row->bytes * 0x1p-20,
			      (double)estimate.peak[tier] * 0x1p-20,
			      error_percent(row),
			      peak_phase_name(estimate.phase), row->why_not);
	}
}

static void groups_are_printed(void **state)
{
	const struct measurements *all = *state;
	struct figures figures;

	print_message("group                 n   mean median    p90  worst   "
		      "bias   upper  p90  out: above below\n");
	for (size_t i = 0; i < all->count; i++) {
		struct choice choice = { all->items[i].group, "ARP?",
					 HALF_BOTH };

		if (!is_first_of_group(all, i))
			continue;
		figures_of(all, &choice, &figures);
		if (figures.count)
			print_figures(choice.group, &figures);
	}
}

static void errors_are_small(void **state)
{
	static const struct {
		const char *name;
		struct choice choice;
		double median, p90; /* percent */
	} rows[] = {
		{ "all allocated", { NULL, "A", HALF_BOTH }, 3.0, 8.0 },
		{ "T4 archive", { "t4-*", "A", HALF_BOTH }, 1.5, 4.0 },
		{ "fitted", { NULL, "A", HALF_FITTED }, 2.0, 7.0 },
		{ "held back", { NULL, "A", HALF_HELD }, 4.0, 12.0 },
		{ "held, all tiers", { NULL, "ARP", HALF_HELD }, 4.0, 12.0 },
	};
	const struct measurements *all = *state;
	struct figures figures;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		figures_of(all, &rows[i].choice, &figures);
		print_figures(rows[i].name, &figures);
		assert_true(figures.count > 20);
		assert_true(figures.median <= rows[i].median);
		assert_true(figures.p90 <= rows[i].p90);
	}
}

static void intervals_hold(void **state)
{
	static const struct {
		const char *name;
		struct choice choice;
	} rows[] = {
		{ "all, tier said", { NULL, "ARP", HALF_BOTH } },
		{ "allocated", { NULL, "A", HALF_BOTH } },
		{ "all", { NULL, "ARP?", HALF_BOTH } },
		{ "fitted", { NULL, "ARP?", HALF_FITTED } },
	};
	const struct measurements *all = *state;
	struct figures figures;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double count;

		figures_of(all, &rows[i].choice, &figures);
		print_figures(rows[i].name, &figures);
		count = (double)figures.count;
		assert_true((double)figures.above <= 0.02 * count);
		assert_true((double)figures.below <= 0.05 * count);
		assert_true(figures.width_median <= 1.25);
		assert_true(figures.width_p90 <= 1.6);
	}
}

/* As narrow for what is reserved, and for the whole process. */
static void each_tier_is_narrow(void **state)
{
	static const struct {
		const char *name;
		struct choice choice;
	} rows[] = {
		{ "reserved", { NULL, "R", HALF_BOTH } },
		{ "process", { NULL, "P", HALF_BOTH } },
		{ "process, held", { NULL, "P", HALF_HELD } },
	};
	const struct measurements *all = *state;
	struct figures figures;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		figures_of(all, &rows[i].choice, &figures);
		print_figures(rows[i].name, &figures);
		assert_true(figures.count > 20);
		assert_true(figures.width_median <= 1.25);
	}
}

/* Held rows too; a group of ten or more hides no series of misses. */
static void few_lie_above(void **state)
{
	const struct measurements *all = *state;
	struct figures figures;

	figures_of(all, &(struct choice){ NULL, "ARP?", HALF_HELD }, &figures);
	print_figures("held back", &figures);
	assert_true((double)figures.above <= 0.04 * (double)figures.count);
	for (size_t i = 0; i < all->count; i++) {
		struct choice choice = { all->items[i].group, "ARP?",
					 HALF_BOTH };

		if (!is_first_of_group(all, i))
			continue;
		figures_of(all, &choice, &figures);
		if (figures.count >= 10 &&
		    (double)figures.above > 0.1 * (double)figures.count)
			fail_msg("%s: %zu of %zu above", choice.group,
				 figures.above, figures.count);
	}
}

/* LitGPT's training of 4-bit weights, estimated as one of which nobody said
 * which bitsandbytes it has: what an old one took lies inside. */
static void old_kernels_are_spanned(void **state)
{
	const struct measurements *all = *state;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct measurement row = all->items[i];
		struct estimate estimate;

		if (!row.work.keeps_frozen_inputs)
			continue;
		row.work.keeps_frozen_inputs = false;
		estimate = estimated(&row);
		count++;
		if (row.bytes > (double)high_edge(&estimate, &row) ||
		    row.bytes < (double)low_edge(&estimate, &row))
			fail_msg("%s %s %s: %.0f is not from %lld to %lld",
				 row.group, row.row, row.model, row.bytes,
				 (long long)low_edge(&estimate, &row),
				 (long long)high_edge(&estimate, &row));
	}
	assert_true(count >= 18);
}

/* 4-bit training that PEFT did not prepare, as one is estimated of which nobody
 * said whether it did. */
static void preparation_is_spanned(void **state)
{
	const struct measurements *all = *state;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct measurement row = all->items[i];
		struct estimate estimate;

		if (strncmp(row.group, "fms-one", 7) != 0 || row.tier != 'A' ||
		    row.why_not[0] || row.work.weights != WEIGHTS_NF4_DOUBLE)
			continue;
		row.work.residual_fp32 = row.work.residual_is_assumed = true;
		estimate = estimated(&row);
		count++;
		if (row.bytes > (double)high_edge(&estimate, &row) ||
		    row.bytes < (double)low_edge(&estimate, &row))
			fail_msg("%s %s is outside", row.row, row.model);
	}
	assert_true(count >= 10);
}

/* The first row of the series with the smallest batch, or the largest. */
static const struct measurement *end_of(const struct measurements *all,
					const char *series, int direction)
{
	const struct measurement *end = NULL;

	for (size_t i = 0; i < all->count; i++) {
		const struct measurement *row = &all->items[i];
		int64_t micro = row->work.micro_batch;

		if (strcmp(row->series, series) != 0)
			continue;
		if (!end || (micro - end->work.micro_batch) * direction > 0)
			end = row;
	}
	assert_non_null(end);
	return end;
}

/* The slope of the estimate through the measurement of the smallest batch. */
static void one_probe_corrects(void **state)
{
	static const struct {
		const char *series;
		double percent;
	} rows[] = {
		{ "tinyllama", 2 },
		{ "litgpt-7b", 2 },
		{ "smollm2-lora", 2 },
		{ "litgpt-3b", 2 },
		/*
		 * Misses the goal of 2. The three slopes of LitGPT together say
		 * 8.4 bytes of a logit, whose cross entropy stays 16-bit there
		 * (2 + 2 + 2 + 2), and 4.2 h more in each layer, which are not
		 * explained. With 14 bytes both cancel out where v is small
		 * against L x h, and phi-1.5 has the largest v.
		 */
		{ "litgpt-phi", 2.5 },
	};
	const struct measurements *all = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct measurement *first =
			end_of(all, rows[i].series, -1);
		const struct measurement *last = end_of(all, rows[i].series, 1);
		double samples = (double)(last->work.micro_batch -
					  first->work.micro_batch);
		struct estimate estimate = estimated(first);
		double slope = (double)estimate.sample_bytes;
		double there = first->bytes + samples * slope;
		double error = (there / last->bytes - 1) * 100;

		print_message("%-14s from b%lld: b%lld %+.2f%%\n",
			      rows[i].series,
			      (long long)first->work.micro_batch,
			      (long long)last->work.micro_batch, error);
		assert_int_equal(estimate.phase, PEAK_FORWARD);
		assert_true(fabs(error) <= rows[i].percent);
	}
}

static const struct measurement *row_of(const struct measurements *all,
					const char *series, int64_t micro)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].series, series) == 0 &&
		    all->items[i].work.micro_batch == micro)
			return &all->items[i];
	fail_msg("%s has no batch of %lld", series, (long long)micro);
	return NULL;
}

static void two_probes_are_exact(void **state)
{
	static const int64_t micros[] = { 4, 8, 12 };
	const struct measurements *all = *state;
	double first = row_of(all, "tinyllama", 1)->bytes;
	double slope = row_of(all, "tinyllama", 2)->bytes - first;

	for (size_t i = 0; i < sizeof(micros) / sizeof(*micros); i++) {
		double there = first + slope * (double)(micros[i] - 1);
		double error =
			(there / row_of(all, "tinyllama", micros[i])->bytes -
			 1) *
			100;

		print_message("two probes: b%lld %+.2f%%\n",
			      (long long)micros[i], error);
		assert_true(fabs(error) <= 0.5);
	}
}

int main(void)
{
	static struct measurements all;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(rows_are_printed, &all),
		cmocka_unit_test_prestate(groups_are_printed, &all),
		cmocka_unit_test_prestate(errors_are_small, &all),
		cmocka_unit_test_prestate(intervals_hold, &all),
		cmocka_unit_test_prestate(each_tier_is_narrow, &all),
		cmocka_unit_test_prestate(few_lie_above, &all),
		cmocka_unit_test_prestate(old_kernels_are_spanned, &all),
		cmocka_unit_test_prestate(preparation_is_spanned, &all),
		cmocka_unit_test_prestate(one_probe_corrects, &all),
		cmocka_unit_test_prestate(two_probes_are_exact, &all),
	};
	int result;

	measurements_load(&all);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	measurements_release(&all);
	return result;
}
