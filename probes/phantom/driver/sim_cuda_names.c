/* What the simulated driver calls things: its functions and its errors. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_cuda.h"

#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define DRIVER_VERSION 13050
#define PER_THREAD_STREAM 2

enum symbol_status { FOUND, SYMBOL_NOT_FOUND, VERSION_NOT_SUFFICIENT };

extern const struct sim_export sim_device_exports[];
extern const struct sim_export sim_attribute_exports[];
extern const struct sim_export sim_context_exports[];
extern const struct sim_export sim_current_exports[];
extern const struct sim_export sim_memory_exports[];
extern const struct sim_export sim_async_exports[];
extern const struct sim_export sim_pool_exports[];
extern const struct sim_export sim_pointer_exports[];
extern const struct sim_export sim_copy_exports[];
extern const struct sim_export sim_host_exports[];
extern const struct sim_export sim_virtual_exports[];
extern const struct sim_export sim_handle_exports[];
extern const struct sim_export sim_import_exports[];
extern const struct sim_export sim_array_exports[];
extern const struct sim_export sim_graph_exports[];
extern const struct sim_export sim_exec_exports[];
extern const struct sim_export sim_graph_memory_exports[];
extern const struct sim_export sim_module_exports[];
extern const struct sim_export sim_launch_exports[];
extern const struct sim_export sim_stream_exports[];
extern const struct sim_export sim_event_exports[];
extern const struct sim_export sim_error_exports[];
extern const struct sim_export sim_name_exports[];

static const struct sim_export *const tables[] = {
	sim_device_exports,  sim_attribute_exports,    sim_context_exports,
	sim_current_exports, sim_memory_exports,       sim_async_exports,
	sim_pool_exports,    sim_pointer_exports,      sim_copy_exports,
	sim_host_exports,    sim_virtual_exports,      sim_handle_exports,
	sim_import_exports,  sim_array_exports,        sim_graph_exports,
	sim_exec_exports,    sim_graph_memory_exports, sim_module_exports,
	sim_launch_exports,  sim_stream_exports,       sim_event_exports,
	sim_error_exports,   sim_name_exports,         NULL,
};

/* The highest version that is not above the one asked for. */
struct names_search {
	const char *base;
	int version, stream;
	bool is_known; /* in some version */
	const struct sim_export *best;
};

static void look_in(struct names_search *search, const struct sim_export *row)
{
	for (; row->base; row++) {
		if (row->stream != search->stream ||
		    strcmp(row->base, search->base) != 0)
			continue;
		search->is_known = true;
		if (row->version <= search->version &&
		    (!search->best || row->version > search->best->version))
			search->best = row;
	}
}

static void look_for(struct names_search *search, int stream)
{
	search->stream = stream;
	for (const struct sim_export *const *table = tables; *table; table++)
		look_in(search, *table);
}

EXPORT int cuDriverGetVersion(int *version)
{
	if (!version)
		return INVALID_VALUE;
	*version = DRIVER_VERSION;
	return OK;
}

EXPORT int cuGetProcAddress_v2(const char *symbol, void **function, int version,
			       uint64_t flags, int *status)
{
	struct names_search search = { .base = symbol, .version = version };
	int found = FOUND;

	if (!symbol || !function || version > DRIVER_VERSION || flags > 2)
		return INVALID_VALUE;
	if (flags == PER_THREAD_STREAM)
		look_for(&search, 2);
	/* Most have one form only. */
	if (!search.is_known)
		look_for(&search, 0);
	if (!search.is_known)
		found = SYMBOL_NOT_FOUND;
	else if (!search.best)
		found = VERSION_NOT_SUFFICIENT;
	*function = NULL;
	if (search.best)
		memcpy(function, &search.best->function, sizeof(*function));
	if (status)
		*status = found;
	return OK;
}

EXPORT int cuGetProcAddress(const char *symbol, void **function, int version,
			    uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

/* Undocumented tables: none is known here, and NVIDIA's own runtime, the only
 * one that asks, goes no further. */
EXPORT int cuGetExportTable(const void **table, const void *id)
{
	if (table)
		*table = NULL;
	(void)id;
	(void)autofit_phantom_note(SIM_NOTE_FOREIGN, NULL, 1);
	return INVALID_VALUE;
}

const struct sim_export sim_name_exports[] = {
	SIM_SAME(cuDriverGetVersion, 2020),
	SIM_SAME(cuGetProcAddress, 11030),
	SIM_ROW(cuGetProcAddress_v2, "cuGetProcAddress", 12000),
	SIM_SAME(cuGetExportTable, 3000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
