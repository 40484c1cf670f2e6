/* Tonight against the last night, job by job. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_compare.h"

#include "base/alloc.h"
#include "configs/identity/identity_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void night_compare_add_part(struct strbuf *out, const char *part)
{
	if (!*part)
		return;
	if (out->length)
		strbuf_adds(out, "; ");
	strbuf_adds(out, part);
}

/* The version of the package that an item "torch 2.9.0" names; NULL: none. */
static const char *version_in(const struct strlist *versions, const char *item)
{
	size_t length = strcspn(item, " ");

	for (size_t i = 0; i < versions->count; i++)
		if (strncmp(versions->items[i], item, length) == 0 &&
		    versions->items[i][length] == ' ')
			return versions->items[i] + length + 1;
	return NULL;
}

static void add_versions(struct strbuf *out, const struct strlist *old,
			 const struct strlist *new)
{
	for (size_t i = 0; i < new->count; i++) {
		const char *item = new->items[i];
		const char *was = version_in(old, item);
		size_t length = strcspn(item, " ");
		char *part;

		if (!was || !item[length] ||
		    strcmp(was, item + length + 1) == 0)
			continue;
		part = xasprintf("%.*s %s -> %s", (int)length, item, was,
				 item + length + 1);
		night_compare_add_part(out, part);
		free(part);
	}
}

static bool texts_differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static void add_texts(struct strbuf *out, const char *what, const char *old,
		      const char *new)
{
	char *part;

	if (!texts_differ(old, new))
		return;
	part = xasprintf("%s %s -> %s", what, old, new);
	night_compare_add_part(out, part);
	free(part);
}

static bool is_same_split(const struct night_row *old,
			  const struct night_row *new)
{
	return old->batch.micro_batch == new->batch.micro_batch &&
	       old->batch.grad_accum == new->batch.grad_accum &&
	       old->batch.world_size == new->batch.world_size;
}

/* By how much a number night_compare_moved, as a share of the old one; 0: not
 * known. */
static double night_compare_moved(double old, double new)
{
	return old > 0 && new > 0 ? new / old - 1 : 0;
}

static double peak_moved(const struct night_row *old,
			 const struct night_row *new)
{
	return is_same_split(old, new)
		       ? night_compare_moved((double)old->peak_bytes,
					     (double)new->peak_bytes)
		       : 0;
}

static void add_percent(struct strbuf *out, const char *what, double share)
{
	char *part = xasprintf("%s %+.0f%%", what, share * 100);

	night_compare_add_part(out, part);
	free(part);
}

/* Beyond the threshold, and beyond what both rates may be wrong by. */
static double speed_moved(const struct night_row *old,
			  const struct night_row *new)
{
	double share = night_compare_moved(old->speed, new->speed);
	double noise =
		old->speed > 0 ? (old->spread + new->spread) / old->speed : 0;

	return fabs(share) > COMPARE_SPEED && fabs(share) > noise ? share : 0;
}

static void night_compare_add_split(struct strbuf *out,
				    const struct night_row *old,
				    const struct night_row *new)
{
	char *part;

	if (is_same_split(old, new) || !old->batch.micro_batch ||
	    !new->batch.micro_batch)
		return;
	part = xasprintf("micro %" PRId64 " x accum %" PRId64 " -> micro "
			 "%" PRId64 " x accum %" PRId64,
			 old->batch.micro_batch, old->batch.grad_accum,
			 new->batch.micro_batch, new->batch.grad_accum);
	night_compare_add_part(out, part);
	free(part);
}

/* Of the command and all that it was tuned with. */
static void add_identity(struct strbuf *out, const char *old, const char *new)
{
	struct strbuf part = STRBUF_INIT;

	if (texts_differ(old, new))
		(void)identity_grade(old, new, &part);
	night_compare_add_part(out, strbuf_text(&part));
	strbuf_release(&part);
}

static void add_causes(struct strbuf *out, const struct night_row *old,
		       const struct night_row *new)
{
	add_versions(out, &old->versions, &new->versions);
	add_identity(out, old->identity, new->identity);
	if (!old->identity || !new->identity)
		add_texts(out, "command", old->command, new->command);
	add_texts(out, "device", old->device, new->device);
	if (fabs(peak_moved(old, new)) >= COMPARE_PEAK)
		add_percent(out, "peak", peak_moved(old, new));
}

/* "torch 2.8.0 -> 2.9.0; peak +6%": empty where all is the same. */
static void night_difference(const struct night_row *old,
			     const struct night_row *new, struct strbuf *out)
{
	if (old->state != new->state) {
		char *part = xasprintf("%s -> %s", night_state_name(old->state),
				       night_state_name(new->state));

		night_compare_add_part(out, part);
		free(part);
	}
	night_compare_add_split(out, old, new);
	if (speed_moved(old, new) != 0)
		add_percent(out, "speed", speed_moved(old, new));
	add_causes(out, old, new);
}

/* Larger and faster is better; of one split, less memory too. */
static enum night_change judge(const struct night_row *old,
			       const struct night_row *new)
{
	double speed = speed_moved(old, new);
	double peak = peak_moved(old, new);

	if (old->state != NIGHT_OK)
		return CHANGE_BETTER;
	if (new->batch.micro_batch != old->batch.micro_batch)
		return new->batch.micro_batch > old->batch.micro_batch
			       ? CHANGE_BETTER
			       : CHANGE_WORSE;
	if (speed != 0)
		return speed > 0 ? CHANGE_BETTER : CHANGE_WORSE;
	if (fabs(peak) >= COMPARE_PEAK)
		return peak < 0 ? CHANGE_BETTER : CHANGE_WORSE;
	return CHANGE_SAME;
}

void night_compare(struct night_row *row, const struct night_row *old)
{
	struct strbuf cause = STRBUF_INIT;

	if (row->state == NIGHT_NOT_RUN)
		row->change = CHANGE_NONE;
	else if (row->state == NIGHT_FAILING)
		row->change = CHANGE_FAILING;
	else if (!old || old->state == NIGHT_NOT_RUN)
		row->change = CHANGE_NEW;
	else
		row->change = judge(old, row);
	if (old && row->state == NIGHT_FAILING && old->state == NIGHT_OK)
		add_causes(&cause, old, row);
	else if (old && row->state == NIGHT_OK && row->change != CHANGE_NEW)
		night_difference(old, row, &cause);
	free(row->cause);
	row->cause = cause.length ? strbuf_detach(&cause) : NULL;
	strbuf_release(&cause);
}

bool night_needs_look(const struct night_row *row)
{
	return row->is_required &&
	       (row->change == CHANGE_FAILING || row->change == CHANGE_WORSE ||
		row->state == NIGHT_NOT_RUN);
}
