/* What the autofit in front of a rank tells, in a file of a shared folder. */
/* SPDX-License-Identifier: MIT */
#include "probes/nodes/node_report.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_MAGIC UINT64_C(0x314e4b4e41525541) /* "AURANKN1" */
/* No node has as much; sums over all ranks stay numbers. */
#define NODE_BYTES_MAX (UINT64_C(1) << 50)
#define NODE_COUNT_MAX 1000000

void node_report_where(char name[NODE_NAME_MAX])
{
	const char *told = getenv("SLURMD_NODENAME");

	memset(name, 0, NODE_NAME_MAX);
	if (told && *told)
		(void)snprintf(name, NODE_NAME_MAX, "%s", told);
	else
		(void)gethostname(name, NODE_NAME_MAX - 1);
}

char *node_report_folder(const char *folder, int rank)
{
	return xasprintf("%s/rank-%d", folder, rank);
}

static char *node_report_path(const char *folder, int rank)
{
	return xasprintf("%s/rank.%d", folder, rank);
}

int node_report_write(const char *folder, struct node_page *page,
		      struct error *err)
{
	char *path = node_report_path(folder, page->report.rank);
	char *new = xasprintf("%s.new", path);
	int result = 0;
	int fd =
		open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		     0600);

	page->report.magic = NODE_MAGIC;
	page->report.size = sizeof(page->report);
	if (fd < 0)
		result = -errno;
	if (result == 0)
		result = file_write_all(fd, page, sizeof(*page));
	/* A network file system tells of a full disk here. */
	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = -errno;
	if (result == 0 && rename(new, path) < 0)
		result = -errno;
	if (result < 0)
		(void)error_set_errno(err, result, "cannot write %s", path);
	free(new);
	free(path);
	return result;
}

void node_report_remove(const char *folder, int rank)
{
	char *path = node_report_path(folder, rank);
	char *new = xasprintf("%s.new", path);

	(void)unlink(path);
	(void)unlink(new);
	free(new);
	free(path);
}

static void bound(uint64_t *value, uint64_t most)
{
	if (*value > most)
		*value = 0;
}

static bool is_sane(struct node_report *report, int rank)
{
	if (report->magic != NODE_MAGIC || report->size != sizeof(*report) ||
	    report->state > NODE_RANK_OVER || report->rank != rank)
		return false;
	report->node[NODE_NAME_MAX - 1] = '\0';
	bound(&report->host.current_bytes, NODE_BYTES_MAX);
	bound(&report->host.peak_bytes, NODE_BYTES_MAX);
	bound(&report->host.swap_bytes, NODE_BYTES_MAX);
	bound(&report->host.cpu_ticks, NODE_BYTES_MAX);
	bound(&report->host.io_bytes, NODE_BYTES_MAX);
	bound(&report->available_bytes, NODE_BYTES_MAX);
	bound(&report->oom_kills, NODE_COUNT_MAX);
	if (report->host.processes > NODE_COUNT_MAX)
		report->host.processes = 0;
	if (report->foreign_kills < 0 || report->foreign_kills > NODE_COUNT_MAX)
		report->foreign_kills = 0;
	return true;
}

bool node_report_read(const char *folder, int rank, struct node_page *page)
{
	char *path = node_report_path(folder, rank);
	struct strbuf text = STRBUF_INIT;
	bool is_there = textfile_read(path, sizeof(*page), &text, NULL) == 0 &&
			text.length == sizeof(*page);

	if (is_there)
		memcpy(page, text.data, sizeof(*page));
	strbuf_release(&text);
	free(path);
	return is_there && is_sane(&page->report, rank);
}
