/* A record before it is handed on to others. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/records_share.h"

#include "configs/secrets/secrets.h"

#include <stdlib.h>

static void records_share_mask(struct strlist *list)
{
	struct strlist masked = STRLIST_INIT;

	secrets_mask_argv(&masked, list);
	strlist_release(list);
	*list = masked;
}

void record_share_strip(struct record *record)
{
	for (size_t i = 0; i < record->probes.count; i++) {
		free(record->probes.items[i].log);
		record->probes.items[i].log = NULL;
	}
	records_share_mask(&record->argv);
	records_share_mask(&record->recommended_argv);
	records_share_mask(&record->recommended_env);
}
