/* What a script divides among its ranks, or multiplies by them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_shares.h"

#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source.h"
#include "launcher/command/text/option_class.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* More of what stands behind an operator is not looked at, nor of a call. */
#define OPERAND_BYTES 80
#define SLICE_BYTES 160
#define SLICES_MAX 64
/* So many names are looked for that may be the rows of a pass. */
#define ROWS_ASKED_MAX 2

static bool mentions(const char *text, size_t length, const char *piece)
{
	size_t bytes = strlen(piece);

	for (size_t i = 0; i + bytes <= length; i++)
		if (strncasecmp(text + i, piece, bytes) == 0)
			return true;
	return false;
}

static bool mentions_any(const char *text, size_t length,
			 const char *const *pieces)
{
	for (; *pieces; pieces++)
		if (mentions(text, length, *pieces))
			return true;
	return false;
}

/* Bytes of "dist.get_world_size()", "args.accum // len(args.gpus)". */
static size_t operand_length(const char *at, const char *end)
{
	const char *start = at;
	int depth = 0;

	if (end - at > OPERAND_BYTES)
		end = at + OPERAND_BYTES;
	while (at < end && !strchr(depth ? "#=:;<>" : "\n#=:;<>", *at)) {
		depth +=
			(*at == '(' || *at == '[') - (*at == ')' || *at == ']');
		if (depth < 0 || (depth == 0 && strchr(",+-%", *at)))
			break;
		at++;
	}
	return (size_t)(at - start);
}

/* What is read, and for whom. */
struct shares {
	const char *text, *end;
	const char *accum; /* its variable, whatever its words; NULL */
	source_share_visit *visit;
	void *context;
	unsigned rows_asked;
};

/* A name in it that speaks of accumulation, or is the one that is known. */
static bool has_accum(const struct shares *shares, const char *at,
		      size_t length)
{
	size_t known = shares->accum ? strlen(shares->accum) : 0;

	for (size_t i = 0; i < length;) {
		size_t bytes = 0;

		while (i + bytes < length && pytext_is_word(at[i + bytes]))
			bytes++;
		if (bytes && ((bytes == known &&
			       memcmp(at + i, shares->accum, known) == 0) ||
			      option_class_of(at + i, bytes) == OPTION_ACCUM))
			return true;
		i += bytes + 1;
	}
	return false;
}

/* Ranks that an operand counts: of a node, of all, or none. */
static enum source_share ranks_in(const char *at, size_t length)
{
	static const char *const node[] = { "per_node",    "pernode",
					    "per_machine", "local_world",
					    "local_size",  "device_count",
					    NULL };
	static const char *const all[] = {
		"world",     "gpu",        "nproc",    "num_proc", "n_proc",
		"replica",   "num_device", "n_device", "devices",  "hvd.size",
		"num_cards", "num_ranks",  "n_ranks",  "dp_size",  "mpi_size",
		"my_size",   NULL
	};
	static const char *const neither[] = { "mem", "gpu_id", NULL };

	if (mentions_any(at, length, neither))
		return SHARE_NONE;
	if (mentions_any(at, length, node))
		return SHARE_OF_NODE;
	return mentions_any(at, length, all) ? SHARE_OF_ALL : SHARE_NONE;
}

/* The last name before at, over blanks and closing brackets. */
static const char *factor_before(const char *text, const char *at,
				 const char **name, size_t *length)
{
	while (at > text && (at[-1] == ' ' || at[-1] == ')'))
		at--;
	*length = 0;
	while (at > text && pytext_is_word(at[-1])) {
		at--;
		++*length;
	}
	*name = at;
	/* args. before it */
	while (at > text && (pytext_is_word(at[-1]) || at[-1] == '.'))
		at--;
	while (at > text && (at[-1] == ' ' || at[-1] == '('))
		at--;
	return at;
}

/* inputs.shape[0] and x.size(0) before at: the rows of whatever is there. */
static bool is_rows(const char *text, const char *at)
{
	static const char *const rows[] = { "shape[0]", "size(0)",
					    "size()[0]" };

	while (at > text && at[-1] == ' ')
		at--;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length = strlen(rows[i]);

		if ((size_t)(at - text) > length &&
		    memcmp(at - length, rows[i], length) == 0)
			return true;
	}
	return false;
}

/* "rows = x.size(0)", and nothing else in the line. */
static bool is_rows_name(const char *text, const char *end, struct span name)
{
	for (const char *at = text;
	     (at = memmem(at, (size_t)(end - at), name.at, name.length));
	     at += name.length) {
		const char *behind = at + name.length, *line_end;

		behind += strspn(behind, " ");
		if (*behind != '=' || (at > text && !strchr("\n\t ", at[-1])))
			continue;
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			return false;
		while (line_end > behind && strchr(" \r", line_end[-1]))
			line_end--;
		if (is_rows(behind, line_end))
			return true;
	}
	return false;
}

/* In len(data) // batch_size // world it is no batch that is divided. */
static bool is_divisor(const char *text, const char *before)
{
	return before > text && (before[-1] == '/' || before[-1] == '*');
}

static void times_visit(const struct shares *shares, const char *at,
			enum source_share share, bool by_accum)
{
	enum source_accum accum = by_accum ? ACCUM_TIMES : ACCUM_NONE;
	const char *name;
	size_t length;

	share = share == SHARE_NONE ? SHARE_NONE : SHARE_TIMES;
	do {
		at = factor_before(shares->text, at, &name, &length);
		if (length)
			shares->visit(shares->context, name, length, share,
				      accum);
	} while (length && at > shares->text && *--at == '*');
}

static void rows_visit(const struct shares *shares, enum source_share share,
		       enum source_accum accum)
{
	shares->visit(shares->context, SHARE_ROWS, strlen(SHARE_ROWS), share,
		      accum);
}

/* batch % world: only what is shared has to be a multiple. */
static void modulo_visit(struct shares *shares, const char *at,
			 enum source_share share)
{
	struct span name;

	(void)factor_before(shares->text, at, &name.at, &name.length);
	if (!name.length || share == SHARE_NONE)
		return;
	shares->visit(shares->context, name.at, name.length, share, ACCUM_NONE);
	if (shares->rows_asked++ < ROWS_ASKED_MAX &&
	    is_rows_name(shares->text, shares->end, name))
		rows_visit(shares, share, ACCUM_NONE);
}

/* batch // world, batch / accum */
static void quotient_visit(const struct shares *shares, const char *at,
			   enum source_share share, bool by_accum)
{
	const char *name, *before;
	size_t length;

	if (by_accum && is_rows(shares->text, at))
		rows_visit(shares, SHARE_NONE, ACCUM_DIVIDES);
	before = factor_before(shares->text, at, &name, &length);
	if (length && !is_divisor(shares->text, before) &&
	    (share != SHARE_NONE || by_accum))
		shares->visit(shares->context, name, length, share,
			      by_accum ? ACCUM_DIVIDES : ACCUM_NONE);
}

/* The operator at at; where the text behind it is read on. */
static const char *operator_visit(struct shares *shares, const char *at)
{
	const char *behind = at + 1, *end = shares->end;
	enum source_share share;
	size_t operand;
	bool by_accum;

	while (behind < end && (*behind == '/' || *behind == '='))
		behind++;
	if (*at == '*' && behind < end && *behind == '*')
		return behind + 1;
	operand = operand_length(behind, end);
	share = ranks_in(behind, operand);
	if (*at == '%') {
		modulo_visit(shares, at, share);
		return behind;
	}
	/* Most products have no such word at all. */
	by_accum = (*at != '*' || shares->accum ||
		    memmem(behind, operand, "acc", 3)) &&
		   has_accum(shares, behind, operand);
	if (*at == '/')
		quotient_visit(shares, at, share, by_accum);
	else if (share != SHARE_NONE || by_accum)
		times_visit(shares, at, share, by_accum);
	return behind;
}

/* slice_batch(batch, self.rank, self.world_size): of these arguments, a batch
 * that trains, a rank, and how many there are. */
static bool slices_batch(const char *at, const char *end)
{
	size_t first = strcspn(at, ",()\n"), length;
	const char *rank;

	end = end - at > SLICE_BYTES ? at + SLICE_BYTES : end;
	if (at + first >= end || at[first] != ',' ||
	    !mentions(at, first, "batch") ||
	    option_class_of(at, first) == OPTION_DECOY)
		return false;
	rank = at + first + 1;
	length = strcspn(rank, ",\n");
	if (rank + length >= end || rank[length] != ',' ||
	    !mentions(rank, length, "rank"))
		return false;
	rank += length + 1;
	return ranks_in(rank, operand_length(rank, end)) == SHARE_OF_ALL;
}

/* exact_div(batch, world * accum): the comma is the sign. */
static void divisions_visit(const struct shares *shares)
{
	static const char verb[] = "div";
	const char *end = shares->end;

	for (const char *at = shares->text;
	     (at = memmem(at, (size_t)(end - at), verb, strlen(verb)));) {
		size_t operand;

		at += strlen(verb);
		while (at < end && pytext_is_word(*at))
			at++;
		if (at == end || *at != '(')
			continue;
		at += 1 + strcspn(at + 1, ",()\n");
		if (at >= end || *at != ',')
			continue;
		operand = operand_length(at + 1, end);
		quotient_visit(shares, at, ranks_in(at + 1, operand),
			       has_accum(shares, at + 1, operand));
	}
}

static void slices_visit(const struct shares *shares)
{
	static const char *const verbs[] = { "slice", "shard", "split",
					     "chunk" };
	const char *end = shares->end;
	unsigned slices = 0;

	if (!memmem(shares->text, (size_t)(end - shares->text), "rank",
		    strlen("rank")))
		return;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		for (const char *at = shares->text;
		     slices < SLICES_MAX &&
		     (at = memmem(at, (size_t)(end - at), verbs[i],
				  strlen(verbs[i])));
		     slices++) {
			at += strlen(verbs[i]);
			while (at < end && pytext_is_word(*at))
				at++;
			if (at < end && *at == '(' && slices_batch(at + 1, end))
				rows_visit(shares, SHARE_OF_ALL, ACCUM_NONE);
		}
}

void source_shares_visit(const char *text, source_share_visit *visit,
			 void *context)
{
	source_shares_visit_by(text, NULL, visit, context);
}

void source_shares_visit_by(const char *text, const char *accum,
			    source_share_visit *visit, void *context)
{
	struct shares shares = {
		.text = text,
		.end = text + strnlen(text, SOURCE_BYTES_MAX),
		.accum = accum,
		.visit = visit,
		.context = context,
	};
	const char *at = text;

	slices_visit(&shares);
	divisions_visit(&shares);
	while (at < shares.end) {
		at += strcspn(at, "/*%#");
		if (at >= shares.end)
			return;
		if (*at == '#') {
			at = memchr(at, '\n', (size_t)(shares.end - at));
			if (!at)
				return;
			continue;
		}
		at = operator_visit(&shares, at);
	}
}
