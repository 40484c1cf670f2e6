/* The GPU models autofit knows, read from a table of plain cells. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/gpus.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/csv.h"
#include "configs/models/gpus_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FILE "configs/gpus.csv"
#define MODELS_MAX 1000
/* No board is smaller, and none larger for a while. */
#define TOTAL_MIN_MIB 256
#define TOTAL_MAX_MIB (INT64_C(64) << 20)

enum column {
	COLUMN_NAME,
	COLUMN_TOTAL,
	COLUMN_USABLE,
	COLUMN_COMPUTE,
	COLUMN_COUNT,
};

static const char *const column_names[COLUMN_COUNT + 1] = {
	[COLUMN_NAME] = "name",
	[COLUMN_TOTAL] = "driver_total_mib",
	[COLUMN_USABLE] = "cuda_usable_mib",
	[COLUMN_COMPUTE] = "cc",
};

/* A file under way. */
struct reading {
	struct gpu_catalogue *catalogue;
	size_t before; /* models that were there before this file */
};

/* Whole MiB within the bounds; 0: it is not. */
static uint64_t read_mib(struct csv_cell cell, int64_t most)
{
	uint64_t mib = 0;

	for (size_t i = 0; i < cell.length && mib <= (uint64_t)most; i++) {
		if (!isdigit((unsigned char)cell.text[i]))
			return 0;
		mib = mib * 10 + (uint64_t)(cell.text[i] - '0');
	}
	return mib >= TOTAL_MIN_MIB && mib <= (uint64_t)most ? mib * MIB : 0;
}

/* The driver keeps some for itself; how much, is seen on boards of a size. */
static uint64_t usable_of(uint64_t total)
{
	if (total <= 12 * GIB)
		return total / 100 * 96;
	return total - (total <= 48 * GIB ? 640 : 900) * MIB;
}

/* 8 of "8.6"; 0 of what other makers write there. */
static int read_major(struct csv_cell cell)
{
	int major = 0;
	size_t i = 0;

	for (; i < cell.length && i < 3 && isdigit((unsigned char)cell.text[i]);
	     i++)
		major = major * 10 + (cell.text[i] - '0');
	return i < cell.length && cell.text[i] == '.' ? major : 0;
}

/* What is wrong with the cells, or NULL. */
static const char *read_model(const struct csv_cell *cells,
			      struct gpu_model *model)
{
	if (!csv_cell_name(cells[COLUMN_NAME], model->name,
			   sizeof(model->name)))
		return "the name is empty, too long or not ASCII";
	model->total_bytes = read_mib(cells[COLUMN_TOTAL], TOTAL_MAX_MIB);
	if (!model->total_bytes)
		return "driver_total_mib is no size of a GPU in MiB";
	model->usable_bytes = usable_of(model->total_bytes);
	model->compute_major = read_major(cells[COLUMN_COMPUTE]);
	if (!cells[COLUMN_USABLE].length)
		return NULL;
	model->usable_bytes = read_mib(cells[COLUMN_USABLE],
				       (int64_t)(model->total_bytes / MIB));
	return model->usable_bytes ? NULL
				   : "cuda_usable_mib is no size in MiB up to "
				     "driver_total_mib";
}

/* Why it is not added, or NULL. */
static const char *add_model(const struct reading *reading,
			     const struct gpu_model *model)
{
	struct gpu_catalogue *all = reading->catalogue;

	for (size_t i = 0; i < all->count; i++) {
		if (!gpu_same_name(all->items[i].name, model->name))
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

static const char *on_row(void *context, const struct csv_cell *cells)
{
	struct gpu_model model = { .total_bytes = 0 };
	const char *problem = read_model(cells, &model);

	return problem ? problem : add_model(context, &model);
}

void gpu_catalogue_load(struct gpu_catalogue *catalogue, const char *path,
			struct strlist *warnings)
{
	struct reading reading = { .catalogue = catalogue };
	const struct csv_table table = {
		.columns = column_names,
		.expects = "name and driver_total_mib",
		.needed = COLUMN_TOTAL + 1,
		.on_row = on_row,
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
