/* The table at the terminal while a night goes on. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_live.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "launcher/command/text/text.h"
#include "launcher/report/report_style.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAW_EVERY_MS 500
#define NAME_COLUMNS_MAX 32
/* Of what no terminal tells. */
#define LINES_OTHERWISE 24

/* "      32      1   43 MiB ...  fits": a row of report_probe(). */
static bool read_probe_row(const char *line, struct batch *sizes, bool *fits)
{
	const char *end = line + strcspn(line, "\n");
	const char *word;
	char *at;

	if (*line != ' ')
		return false;
	sizes->micro_batch = strtoll(line, &at, 10);
	if (at == line || *at != ' ' || sizes->micro_batch < 1)
		return false;
	line = at;
	sizes->grad_accum = strtoll(line, &at, 10);
	if (at == line || *at != ' ' || sizes->grad_accum < 1)
		return false;
	word = strstr(at, "  fits");
	*fits = word && word < end;
	return true;
}

void night_live_read_log(struct night_live_row *row, const char *text)
{
	struct batch sizes = { 0 };
	bool fits;

	for (const char *line = text; *line; line += *line == '\n') {
		if (read_probe_row(line, &sizes, &fits)) {
			row->probes++;
			if (fits && sizes.micro_batch >= row->best.micro_batch)
				row->best = sizes;
		}
		line += strcspn(line, "\n");
	}
}

static void add_cut_line(struct strbuf *out, const struct report_style *style,
			 const struct strbuf *line)
{
	/* The last column stays empty: some terminals wrap when it is used. */
	size_t room = style->columns > 1 ? (size_t)style->columns - 1 : 79;
	const char *text = strbuf_text(line);

	strbuf_add(out, text, text_cut(text, room));
	strbuf_addch(out, '\n');
}

/* A cell of so many columns, cut or filled up. */
static void add_padded(struct strbuf *out, const char *text, size_t columns,
		       bool ascii)
{
	struct strbuf safe = STRBUF_INIT;
	size_t used;

	text_add_safe(&safe, text, ascii);
	strbuf_add(out, strbuf_text(&safe),
		   text_cut(strbuf_text(&safe), columns));
	used = text_columns(strbuf_text(&safe));
	for (; used < columns; used++)
		strbuf_addch(out, ' ');
	strbuf_adds(out, "  ");
	strbuf_release(&safe);
}

static void add_live_row(struct strbuf *out, const struct report_style *style,
			 const struct night_live_row *row, size_t name_columns)
{
	struct strbuf line = STRBUF_INIT;
	char text[64] = "";

	strbuf_adds(&line, "  ");
	add_padded(&line, row->name, name_columns, style->ascii);
	add_padded(&line, row->state, 10, style->ascii);
	if (row->seconds >= 0)
		(void)snprintf(text, sizeof(text), "%3" PRId64 ":%02d",
			       row->seconds / 60, (int)(row->seconds % 60));
	add_padded(&line, text, 6, style->ascii);
	text[0] = '\0';
	if (row->seconds >= 0)
		(void)snprintf(text, sizeof(text), "%6zu", row->probes);
	add_padded(&line, text, 6, style->ascii);
	text[0] = '\0';
	if (row->best.micro_batch)
		(void)snprintf(text, sizeof(text),
			       "micro %" PRId64 " x accum %" PRId64,
			       row->best.micro_batch, row->best.grad_accum);
	add_padded(&line, text, 22, style->ascii);
	text_add_safe(&line, row->node, style->ascii);
	while (line.length && line.data[line.length - 1] == ' ')
		line.data[--line.length] = '\0';
	add_cut_line(out, style, &line);
	strbuf_release(&line);
}

static void add_live_heading(struct strbuf *out,
			     const struct report_style *style,
			     size_t name_columns)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_adds(&line, "  ");
	add_padded(&line, "job", name_columns, true);
	strbuf_adds(&line,
		    "state         time  probes  best so far             "
		    "node");
	add_cut_line(out, style, &line);
	strbuf_release(&line);
}

void night_live_table(struct strbuf *out, const struct report_style *style,
		      const struct night_live_row *rows, size_t count,
		      size_t lines_max)
{
	struct strbuf rest = STRBUF_INIT;
	size_t name_columns = strlen("job");
	/* One for the heading, one for those that are only counted. */
	size_t shown = lines_max < 3 ? 1 : lines_max - 2;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t columns = text_columns(rows[i].name);

		if (columns > name_columns)
			name_columns = columns;
	}
	if (name_columns > NAME_COLUMNS_MAX)
		name_columns = NAME_COLUMNS_MAX;
	add_live_heading(out, style, name_columns);
	for (size_t i = 0; i < count && i < shown; i++)
		add_live_row(out, style, &rows[i], name_columns);
	if (count <= shown)
		return;
	strbuf_addf(&rest, "  and %zu more", count - shown);
	add_cut_line(out, style, &rest);
	strbuf_release(&rest);
}

void night_live_open(struct night_live *live, const struct options *options)
{
	*live = (struct night_live){ .style = report_style_choose(options) };
	live->is_on = live->style.live && !options->output.quiet;
}

bool night_live_is_due(const struct night_live *live)
{
	return live->is_on && clock_ms() >= live->next_ms;
}

static size_t lines_of_terminal(void)
{
	struct winsize size;

	/* The last line is for the cursor. */
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1
		       ? size.ws_row - 1u
		       : LINES_OTHERWISE - 1;
}

/* Up to its first line, which is at the left end. */
static void add_way_up(struct strbuf *out, const struct night_live *live)
{
	if (live->drawn)
		strbuf_addf(out, "\x1b[%zuA", live->drawn);
	strbuf_addch(out, '\r');
}

void night_live_draw(struct night_live *live, const struct night_live_row *rows,
		     size_t count)
{
	struct strbuf table = STRBUF_INIT, out = STRBUF_INIT;

	if (!live->is_on)
		return;
	report_style_measure(&live->style);
	night_live_table(&table, &live->style, rows, count,
			 lines_of_terminal());
	add_way_up(&out, live);
	live->drawn = 0;
	for (const char *line = strbuf_text(&table); *line;) {
		size_t length = strcspn(line, "\n");

		strbuf_add(&out, line, length);
		strbuf_adds(&out, "\x1b[K\n");
		line += length + 1;
		live->drawn++;
	}
	strbuf_adds(&out, "\x1b[J");
	(void)fputs(strbuf_text(&out), stderr);
	live->next_ms = clock_ms() + DRAW_EVERY_MS;
	strbuf_release(&table);
	strbuf_release(&out);
}

void night_live_clear(struct night_live *live)
{
	struct strbuf out = STRBUF_INIT;

	if (!live->is_on || !live->drawn)
		return;
	add_way_up(&out, live);
	strbuf_adds(&out, "\x1b[J");
	(void)fputs(strbuf_text(&out), stderr);
	live->drawn = 0;
	live->next_ms = 0;
	strbuf_release(&out);
}

void night_live_forget(struct night_live *live)
{
	live->drawn = 0;
	live->next_ms = 0;
}
