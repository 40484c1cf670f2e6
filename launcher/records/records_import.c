/* `autofit import`: a record from elsewhere into the user's own folder. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/owned_file.h"
#include "configs/records/record_fields.h"
#include "configs/records/record_files.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/records_choose.h"
#include "launcher/records/records_share.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

/* Values of JSON take many times the room of their text. */
#define JSON_FILE_MAX ((size_t)8 << 20)
#define FUTURE_MAX_SECONDS ((int64_t)24 * 60 * 60)
#define BLANKS " \t\r\n"

static int records_import_too_large(const char *name, size_t most,
				    struct error *err)
{
	return error_set(err, -EFBIG, "cannot import %s: larger than %zu MiB",
			 name, most >> 20);
}

static int read_stdin(struct strbuf *text, struct error *err)
{
	char piece[65536];
	ssize_t got;

	do {
		got = read(STDIN_FILENO, piece, sizeof(piece));
		if (got < 0 && errno != EINTR)
			return error_set_errno(err, -errno,
					       "cannot read standard input");
		if (got > 0)
			strbuf_add(text, piece, (size_t)got);
		if (text->length > RECORD_FILE_MAX)
			return records_import_too_large("standard input",
							RECORD_FILE_MAX, err);
	} while (got != 0);
	return 0;
}

static int records_import_read_file(struct strbuf *text, const char *path,
				    const char *site, struct error *err)
{
	int fd = record_open(path, RECORD_GIVEN, site, err);
	int result = fd;

	if (fd >= 0)
		result = textfile_read_open(fd, path, RECORD_FILE_MAX, text,
					    err);
	return result > 0 ? records_import_too_large(path, RECORD_FILE_MAX, err)
			  : result;
}

/* The record's text out of what `autofit export json` wrote. */
static int unwrap_json(struct strbuf *text, const char *name, struct error *err)
{
	json_error_t where;
	const char *schema;
	const char *record;
	json_t *root;
	int result = 0;

	if (text->length > JSON_FILE_MAX)
		return records_import_too_large(name, JSON_FILE_MAX, err);
	root = json_loadb(text->data, text->length, JSON_REJECT_DUPLICATES,
			  &where);
	if (!root)
		return error_set(err, -EINVAL, "%s:%d: %s", name, where.line,
				 where.text);
	schema = json_string_value(json_object_get(root, "schema"));
	record = json_string_value(json_object_get(root, "record_ini"));
	if (!schema || strcmp(schema, "autofit.result/1") != 0 || !record) {
		result = error_set(err, -EINVAL,
				   "cannot import %s: no JSON that autofit "
				   "export json wrote",
				   name);
	} else {
		strbuf_reset(text);
		strbuf_adds(text, record);
	}
	json_decref(root);
	return result;
}

static int read_record(struct record *record, const char *file,
		       const char *site, struct error *err)
{
	bool from_stdin = strcmp(file, "-") == 0;
	const char *name = from_stdin ? "standard input" : file;
	struct strbuf text = STRBUF_INIT;
	int result;

	memset(record, 0, sizeof(*record));
	result = from_stdin ? read_stdin(&text, err)
			    : records_import_read_file(&text, file, site, err);
	if (result == 0 &&
	    strbuf_text(&text)[strspn(strbuf_text(&text), BLANKS)] == '{')
		result = unwrap_json(&text, name, err);
	if (result == 0)
		result = record_parse(record, name, &text, err);
	strbuf_release(&text);
	return result;
}

/*
 * A record is found by the digits of its identity at the end of its name; the
 * letter after them was given for want of a free name where it comes from.
 */
static int fit_name(struct record *record)
{
	struct record same = { .identity = record->identity };
	char *dash = strrchr(record->id, '-');
	const char *digits;
	size_t length;
	int result = -EINVAL;

	record_set_id(&same, "x", "x");
	digits = strrchr(same.id, '-');
	length = strlen(digits);
	if (dash && strncmp(dash, digits, length) == 0 &&
	    (!dash[length] || (dash[length] >= 'b' && dash[length] <= 'z' &&
			       !dash[length + 1]))) {
		dash[length] = '\0';
		result = 0;
	}
	free(same.id);
	return result;
}

static int check(struct record *record, const char *file, struct error *err)
{
	if (fit_name(record) < 0)
		return error_set(err, -EINVAL,
				 "cannot import %s: its id does not match its "
				 "contents (edited?)",
				 file);
	if (record->created > (int64_t)time(NULL) + FUTURE_MAX_SECONDS)
		return error_set(err, -EINVAL,
				 "cannot import %s: it is from the future, and "
				 "would be passed over",
				 file);
	return 0;
}

static void records_import_add_line(struct strbuf *out,
				    const struct record *record,
				    const char *what)
{
	const char *device = record->device_kind;
	struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "%s %s: ", what, record->id);
	chosen_add_split(&line, record->batch.micro_batch,
			 record->batch.grad_accum);
	strbuf_adds(&line, " on ");
	if (record->device_count > 1)
		strbuf_addf(&line, "%zu x ", record->device_count);
	if (record->device_count && record->devices[0].name[0])
		device = record->devices[0].name;
	text_add_safe(&line, device, true);
	strbuf_adds(&line, "; used without a probe only where all that it was "
			   "made of is the same, elsewhere near or a hint");
	text_add_lines(out, strbuf_text(&line), 2, report_width() - 1);
	strbuf_release(&line);
}

/* Where it is now, under the name that was free. */
static int records_import_write_record(struct chosen *chosen,
				       const struct record *record,
				       struct error *err)
{
	int result = paths_make(chosen->paths.records, err);

	if (result == 0)
		result = record_write(record, chosen->paths.records, err);
	if (result == 0 &&
	    !chosen_by_identity(&chosen->record, &chosen->path, chosen,
				RECORD_OWN, record->identity))
		result = error_set(err, -EIO, "cannot read %s again",
				   record->id);
	return result;
}

/* The record of the same identity that is here stays unless it is older. */
static int put(struct chosen *chosen, const struct record *record,
	       struct strbuf *out, struct error *err)
{
	struct record *here = &chosen->record;
	bool has_one = chosen_by_identity(here, &chosen->path, chosen,
					  RECORD_OWN, record->identity);
	const char *what = "imported";
	int result;

	if (has_one && here->created >= record->created) {
		strbuf_addf(out, "kept %s: the record that is here is %s\n",
			    here->id,
			    here->created > record->created ? "newer"
							    : "the same age");
		return 0;
	}
	if (has_one)
		what = "imported over an older one:";
	record_release(here);
	free(chosen->path);
	chosen->path = NULL;
	result = records_import_write_record(chosen, record, err);
	if (result == 0)
		records_import_add_line(out, here, what);
	return result;
}

int records_import_command(const struct options *options,
			   const struct process_state *state)
{
	struct record record = RECORD_INIT;
	struct strbuf line = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct chosen chosen;
	int code;
	int result;

	(void)state;
	if (!options->import_file) {
		log_error("import what? a file, or - for standard input");
		return EXIT_AUTOFIT_FAILED;
	}
	code = chosen_open(&chosen);
	if (code != EXIT_DONE)
		return code;
	result = read_record(&record, options->import_file, chosen.paths.site,
			     &err);
	if (result == 0)
		result = check(&record, options->import_file, &err);
	if (result == 0) {
		record_share_strip(&record);
		result = put(&chosen, &record, &line, &err);
	}
	if (result < 0) {
		log_error("%s", err.message);
		code = EXIT_AUTOFIT_FAILED;
	} else {
		code = EXIT_DONE;
		if (!options->output.quiet)
			code = report_print(&line, code);
	}
	record_release(&record);
	strbuf_release(&line);
	chosen_release(&chosen);
	return code;
}
