/* Fields of dataclasses that become options. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_fields.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/files/source_parsers.h"
#include "launcher/command/files/source_signature.h"

#include <stdlib.h>
#include <string.h>

/* Classes inside each other; deeper ones keep what is known of their names. */
#define CLASS_DEPTH_MAX 4
/* Places where classes are named; a script of more has options that nobody
 * knows. */
#define CLASS_PLACES_MAX 1024
/* Bases of them that are looked for. */
#define BASES_MAX 128
/* Of one call. */
#define CALL_BYTES_MAX 4096

struct fields_text {
	const char *start, *end;
	/* The parser says where a field stands: --data.batch_size. */
	bool nests;
	/* The class that was asked for last, and what stands before its
	 * fields. */
	const char *class;
	struct strlist prefixes;
	unsigned places; /* looked at so far */
	unsigned bases;  /* the same */
};

static bool has_field(const struct source *source)
{
	for (size_t i = 0; i < source->constant_count; i++)
		if (source->constants[i].field)
			return true;
	return false;
}

static const char *field_line(const struct fields_text *text, const char *at)
{
	const char *newline =
		memrchr(text->start, '\n', (size_t)(at - text->start));

	return newline ? newline + 1 : text->start;
}

static size_t field_indent(const char *line)
{
	return strspn(line, " \t");
}

/* The class or the function that the line belongs to: the last one before it
 * that is indented less, without its blanks; NULL: none. */
static const char *block_of(const struct fields_text *text, const char *line)
{
	size_t indent = field_indent(line);

	while (line > text->start) {
		size_t here;

		line = field_line(text, line - 1);
		here = field_indent(line);
		if (here < indent && (strncmp(line + here, "class ", 6) == 0 ||
				      strncmp(line + here, "def ", 4) == 0))
			return line + here;
	}
	return NULL;
}

/* The name behind "class " or "def "; of no bytes: the line has none. */
static struct span name_behind(const char *line, const char *word)
{
	struct span name = { NULL, 0 };

	if (!line || strncmp(line, word, strlen(word)) != 0)
		return name;
	name.at = line + strlen(word);
	while (pytext_is_word(name.at[name.length]))
		name.length++;
	return name;
}

/* "data" before ": Optional[Data]" of a field or a parameter; at is on Data. */
static struct span name_of_type(const char *line, const char *at)
{
	struct span name = { NULL, 0 };
	const char *end = at;

	while (end > line &&
	       (pytext_is_word(end[-1]) || strchr(" .[\"'|", end[-1])))
		end--;
	if (end == line || end[-1] != ':')
		return name;
	name.at = --end;
	while (name.at > line && pytext_is_word(name.at[-1]))
		name.at--;
	name.length = (size_t)(end - name.at);
	return name;
}

/* Is the type at `at` that of a parameter of a function that is handed to the
 * parser? line: where it stands; block: what that belongs to. */
static bool is_of_handed(const struct fields_text *text, const char *line,
			 const char *block, const char *at)
{
	const char *def = line + field_indent(line);
	struct span name = name_behind(def, "def ");

	if (!name.length) {
		def = block;
		name = name_behind(def, "def ");
	}
	/* Behind its brackets is its body. */
	return name.length && !memmem(def, (size_t)(at - def), "):", 2) &&
	       !memmem(def, (size_t)(at - def), ") ->", 4) &&
	       source_signature_is_handed(text->start, text->end, name.at,
					  name.length);
}

/* "data" where the class at `at` is an argument of add_class_arguments(). */
static struct span key_of_call(const struct fields_text *text, const char *at)
{
	static const char *const calls[] = { "add_argument(",
					     "add_class_arguments(",
					     "add_dataclass_arguments(" };
	const char *open = at;

	while (open > text->start && !strchr("()\n", open[-1]))
		open--;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		size_t length = strlen(calls[i]);

		if ((size_t)(open - text->start) >= length &&
		    memcmp(open - length, calls[i], length) == 0)
			return source_signature_key(open, text->end);
	}
	return (struct span){ NULL, 0 };
}

static void prefixes_find(struct fields_text *text, struct span class,
			  const char *behind, unsigned depth,
			  struct strlist *out);

/* Where the class is named at `at`: a field's type, a base of another class.
 * False: something else. */
static bool prefixes_find_at(struct fields_text *text, const char *at,
			     const char *behind, unsigned depth,
			     struct strlist *out)
{
	const char *line = field_line(text, at);
	const char *block = block_of(text, line);
	struct span derived = name_behind(line, "class ");
	struct span holder = name_behind(block, "class ");
	struct span name = name_of_type(line, at);
	struct span key = key_of_call(text, at);
	char *longer;

	if (key.length) {
		strlist_addf(out, "%.*s.%s", (int)key.length, key.at, behind);
		return true;
	}

	if (derived.length && at > derived.at + derived.length) {
		prefixes_find(text, derived, behind, depth, out);
		return true;
	}
	holder.length =
		name.at == line + field_indent(line) ? holder.length : 0;
	if (!name.length ||
	    (!holder.length && !is_of_handed(text, line, block, at)))
		return false;
	longer = xasprintf("%.*s.%s", (int)name.length, name.at, behind);
	if (holder.length)
		prefixes_find(text, holder, longer, depth, out);
	else
		strlist_add(out, longer);
	free(longer);
	return true;
}

/* What stands before the names of the fields of a class, before `behind`. */
static void prefixes_find(struct fields_text *text, struct span class,
			  const char *behind, unsigned depth,
			  struct strlist *out)
{
	const char *at = text->start;
	bool is_part = false;

	while (depth < CLASS_DEPTH_MAX && text->places < CLASS_PLACES_MAX &&
	       (at = memmem(at, (size_t)(text->end - at), class.at,
			    class.length))) {
		if (at > text->start && !pytext_is_word(at[-1]) &&
		    !pytext_is_word(at[class.length])) {
			text->places++;
			is_part |= prefixes_find_at(text, at, behind, depth + 1,
						    out);
		}
		at += class.length;
	}
	if (!is_part)
		strlist_add(out, behind);
}

static struct span class_name_at(const char *at)
{
	struct span name = { at, 0 };

	while (at && pytext_is_word(at[name.length]))
		name.length++;
	return name;
}

/* Where fields are of that type; of classes derived from it no more is asked.
 */
static void fields_of_type(struct fields_text *text, struct span type,
			   struct strlist *out)
{
	const char *at = text->start;

	while (text->places < CLASS_PLACES_MAX &&
	       (at = memmem(at, (size_t)(text->end - at), type.at,
			    type.length))) {
		if (at > text->start && !pytext_is_word(at[-1]) &&
		    !pytext_is_word(at[type.length])) {
			text->places++;
			if (!name_behind(field_line(text, at), "class ").length)
				(void)prefixes_find_at(text, at, "", 1, out);
		}
		at += type.length;
	}
}

/* Parser(Class), [Class, Other]: somebody is handed it, and not as the default
 * of a field, default_factory=Class. */
static bool class_is_handed_on(struct fields_text *text, struct span class)
{
	static const char factory[] = "default_factory=";
	const char *at = text->start;

	while ((at = memmem(at, (size_t)(text->end - at), class.at,
			    class.length))) {
		bool is_default =
			(size_t)(at - text->start) > strlen(factory) &&
			memcmp(at - strlen(factory), factory,
			       strlen(factory)) == 0;

		if (at > text->start && strchr("([,=", at[-1]) && !is_default &&
		    !pytext_is_word(at[class.length]) &&
		    (text->places++ >= CLASS_PLACES_MAX ||
		     !name_behind(field_line(text, at), "class ").length))
			return true;
		at += class.length;
	}
	return false;
}

static bool are_empty(const struct strlist *prefixes)
{
	for (size_t i = 0; i < prefixes->count; i++)
		if (*prefixes->items[i])
			return false;
	return true;
}

/* The name in the line that begins a class; of no bytes: it is not there. */
static struct span class_defined(struct fields_text *text, struct span name)
{
	static const char word[] = "class ";
	size_t length = strlen(word);
	const char *at = text->start;

	while ((at = memmem(at, (size_t)(text->end - at), name.at,
			    name.length))) {
		struct span here = { NULL, 0 };

		if ((size_t)(at - text->start) >= length &&
		    memcmp(at - length, word, length) == 0 &&
		    text->places++ < CLASS_PLACES_MAX)
			here = name_behind(field_line(text, at), word);
		if (here.at == at && here.length == name.length)
			return here;
		at += name.length;
	}
	return (struct span){ NULL, 0 };
}

/* A class that nobody names stands where one of its bases does, or of theirs:
 * as one choice of several. */
static void prefixes_of_bases(struct fields_text *text, struct span class,
			      unsigned depth, struct strlist *out)
{
	const char *base = span_end(class);
	const char *close = base + strcspn(base, ")\n");

	if (depth == CLASS_DEPTH_MAX || text->bases >= BASES_MAX ||
	    *base != '(' || *close != ')' || class_is_handed_on(text, class))
		return;
	while (++base < close && !out->count && text->bases++ < BASES_MAX) {
		struct span name = class_name_at(base), found = { NULL, 0 };

		if (name.length > 1) {
			fields_of_type(text, name, out);
			found = class_defined(text, name);
		}
		if (!out->count && found.length)
			prefixes_of_bases(text, found, depth + 1, out);
		base += name.length;
	}
}

/* Of the class of the field in that line. */
static void prefixes_of(struct fields_text *text, const char *line)
{
	struct span class = name_behind(block_of(text, line), "class ");
	struct strlist of_bases = STRLIST_INIT;

	if (text->prefixes.count && class.at == text->class)
		return;
	text->class = class.at;
	strlist_release(&text->prefixes);
	if (class.length && text->nests) {
		prefixes_find(text, class, "", 0, &text->prefixes);
		if (are_empty(&text->prefixes))
			prefixes_of_bases(text, class, 0, &of_bases);
		if (of_bases.count) {
			strlist_release(&text->prefixes);
			text->prefixes = of_bases;
		}
	} else
		strlist_add(&text->prefixes, "");
}

/* field=, in the call whose bracket is before at. */
static bool has_keyword(const char *at, const char *end, const char *field)
{
	struct pytext cursor = { .at = at, .end = end, .line = 1 };
	const char *word;
	size_t length;
	int depth = 0;

	if ((size_t)(end - at) > CALL_BYTES_MAX)
		cursor.end = at + CALL_BYTES_MAX;
	while (cursor.at < cursor.end && depth >= 0) {
		if (pytext_is_quote(*cursor.at)) {
			pytext_string(&cursor, &word, &length);
			continue;
		}
		if (!pytext_is_word_start(*cursor.at)) {
			depth += (*cursor.at == '(') - (*cursor.at == ')');
			pytext_step(&cursor);
			continue;
		}
		pytext_word(&cursor, &word, &length);
		if (depth == 0 && pytext_word_is(word, length, field) &&
		    cursor.at < cursor.end && *cursor.at == '=')
			return true;
	}
	return false;
}

/* Config(batch_size=32), somewhere: which value the parser is given is not
 * known. */
static bool is_given_anew(struct fields_text *text, struct span class,
			  const char *field)
{
	const char *at = text->start;
	char *call;
	size_t length;
	bool found = false;

	if (class.length == 0)
		return false;
	call = xasprintf("%.*s(", (int)class.length, class.at);
	length = strlen(call);
	while (!found && text->places < CLASS_PLACES_MAX &&
	       (at = memmem(at, (size_t)(text->end - at), call, length))) {
		bool is_call = at > text->start && !pytext_is_word(at[-1]) &&
			       at != class.at;

		text->places++;
		at += length;
		found = is_call && has_keyword(at, text->end, field);
	}
	free(call);
	return found || text->places == CLASS_PLACES_MAX;
}

static void field_add(struct fields_text *text, struct source *source,
		      const struct source_constant *constant,
		      const char *prefix)
{
	struct source_option option = { .kind = constant->kind,
					.value = constant->value,
					.line = constant->line };
	char *name = xasprintf("--%s%s", prefix, constant->name);

	option.help = constant->help ? xstrdup(constant->help) : NULL;
	if (option_class_of(constant->name, strlen(constant->name)) !=
		    OPTION_OTHER &&
	    is_given_anew(text, class_name_at(text->class), constant->name))
		option.kind = SOURCE_OTHER;
	source_option_derive(&option, name);
	source_option_add(source, &option);
	free(name);
}

void source_fields_read(struct source *source, const char *start,
			const char *end)
{
	struct fields_text text = { .start = start, .end = end };
	const char *line = start;
	unsigned number = 1;

	if (!has_field(source) || !source_parsers_take_fields(start))
		return;
	text.nests = source_parsers_nest(start);
	for (size_t i = 0; i < source->constant_count; i++) {
		const struct source_constant *constant = &source->constants[i];

		if (!constant->field)
			continue;
		for (; number < constant->line; number++)
			line = strchrnul(line, '\n') + 1;
		prefixes_of(&text, line);
		if (text.places == CLASS_PLACES_MAX)
			break;
		for (size_t k = 0; k < text.prefixes.count; k++)
			field_add(&text, source, constant,
				  text.prefixes.items[k]);
	}
	strlist_release(&text.prefixes);
}
