/* The GPU models autofit knows, read from a table of plain cells. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/gpus.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "configs/files/csv.h"
#include "configs/models/gpu_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 5
#define NEAR_MAX 3

/* "A (15.0 GiB), B (31.7 GiB) or C (79.1 GiB)" */
static void add_names(struct strbuf *out, const struct gpu_model *const *models,
		      size_t count)
{
	size_t shown = count < NAMED_MAX ? count : NAMED_MAX;
	char text[BYTES_TEXT_MAX];

	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			strbuf_adds(out, i + 1 == count ? " or " : ", ");
		strbuf_addf(out, "%s (%s)", models[i]->name,
			    bytes_format(text, models[i]->usable_bytes));
	}
	if (count > shown)
		strbuf_addf(out, " or %zu more", count - shown);
}

static void name_nearest(const struct gpu_catalogue *catalogue,
			 const char *asked, struct strbuf *out)
{
	const struct gpu_model *near[NEAR_MAX + 1];
	size_t scores[NEAR_MAX + 1];
	size_t count = 0;

	for (size_t i = 0; i < catalogue->count; i++) {
		size_t score =
			gpu_name_nearness(asked, catalogue->items[i].name);
		size_t at = count;

		if (!score)
			continue;
		for (; at > 0 && scores[at - 1] < score; at--) {
			near[at] = near[at - 1];
			scores[at] = scores[at - 1];
		}
		near[at] = &catalogue->items[i];
		scores[at] = score;
		count += count < NEAR_MAX;
	}
	add_names(out, near, count);
}

static const struct gpu_model *
gpus_unknown(const struct gpu_catalogue *catalogue, const char *name,
	     struct error *err)
{
	struct strbuf near = STRBUF_INIT;
	char asked[GPU_ASKED_MAX + 1];

	if (gpu_name_fold_core(asked, name))
		name_nearest(catalogue, asked, &near);
	(void)error_set(err, -ENOENT,
			"'%.64s' is no GPU model that is known here%s%s; a "
			"line in gpus.csv of the configuration folder adds one",
			name, near.length ? "; near it: " : "",
			strbuf_text(&near));
	strbuf_release(&near);
	return NULL;
}

/* The name in full is never another model's. catalogue->count: none. */
static size_t find_exact(const struct gpu_catalogue *catalogue,
			 const char *name)
{
	size_t i = 0;

	while (i < catalogue->count &&
	       !gpu_name_equals(catalogue->items[i].name, name))
		i++;
	return i;
}

/* The models that may be meant; of many the first are named. */
struct gpus_candidates {
	const struct gpu_model *named[NAMED_MAX];
	size_t count;
	/* To whoever asks for memory, boards of one memory are one. */
	bool are_alike;
};

static struct gpus_candidates find_all(const struct gpu_catalogue *catalogue,
				       const char *asked,
				       enum gpu_name_match wanted)
{
	struct gpus_candidates all = { .are_alike = true };

	for (size_t i = 0; i < catalogue->count; i++) {
		const struct gpu_model *model = &catalogue->items[i];

		if (gpu_name_match(asked, model->name) != wanted)
			continue;
		if (all.count < NAMED_MAX)
			all.named[all.count] = model;
		all.count++;
		if (model->usable_bytes != all.named[0]->usable_bytes)
			all.are_alike = false;
	}
	return all;
}

static const struct gpu_model *not_certain(const struct gpus_candidates *all,
					   const char *name, struct error *err)
{
	struct strbuf names = STRBUF_INIT;

	add_names(&names, all->named, all->count);
	(void)error_set(err, -ENOTUNIQ,
			"'%.64s' is not the whole name: is it %s?", name,
			strbuf_text(&names));
	strbuf_release(&names);
	return NULL;
}

const struct gpu_model *
gpu_catalogue_find(const struct gpu_catalogue *catalogue, const char *name,
		   struct error *err)
{
	size_t exact = find_exact(catalogue, name);
	char asked[GPU_ASKED_MAX + 1];
	struct gpus_candidates all;

	if (exact < catalogue->count)
		return &catalogue->items[exact];
	if (!gpu_name_fold(asked, name))
		return gpus_unknown(catalogue, name, err);
	all = find_all(catalogue, asked, GPU_NAME_WHOLE);
	if (all.count && all.are_alike)
		return all.named[0];
	if (!all.count)
		all = find_all(catalogue, asked, GPU_NAME_PART);
	return all.count ? not_certain(&all, name, err)
			 : gpus_unknown(catalogue, name, err);
}

#define BUILTIN_FILE "configs/gpus.csv"
#define MODELS_MAX 1000
/* No board is smaller, and none larger for a while. */
#define TOTAL_MIN_MIB 256
#define TOTAL_MAX_MIB (INT64_C(64) << 20)
#define COMPUTE_MAX 999
#define MULTIPROCESSORS_MAX 4096
#define CONTEXT_MAX_MIB 65536

enum gpus_column {
	COLUMN_NAME,
	COLUMN_TOTAL,
	COLUMN_USABLE,
	COLUMN_COMPUTE,
	COLUMN_MULTIPROCESSORS,
	COLUMN_CONTEXT,
	COLUMN_COUNT,
};

static const char *const column_names[COLUMN_COUNT + 1] = {
	[COLUMN_NAME] = "name",
	[COLUMN_TOTAL] = "driver_total_mib",
	[COLUMN_USABLE] = "cuda_usable_mib",
	[COLUMN_COMPUTE] = "cc",
	[COLUMN_MULTIPROCESSORS] = "sms",
	[COLUMN_CONTEXT] = "context_mib",
};

/* A file under way. */
struct gpus_reading {
	struct gpu_catalogue *catalogue;
	size_t before; /* models that were there before this file */
};

/* A whole number up to a bound; 0: it is none. */
static uint64_t gpus_whole(struct csv_cell cell, uint64_t most)
{
	uint64_t number = 0;

	for (size_t i = 0; i < cell.length && number <= most; i++) {
		if (!isdigit((unsigned char)cell.text[i]))
			return 0;
		number = number * 10 + (uint64_t)(cell.text[i] - '0');
	}
	return number <= most ? number : 0;
}

/* Whole MiB within the bounds; 0: it is not. */
static uint64_t read_mib(struct csv_cell cell, int64_t most)
{
	uint64_t mib = gpus_whole(cell, (uint64_t)most);

	return mib >= TOTAL_MIN_MIB ? mib * MIB : 0;
}

/* The driver keeps some for itself; how much, is seen on boards of a size. */
static uint64_t usable_of(uint64_t total)
{
	if (total <= 12 * GIB)
		return total / 100 * 96;
	return total - (total <= 48 * GIB ? 640 : 900) * MIB;
}

/* "8.6"; nothing of what other makers write there. */
static void read_compute(struct csv_cell cell, struct gpu_model *model)
{
	struct csv_cell major = cell;
	struct csv_cell minor;

	major.length = 0;
	while (major.length < cell.length && cell.text[major.length] != '.')
		major.length++;
	if (major.length == cell.length)
		return;
	minor.text = cell.text + major.length + 1;
	minor.length = cell.length - major.length - 1;
	model->compute_major = (int)gpus_whole(major, COMPUTE_MAX);
	model->compute_minor = (int)gpus_whole(minor, COMPUTE_MAX);
}

/* What a process has beside its allocations, where nobody has told. */
static uint64_t context_of(const struct gpu_model *model)
{
	bool is_old = 10 * model->compute_major + model->compute_minor <= 75;

	return (is_old ? 150 : 500) * MIB;
}

/* What is wrong with the cells, or NULL. */
static const char *gpus_read_model(const struct csv_cell *cells,
				   struct gpu_model *model)
{
	if (!csv_cell_name(cells[COLUMN_NAME], model->name,
			   sizeof(model->name)))
		return "the name is empty, too long or not ASCII";
	model->total_bytes = read_mib(cells[COLUMN_TOTAL], TOTAL_MAX_MIB);
	if (!model->total_bytes)
		return "driver_total_mib is no size of a GPU in MiB";
	model->usable_bytes = usable_of(model->total_bytes);
	read_compute(cells[COLUMN_COMPUTE], model);
	model->multiprocessors = (int)gpus_whole(cells[COLUMN_MULTIPROCESSORS],
						 MULTIPROCESSORS_MAX);
	model->context_bytes =
		gpus_whole(cells[COLUMN_CONTEXT], CONTEXT_MAX_MIB) * MIB;
	if (!model->context_bytes)
		model->context_bytes = context_of(model);
	if (!cells[COLUMN_USABLE].length)
		return NULL;
	model->usable_bytes = read_mib(cells[COLUMN_USABLE],
				       (int64_t)(model->total_bytes / MIB));
	return model->usable_bytes ? NULL
				   : "cuda_usable_mib is no size in MiB up to "
				     "driver_total_mib";
}

/* Why it is not added, or NULL. */
static const char *gpus_add_model(const struct gpus_reading *reading,
				  const struct gpu_model *model)
{
	struct gpu_catalogue *all = reading->catalogue;

	for (size_t i = 0; i < all->count; i++) {
		if (!gpu_name_equals(all->items[i].name, model->name))
			continue;
		if (i >= reading->before)
			return "this model is there twice: the first line "
			       "counts";
		all->items[i] = *model;
		return NULL;
	}
	if (all->count == MODELS_MAX)
		return "too many models";
	all->items = xgrow(all->items, all->count, &all->capacity,
			   sizeof(*all->items));
	all->items[all->count++] = *model;
	return NULL;
}

static const char *gpus_on_row(void *context, const struct csv_cell *cells)
{
	struct gpu_model model = { .total_bytes = 0 };
	const char *problem = gpus_read_model(cells, &model);

	return problem ? problem : gpus_add_model(context, &model);
}

void gpu_catalogue_load(struct gpu_catalogue *catalogue, const char *path,
			struct strlist *warnings)
{
	struct gpus_reading reading = { .catalogue = catalogue };
	const struct csv_table table = {
		.columns = column_names,
		.expects = "name and driver_total_mib",
		.needed = COLUMN_TOTAL + 1,
		.on_row = gpus_on_row,
		.context = &reading,
	};

	memset(catalogue, 0, sizeof(*catalogue));
	csv_read_builtin(&table, BUILTIN_FILE, warnings);
	reading.before = catalogue->count;
	if (path)
		csv_read_file(&table, path, warnings);
}

void gpu_catalogue_release(struct gpu_catalogue *catalogue)
{
	free(catalogue->items);
	memset(catalogue, 0, sizeof(*catalogue));
}
