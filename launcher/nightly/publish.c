/* Records for everybody: into a folder that AUTOFIT_SITE can name. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/publish.h"

#include "base/alloc.h"
#include "configs/records/record_files.h"
#include "launcher/records/records_share.h"

#include <stdlib.h>
#include <string.h>

/* One that is as new is there already. A damaged file is none. */
static bool has_newer(const struct record *record, const char *folder)
{
	struct strlist files = STRLIST_INIT;
	bool found = false;

	(void)record_list_fitting(&files, folder, record->identity, NULL);
	for (size_t i = 0; i < files.count && !found; i++) {
		struct record there;

		if (record_read(&there, files.items[i], NULL) < 0)
			continue;
		found = strcmp(there.identity, record->identity) == 0 &&
			there.created >= record->created;
		record_release(&there);
	}
	strlist_release(&files);
	return found;
}

int publish_record(const struct record *record, const char *site,
		   struct error *err)
{
	char *folder = xasprintf("%s/records", site);
	struct strbuf text = STRBUF_INIT;
	struct record copy;
	int result = record_format(record, &text, err);

	if (result == 0 && has_newer(record, folder)) {
		strbuf_release(&text);
		free(folder);
		return 0;
	}
	if (result == 0)
		result = record_parse(&copy, record->id, &text, err);
	if (result == 0) {
		record_share_strip(&copy);
		result = record_publish(&copy, folder, err);
		record_release(&copy);
	}
	strbuf_release(&text);
	free(folder);
	return result < 0 ? result : 1;
}
