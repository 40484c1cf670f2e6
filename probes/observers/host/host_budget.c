/* Finds the bounds of host memory for a new probe. */
/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "probes/observers/host/host.h"

#include "probes/observers/host/host_available.h"
#include "probes/observers/host/host_cgroup_place.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>

/* The files of one version that say limits, use and what could be freed. */
struct memory_files {
	const char *limits[3]; /* each may be missing */
	const char *use;
	const char *hierarchy_limit; /* an entry of memory.stat */
	const char *reclaimable[4];  /* likewise */
};

static const struct memory_files memory_files[] = {
	[HOST_CGROUP_V1] = {
		.limits = { "memory.limit_in_bytes" },
		.use = "memory.usage_in_bytes",
		/* Also of ancestors that a container does not see. */
		.hierarchy_limit = "hierarchical_memory_limit",
		.reclaimable = { "total_active_file", "total_inactive_file" },
	},
	[HOST_CGROUP_V2] = {
		/* Beyond high a program is stopped from growing by stalls. */
		.limits = { "memory.max", "memory.high" },
		.use = "memory.current",
		.reclaimable = { "active_file", "inactive_file",
				 "slab_reclaimable" },
	},
};

const char *host_budget_source_name(enum host_budget_source source)
{
	static const char *const names[] = {
		[HOST_BUDGET_OPTION] = "--memory",
		[HOST_BUDGET_CGROUP] = "cgroup",
		[HOST_BUDGET_AVAILABLE] = "MemAvailable",
	};

	return names[source];
}

/* UINT64_MAX: none. */
static uint64_t limit_of(const char *folder, const struct memory_files *files)
{
	uint64_t limit = UINT64_MAX;
	uint64_t number;

	for (const char *const *file = files->limits; *file; file++)
		if (host_cgroup_number(folder, *file, &number) == 0)
			limit = bytes_min(limit, number);
	if (files->hierarchy_limit &&
	    host_cgroup_entry(folder, "memory.stat", files->hierarchy_limit,
			      &number) == 0)
		limit = bytes_min(limit, number);
	return limit;
}

/* What is in use there and cannot be taken back for the asking. */
static uint64_t held_in(const char *folder, const struct memory_files *files)
{
	uint64_t held = 0;
	uint64_t number;

	if (host_cgroup_number(folder, files->use, &held) < 0)
		return 0;
	for (const char *const *name = files->reclaimable; *name; name++)
		if (host_cgroup_entry(folder, "memory.stat", *name, &number) ==
		    0)
			held = bytes_minus(held, number);
	return held;
}

static void bound_by(struct host_budget *budget, uint64_t bytes,
		     enum host_budget_source source, const char *folder)
{
	if (bytes >= budget->budget_bytes)
		return;
	budget->budget_bytes = bytes;
	budget->source = source;
	(void)snprintf(budget->cgroup, sizeof(budget->cgroup), "%s", folder);
}

static void bound_by_cgroups(struct host_budget *budget,
			     const struct host_roots *roots,
			     enum host_cgroup_version version)
{
	const struct memory_files *files = &memory_files[version];
	struct host_cgroup_place place;

	if (host_cgroup_find(&place, roots, version) < 0)
		return;
	do {
		uint64_t limit = limit_of(place.folder, files);

		if (limit == UINT64_MAX)
			continue;
		if (!budget->cgroup_limit_bytes ||
		    limit < budget->cgroup_limit_bytes)
			budget->cgroup_limit_bytes = limit;
		bound_by(budget,
			 bytes_minus(limit, held_in(place.folder, files)),
			 HOST_BUDGET_CGROUP, place.folder);
	} while (host_cgroup_parent(&place));
	host_cgroup_place_release(&place);
}

static uint64_t own_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return limit.rlim_cur;
}

int host_budget_read(struct host_budget *budget, uint64_t memory_bytes,
		     const struct host_roots *roots, struct error *err)
{
	struct host_available memory = { 0 };
	int result;

	*budget = (struct host_budget){ .budget_bytes = UINT64_MAX };
	result = host_available_read(&memory, roots->proc, err);
	if (result < 0)
		return result;
	budget->total_bytes = memory.total_bytes;
	budget->available_bytes = memory.available_bytes;
	budget->address_space_bytes = own_limit(RLIMIT_AS);
	budget->data_bytes = own_limit(RLIMIT_DATA);
	/* The first of equal bounds stands: what the user said. */
	if (memory_bytes)
		bound_by(budget, memory_bytes, HOST_BUDGET_OPTION, "");
	bound_by_cgroups(budget, roots, HOST_CGROUP_V1);
	bound_by_cgroups(budget, roots, HOST_CGROUP_V2);
	bound_by(budget, budget->available_bytes, HOST_BUDGET_AVAILABLE, "");
	return 0;
}
