/* `autofit estimate`: what memory a run needs, before anything is started. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate.h"

#include "base/log.h"
#include "launcher/estimate/estimate_case.h"
#include "launcher/estimate/estimate_profile.h"
#include "launcher/estimate/estimate_text.h"
#include "launcher/estimate/estimate_views.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/json.h"
#include "launcher/report/report_answer.h"

#include <unistd.h>

/* The answer under way, for people and for programs. */
struct answer {
	const struct estimate_case *all;
	struct estimate estimate;
	struct strbuf text;
	json_t *json;
	struct error err;
};

static bool is_on_terminal(const struct options *options)
{
	if (options->output.color != COLOR_AUTO)
		return options->output.color == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) != 0;
}

static int answer_view(struct answer *answer, const struct estimate_view *view)
{
	struct report_table table = { .columns = view->columns };
	struct strlist notes = STRLIST_INIT;
	int result;

	if (!view->is_wanted(answer->all)) {
		json_put(answer->json, view->key, json_null());
		return 0;
	}
	result = view->fill(answer->all, &table, &notes, &answer->err);
	if (result == 0) {
		estimate_text_view(&answer->text, view->title, &table, &notes);
		json_put(answer->json, view->key, report_table_json(&table));
	}
	strlist_release(&notes);
	report_table_release(&table);
	return result;
}

static int make_answer(struct answer *answer)
{
	const struct estimate_case *all = answer->all;
	const struct options *options = all->options;
	bool has_picture = is_on_terminal(options);
	int result = 0;

	if (all->has_model)
		result = estimate_memory(&all->run, &answer->estimate,
					 &answer->err);
	if (result < 0)
		return result;
	answer->json =
		estimate_json(all, all->has_model ? &answer->estimate : NULL);
	/* A guide counts another run, which its own lines describe. */
	if (all->has_model && !options->estimate.profile)
		estimate_text_case(&answer->text, all, &answer->estimate);
	if (all->has_model && estimate_is_plain(&options->estimate))
		estimate_text_breakdown(&answer->text, all, &answer->estimate,
					has_picture);
	for (const struct estimate_view *view = estimate_views;
	     view->key && result == 0; view++)
		result = answer_view(answer, view);
	if (result == 0)
		result = estimate_profile(&answer->text, answer->json, all,
					  &answer->err);
	return result;
}

static int print_answer(struct answer *answer, const struct options *options)
{
	struct strbuf json = STRBUF_INIT;
	int code;

	json_write(&json, json_incref(answer->json), JSON_INDENT(2));
	code = report_answer(options, &answer->text, &json);
	strbuf_release(&json);
	return code;
}

int estimate_command(const struct options *options,
		     const struct process_state *state)
{
	struct strlist warnings = STRLIST_INIT;
	struct answer answer = { .err = ERROR_INIT };
	struct estimate_case all;
	int code = estimate_case_open(&all, options, state, &warnings,
				      &answer.err);

	answer.all = &all;
	for (size_t i = 0; i < warnings.count; i++)
		log_warning("%s", warnings.items[i]);
	if (code == EXIT_DONE && make_answer(&answer) < 0)
		code = EXIT_AUTOFIT_FAILED;
	if (code != EXIT_DONE)
		log_error("%s", answer.err.message);
	else
		code = print_answer(&answer, options);
	json_decref(answer.json);
	strbuf_release(&answer.text);
	strlist_release(&warnings);
	estimate_case_release(&all);
	return code;
}
