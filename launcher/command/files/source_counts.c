/* What a script does with a number that may count the passes of a step. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_counts.h"

#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source.h"

#include <stdbool.h>
#include <string.h>

/* More of a line or of a block is not looked at, nor more places of a name. */
#define COUNT_LINE_BYTES 512
#define COUNT_BLOCK_BYTES 8192
#define COUNT_PLACES_MAX 256

/* A name in the text, and the line it stands in. */
struct count_place {
	const char *line, *line_end; /* without a comment */
	const char *begin;           /* of args.name */
	const char *name, *end;
	const char *block_end; /* a block that begins here ends there at most */
};

static struct count_place count_place_of(const char *text, const char *name,
					 size_t length)
{
	struct count_place place = {
		.line = name, .begin = name, .name = name, .end = name + length
	};

	while (place.line > text && place.line[-1] != '\n' &&
	       name - place.line < COUNT_LINE_BYTES)
		place.line--;
	place.block_end = name + strnlen(name, COUNT_BLOCK_BYTES);
	place.line_end = place.end;
	while (place.line_end < place.block_end &&
	       place.line_end - name < COUNT_LINE_BYTES &&
	       *place.line_end != '#' && *place.line_end != '\n')
		place.line_end++;
	/* A comment began before it. */
	if (memchr(place.line, '#', (size_t)(name - place.line)))
		place.line_end = name;
	while (place.begin > place.line &&
	       (pytext_is_word(place.begin[-1]) || place.begin[-1] == '.'))
		place.begin--;
	return place;
}

static bool count_holds(const char *at, const char *end, const char *piece)
{
	return at < end && memmem(at, (size_t)(end - at), piece, strlen(piece));
}

static bool ends_in(const char *start, const char *end, const char *piece)
{
	size_t length = strlen(piece);

	return (size_t)(end - start) >= length &&
	       memcmp(end - length, piece, length) == 0;
}

/* What stands before it, less blanks. */
static const char *end_before(const struct count_place *place)
{
	const char *at = place->begin;

	while (at > place->line && at[-1] == ' ')
		at--;
	return at;
}

/* loss / n, loss /= n; a // n is a number of steps. */
static bool divides(const struct count_place *place)
{
	const char *before = end_before(place);
	bool is_divisor = ends_in(place->line, before, "/") ||
			  ends_in(place->line, before, "/=");

	return is_divisor && !ends_in(place->line, before, "//") &&
	       (count_holds(place->line, place->line_end, "loss") ||
		count_holds(place->line, place->line_end, "backward("));
}

/* A name in the line, beside the one that is looked at, that is a batch's. */
static bool has_batch(const struct count_place *place)
{
	const unsigned batches = 1U << OPTION_BATCH | 1U << OPTION_MICRO |
				 1U << OPTION_MICRO_NODE | 1U << OPTION_GLOBAL;
	const char *at = place->line;

	while (at < place->line_end) {
		size_t bytes = 0;

		while (at + bytes < place->line_end &&
		       pytext_is_word(at[bytes]))
			bytes++;
		if (bytes && at != place->name &&
		    (batches & 1U << option_class_of(at, bytes)))
			return true;
		at += bytes + 1;
	}
	return false;
}

static bool is_factor(const struct count_place *place)
{
	const char *behind = place->end;

	while (*behind == ' ')
		behind++;
	return (ends_in(place->line, end_before(place), "*") ||
		*behind == '*') &&
	       has_batch(place);
}

static bool bounds_loop(const struct count_place *place)
{
	return ends_in(place->line, place->begin, "range(");
}

/* x.chunk(n), np.array_split(x, n): the call it is an argument of. */
static bool is_of_split(const struct count_place *place)
{
	const char *at = place->begin;

	for (int depth = 0; at > place->line && depth >= 0;) {
		at--;
		depth += (*at == ')') - (*at == '(');
	}
	return *at == '(' && (ends_in(place->line, at, "chunk") ||
			      ends_in(place->line, at, "split"));
}

/* for i in range(n): the counter of a loop that begins so shortly before the
 * line; no length: there is none. */
static const char *loop_counter(const struct count_place *place,
				const char *text, size_t *length)
{
	const char *from = place->line, *at;
	size_t bytes = (size_t)(place->end - place->name);

	*length = 0;
	while (from > text && place->line - from < COUNT_LINE_BYTES)
		from--;
	/* The last one before it. */
	for (at = place->line;
	     at > from && (at == place->line || strncmp(at, "for ", 4) != 0);)
		at--;
	if (strncmp(at, "for ", 4) != 0 ||
	    (at > text && pytext_is_word(at[-1])))
		return NULL;
	at += 4;
	while (pytext_is_word(at[*length]))
		++*length;
	from = at + *length;
	if (strncmp(from, " in range(", 10) == 0 &&
	    memmem(from, strcspn(from, "\n"), place->name, bytes))
		return at;
	*length = 0;
	return NULL;
}

/* part(batch, i, n) in a loop over i: it takes the i-th piece of n. */
static bool is_of_pieces(const struct count_place *place, const char *text)
{
	const char *open = place->begin, *counter, *at;
	size_t length;

	while (open > place->line && open[-1] != '(' && open[-1] != ')')
		open--;
	if (open == place->line || open[-1] != '(' ||
	    !count_holds(open, open + strcspn(open, ",)"), "batch"))
		return false;
	counter = loop_counter(place, text, &length);
	for (at = open; counter && at < place->begin; at++)
		if (!pytext_is_word(at[-1]) &&
		    strncmp(at, counter, length) == 0 &&
		    !pytext_is_word(at[length]))
			return true;
	return false;
}

/* opt.step(), scaler.step(optimizer), self.optim.step(): no scheduler's. */
static bool steps_optimizer(const char *at, const char *end)
{
	return count_holds(at, end, ".step(") &&
	       (count_holds(at, end, "opt") || count_holds(at, end, "scaler"));
}

static size_t count_indent(const char *line)
{
	return strspn(line, " \t");
}

/* Where the lines end that are indented more than this one. */
static const char *block_end(const struct count_place *place)
{
	size_t indent = count_indent(place->line);
	const char *at = place->line;

	for (;;) {
		at = memchr(at, '\n', (size_t)(place->block_end - at));
		if (!at)
			return place->block_end;
		at++;
		if (count_indent(at) <= indent &&
		    !strchr("\r\n#", at[count_indent(at)]))
			return at;
	}
}

/* So many lines behind it stands in training loops. */
#define GUARD_LINES 40

/* The "if stepping:" behind "stepping = (i + 1) % n == 0", else the line. */
static struct count_place guard_of(const struct count_place *place)
{
	const char *name = place->line + count_indent(place->line);
	size_t length = 0, lines = 0;

	while (pytext_is_word(name[length]))
		length++;
	if (length == 0 || strncmp(name + length, " = ", 3) != 0)
		return *place;
	for (const char *line = place->line_end;
	     line < place->block_end && lines < GUARD_LINES; lines++) {
		const char *at = line + count_indent(line);

		if (strncmp(at, "if ", 3) == 0 &&
		    strncmp(at + 3, name, length) == 0 &&
		    !pytext_is_word(at[3 + length])) {
			struct count_place guard = *place;

			guard.line = line;
			guard.line_end = line + strcspn(line, "\n");
			return guard;
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return *place;
}

/* Of "if (i + 1) % n == 0:" with a step in it, and no backward pass. */
static bool guards_step(const struct count_place *place)
{
	struct count_place guard;
	const char *first, *end, *at;
	bool steps = false;

	if (!ends_in(place->line, end_before(place), "%"))
		return false;
	guard = guard_of(place);
	at = guard.line;
	first = at + count_indent(at);
	if (!count_holds(first, guard.line_end, "if "))
		return false;
	end = block_end(&guard);
	if (count_holds(first, end, "backward("))
		return false;
	while (!steps && at < end) {
		const char *line_end = at + strcspn(at, "\n");

		steps = steps_optimizer(at, line_end);
		at = line_end + 1;
	}
	return steps;
}

static const struct count_use {
	bool (*is_so)(const struct count_place *place);
	unsigned use;
} count_uses[] = {
	{ divides, COUNT_DIVIDES },    { is_factor, COUNT_TIMES },
	{ bounds_loop, COUNT_LOOPS },  { is_of_split, COUNT_SPLITS },
	{ guards_step, COUNT_GUARDS },
};

unsigned source_count_uses(const char *text, const char *variable)
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);
	size_t length = strlen(variable);
	size_t places = 0;
	unsigned uses = 0;

	for (const char *at = text;
	     length && places < COUNT_PLACES_MAX &&
	     (at = memmem(at, (size_t)(end - at), variable, length));
	     at += length) {
		struct count_place place;

		if ((at > text && pytext_is_word(at[-1])) ||
		    pytext_is_word(at[length]))
			continue;
		places++;
		place = count_place_of(text, at, length);
		if (at >= place.line_end)
			continue;
		for (size_t i = 0; i < sizeof(count_uses) / sizeof(*count_uses);
		     i++)
			if (count_uses[i].is_so(&place))
				uses |= count_uses[i].use;
		if (is_of_pieces(&place, text))
			uses |= COUNT_SPLITS;
	}
	return uses;
}

/* The name at this place, without what stands before its last dot. */
static const char *count_name_at(const char *at, size_t *length)
{
	const char *behind = at, *dot;

	while (pytext_is_word(*behind) || *behind == '.')
		behind++;
	dot = memrchr(at, '.', (size_t)(behind - at));
	at = dot ? dot + 1 : at;
	*length = (size_t)(behind - at);
	return at;
}

/* for i in range(n): of so many batches the gradients add up to one step. */
static bool loops_passes(const struct count_place *place)
{
	const char *first = place->line + count_indent(place->line);
	const char *end = block_end(place);

	return bounds_loop(place) && count_holds(first, place->name, "for ") &&
	       end < place->block_end &&
	       count_holds(place->end, end, "backward(") &&
	       (count_holds(place->end, end, "next(") ||
		count_holds(place->end, end, "next__(") ||
		count_holds(place->end, end, "get_batch(")) &&
	       !count_holds(place->end, end, ".step(");
}

/* The next name behind such a mark that is used so; NULL: none. */
static const char *counted_name(const char *text, const char *from,
				size_t *length, const char *mark,
				bool (*counts)(const struct count_place *place))
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);

	while (from < end && (from = memmem(from, (size_t)(end - from), mark,
					    strlen(mark)))) {
		const char *name;
		struct count_place place;

		from += strlen(mark);
		name = count_name_at(from + strspn(from, " "), length);
		place = count_place_of(text, name, *length);
		if (*length && name < place.line_end && counts(&place))
			return name;
	}
	return NULL;
}

const char *source_step_guard(const char *text, const char *from,
			      size_t *length)
{
	return counted_name(text, from, length, "%", guards_step);
}

const char *source_pass_loop(const char *text, const char *from, size_t *length)
{
	return counted_name(text, from, length, "range(", loops_passes);
}
