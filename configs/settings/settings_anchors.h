/* Anchors of YAML: which items an alias means too. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SETTINGS_SETTINGS_ANCHORS_H
#define AUTOFIT_CONFIGS_SETTINGS_SETTINGS_ANCHORS_H

#include "base/strlist.h"
#include "configs/settings/settings.h"

/* An anchor's items, from first to before end. */
struct settings_anchor {
	char *name;
	size_t first, end;
};

struct settings_anchors {
	struct settings_anchor *items;
	size_t count, capacity;
	struct strlist aliases; /* the names that were asked for */
};

/* The node that begins has this anchor, or none (NULL). For the end of it. */
size_t settings_anchor_begin(struct settings_anchors *anchors, const char *name,
			     size_t first);
void settings_anchor_end(struct settings_anchors *anchors, size_t anchor,
			 size_t end);

/* What an aliased anchor names is no scalar of its own. */
void settings_mark_aliased(struct settings *settings,
			   struct settings_anchors *anchors);
void settings_anchors_release(struct settings_anchors *anchors);

#endif
