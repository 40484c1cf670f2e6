/* The manual pages, from prose with marks and the tables they stand for. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SCRIPTS_PAGES_MANPAGE_H
#define AUTOFIT_SCRIPTS_PAGES_MANPAGE_H

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Append prose (roff), with what its marks stand for. A line that is only
 * @SUBCOMMANDS@, @OPTIONS@, @EXITS@, @RECORD_FIELDS@, @DEVICE_FIELDS@,
 * @PROBE_FIELDS@, @PRESET_KEYS@ or @EXAMPLE_KEYS@ is replaced by that table;
 * @VERSION@ and @SCHEMA@ may stand within a line. -EINVAL for another mark, or
 * a field or key without a text.
 */
int manpage_expand(struct strbuf *out, const char *prose, struct error *err);

/* What a field of a record's section means; NULL: nobody has written it. */
const char *manpage_record_field(const char *name);
const char *manpage_device_field(const char *name);
const char *manpage_probe_field(const char *name);
const char *manpage_setting_field(const char *name);

#endif
