/* Memory of the whole machine that is still to be had. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_available.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MEMINFO_MAX_BYTES 65536

/* "MemTotal:       24684084 kB" */
static bool meminfo_bytes(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);
	unsigned long long kib;
	char *end;

	if (!at || (at != text && at[-1] != '\n'))
		return false;
	errno = 0;
	at += strlen(name);
	kib = strtoull(at, &end, 10);
	if (end == at || errno || kib > UINT64_MAX / 1024)
		return false;
	*bytes = (uint64_t)kib * 1024;
	return true;
}

int host_available_read(struct host_available *memory, const char *proc,
			struct error *err)
{
	char *path = xasprintf("%s/meminfo", proc);
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, MEMINFO_MAX_BYTES, &text, err);

	if (result < 0)
		goto out;
	result = 0;
	if (!meminfo_bytes(strbuf_text(&text),
			   "MemTotal:", &memory->total_bytes) ||
	    !meminfo_bytes(strbuf_text(&text),
			   "MemAvailable:", &memory->available_bytes))
		result = error_set(err, -EINVAL,
				   "cannot read %s: it has no MemTotal and "
				   "MemAvailable",
				   path);
out:
	strbuf_release(&text);
	free(path);
	return result;
}

uint64_t host_available_floor(const struct host_available *start)
{
	uint64_t floor = start->total_bytes / 50;

	if (floor > start->available_bytes / 40)
		floor = start->available_bytes / 40;
	return floor < 64 * MIB ? 64 * MIB : floor;
}
