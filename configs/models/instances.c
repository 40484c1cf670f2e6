/* Cloud instances: which GPUs one rents together. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/instances.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FILE "configs/instances.csv"
#define INSTANCES_MAX 1000
#define GPUS_MOST 1024

enum instances_column {
	COLUMN_NAME,
	COLUMN_PROVIDER,
	COLUMN_GPU,
	COLUMN_COUNT,
	COLUMNS
};

static const char *const columns[] = {
	[COLUMN_NAME] = "name", [COLUMN_PROVIDER] = "provider",
	[COLUMN_GPU] = "gpu",   [COLUMN_COUNT] = "count",
	[COLUMNS] = NULL,
};

struct instances_reading {
	struct instances *instances;
	const struct gpu_catalogue *gpus;
};

static struct instance *instances_place_of(struct instances *all,
					   const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].name, name) == 0)
			return &all->items[i];
	if (all->count == INSTANCES_MAX)
		return NULL;
	all->items = xgrow(all->items, all->count, &all->capacity,
			   sizeof(*all->items));
	return &all->items[all->count++];
}

static bool instances_read_count(struct csv_cell cell, int64_t *count)
{
	char text[8];

	if (cell.length >= sizeof(text))
		return false;
	memcpy(text, cell.text, cell.length);
	text[cell.length] = '\0';
	return integer_parse(text, count, NULL) == 0 && *count >= 1 &&
	       *count <= GPUS_MOST;
}

static const char *instances_on_row(void *context, const struct csv_cell *cells)
{
	struct instances_reading *reading = context;
	struct instance instance = { .count = 0 };
	const struct gpu_model *gpu;
	struct instance *place;
	char name[GPU_MODEL_NAME_MAX];

	if (!csv_cell_name(cells[COLUMN_NAME], instance.name,
			   sizeof(instance.name)) ||
	    !csv_cell_name(cells[COLUMN_PROVIDER], instance.provider,
			   sizeof(instance.provider)))
		return "name or provider is empty, too long or not ASCII";
	if (!instances_read_count(cells[COLUMN_COUNT], &instance.count))
		return "count is no number of GPUs from 1 to 1024";
	gpu = csv_cell_name(cells[COLUMN_GPU], name, sizeof(name))
		      ? gpu_catalogue_find(reading->gpus, name, NULL)
		      : NULL;
	if (!gpu)
		return "gpu is no single model of gpus.csv";
	instance.gpu = *gpu;
	place = instances_place_of(reading->instances, instance.name);
	if (!place)
		return "too many instances";
	*place = instance;
	return NULL;
}

void instances_load(struct instances *instances, const char *path,
		    const struct gpu_catalogue *gpus, struct strlist *warnings)
{
	struct instances_reading reading = { instances, gpus };
	const struct csv_table table = { .columns = columns,
					 .expects = "name, provider, gpu and "
						    "count",
					 .needed = COLUMNS,
					 .on_row = instances_on_row,
					 .context = &reading };

	memset(instances, 0, sizeof(*instances));
	csv_read_builtin(&table, BUILTIN_FILE, warnings);
	if (path)
		csv_read_file(&table, path, warnings);
}

void instances_release(struct instances *instances)
{
	free(instances->items);
	memset(instances, 0, sizeof(*instances));
}
