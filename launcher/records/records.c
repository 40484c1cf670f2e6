/* `autofit show`: the records of the user and of the site. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/records_choose.h"
#include "launcher/records/show.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct records_listed {
	char *name;
	struct record record; /* id is NULL: it may not be used */
	struct error problem;
	bool is_site;
};

struct list {
	struct records_listed *items;
	size_t count;
};

static void records_add_files(struct list *list, const struct chosen *chosen,
			      enum record_place place, const char *folder)
{
	struct strlist files = STRLIST_INIT;
	struct error err = ERROR_INIT;

	if (!folder)
		return;
	if (record_list(&files, folder, &err) < 0)
		log_warning("%s", err.message);
	list->items = xrealloc(list->items, list->count + files.count + 1,
			       sizeof(*list->items));
	for (size_t i = 0; i < files.count; i++) {
		struct records_listed *listed = &list->items[list->count];

		*listed = (struct records_listed){ .name = NULL };
		if (chosen_read(&listed->record, files.items[i], chosen, place,
				&listed->problem) == -ENOENT)
			continue; /* removed meanwhile */
		listed->name = chosen_name(files.items[i]);
		listed->is_site = place == RECORD_SITE;
		list->count++;
	}
	strlist_release(&files);
}

static void show_all(const struct chosen *chosen,
		     const struct report_style *style, struct strbuf *out,
		     struct strbuf *json)
{
	struct list list = { .items = NULL };
	struct show_item *items;

	records_add_files(&list, chosen, RECORD_OWN, chosen->paths.records);
	records_add_files(&list, chosen, RECORD_SITE, chosen->site_records);
	items = xcalloc(list.count + 1, sizeof(*items));
	for (size_t i = 0; i < list.count; i++) {
		struct records_listed *listed = &list.items[i];

		items[i].name = listed->name;
		items[i].is_site = listed->is_site;
		if (listed->record.id)
			items[i].record = &listed->record;
		else
			items[i].problem = listed->problem.message;
	}
	show_list(out, style, items, list.count);
	show_json(json, items, list.count);
	for (size_t i = 0; i < list.count; i++) {
		record_release(&list.items[i].record);
		free(list.items[i].name);
	}
	free(list.items);
	free(items);
}

static int records_show(const struct options *options,
			const struct process_state *state, struct strbuf *out,
			struct strbuf *json)
{
	struct report_style style = report_style_choose(options);
	struct show_item item = { .name = NULL };
	bool has_one = options->command.count || options->record_name;
	struct chosen chosen;
	int code = has_one ? chosen_need(&chosen, options, state)
			   : chosen_open(&chosen);

	style.live = false;
	style.color = style.color && isatty(STDOUT_FILENO);
	if (code == EXIT_DONE && has_one) {
		item.name = chosen.name;
		item.record = &chosen.record;
		show_record(out, &style, &chosen.record, chosen.path);
		show_json(json, &item, 1);
	} else if (code == EXIT_DONE) {
		show_all(&chosen, &style, out, json);
	}
	chosen_release(&chosen);
	return code;
}

int records_show_command(const struct options *options,
			 const struct process_state *state)
{
	struct strbuf out = STRBUF_INIT;
	struct strbuf json = STRBUF_INIT;
	int code = records_show(options, state, &out, &json);

	if (code == EXIT_DONE)
		code = report_answer(options, &out, &json);
	strbuf_release(&json);
	strbuf_release(&out);
	return code;
}
