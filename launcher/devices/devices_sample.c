/* One look of `devices --watch`: a line each, a table, a JSON object. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_sample.h"

#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/json.h"
#include "launcher/report/report_words.h"

#include <stdlib.h>
#include <string.h>

/* "2026-11-21T03:22:01.250Z" */
#define TIME_TEXT_MAX 40

static const char *time_text(char text[TIME_TEXT_MAX],
			     const struct timespec *time)
{
	struct tm day = { 0 };
	size_t length;

	(void)gmtime_r(&time->tv_sec, &day);
	length = strftime(text, TIME_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &day);
	(void)snprintf(text + length, TIME_TEXT_MAX - length, ".%03dZ",
		       (int)(time->tv_nsec / 1000000));
	return text;
}

static const char *devices_sample_size_text(char text[BYTES_TEXT_MAX],
					    uint64_t bytes)
{
	return bytes ? bytes_format(text, bytes) : "-";
}

static const char *devices_sample_known_text(char text[BYTES_TEXT_MAX],
					     bool is_known, uint64_t bytes)
{
	return is_known ? bytes_format(text, bytes) : "-";
}

/* Once the memory was known, so was its peak: nothing used is a figure. */
static bool has_peak(const struct sample_gpu *gpu)
{
	return gpu->has_memory || gpu->peak_bytes;
}

static const char *peak_text(char text[BYTES_TEXT_MAX],
			     const struct sample_gpu *gpu)
{
	return devices_sample_known_text(text, has_peak(gpu), gpu->peak_bytes);
}

/* How much, made up of what, by which record. */
static void add_need(struct strbuf *out, const struct devices_need *need)
{
	char bytes[BYTES_TEXT_MAX];
	char peak[BYTES_TEXT_MAX];
	char headroom[BYTES_TEXT_MAX];

	if (need->kind == NEED_NONE) {
		strbuf_adds(out, "-");
		return;
	}
	strbuf_addf(out, "%s (",
		    devices_sample_size_text(bytes, devices_need_bytes(need)));
	if (need->kind == NEED_EXACT)
		strbuf_addf(out, "peak %s + headroom %s: ",
			    devices_sample_size_text(peak, need->peak_bytes),
			    devices_sample_size_text(headroom,
						     need->headroom_bytes));
	else
		strbuf_addf(out, "peak of %s: ",
			    need->kind == NEED_NEAR ? "a similar command"
						    : "the newest record");
	text_add_safe(out, need->record, true);
	strbuf_addch(out, ')');
}

static void add_processes(struct strbuf *out, const struct sample_gpu *gpu)
{
	char size[BYTES_TEXT_MAX];

	if (gpu->process_count < 0) {
		strbuf_adds(out, "not known");
		return;
	}
	strbuf_addf(out, "%d", gpu->process_count);
	if (!gpu->largest.pid)
		return;
	strbuf_addf(out, ", largest pid %d ", (int)gpu->largest.pid);
	text_add_safe(out, gpu->user ? gpu->user : "(user not known)", true);
	strbuf_addf(out, " %s",
		    devices_sample_size_text(size, gpu->largest.used_bytes));
}

static void line_of_gpu(const struct sample_gpu *gpu, struct strbuf *out)
{
	char used[BYTES_TEXT_MAX];
	char left[BYTES_TEXT_MAX];
	char total[BYTES_TEXT_MAX];
	char peak[BYTES_TEXT_MAX];

	strbuf_addf(out,
		    "GPU %d %s: used %s, free %s, total %s, peak %s, need ",
		    gpu->gpu->index, gpu->gpu->name,
		    devices_sample_known_text(used, gpu->has_memory,
					      gpu->used_bytes),
		    devices_sample_known_text(left, gpu->has_memory,
					      gpu->free_bytes),
		    devices_sample_size_text(total, gpu->total_bytes),
		    peak_text(peak, gpu));
	add_need(out, gpu->need);
	strbuf_adds(out, ", processes ");
	add_processes(out, gpu);
	if (gpu->problem) {
		strbuf_adds(out, "; ");
		text_add_safe(out, gpu->problem, true);
	}
	strbuf_addch(out, '\n');
}

static void line_of_host(const struct sample_host *host, struct strbuf *out)
{
	const struct host_budget *budget = host->budget;
	char used[BYTES_TEXT_MAX];
	char left[BYTES_TEXT_MAX];
	char total[BYTES_TEXT_MAX];
	char peak[BYTES_TEXT_MAX];
	char most[BYTES_TEXT_MAX];

	strbuf_adds(out, "host memory: ");
	if (host->problem) {
		text_add_safe(out, host->problem, true);
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out,
		    "used %s, available %s, total %s, peak %s, budget %s, "
		    "need ",
		    devices_sample_size_text(used, host->used_bytes),
		    devices_sample_size_text(left, budget->available_bytes),
		    devices_sample_size_text(total, budget->total_bytes),
		    devices_sample_size_text(peak, host->peak_bytes),
		    devices_sample_size_text(most, budget->budget_bytes));
	add_need(out, host->need);
	strbuf_addch(out, '\n');
}

void sample_lines(const struct devices_sample *sample, struct strbuf *out)
{
	char when[TIME_TEXT_MAX];

	(void)time_text(when, &sample->time);
	for (size_t i = 0; i < sample->gpu_count; i++) {
		strbuf_addf(out, "%s ", when);
		line_of_gpu(&sample->gpus[i], out);
	}
	if (sample->problem) {
		strbuf_addf(out, "%s GPU: ", when);
		text_add_safe(out, sample->problem, true);
		strbuf_addch(out, '\n');
	}
	strbuf_addf(out, "%s ", when);
	line_of_host(&sample->host, out);
}

/* One line of the table, cut where the terminal ends. */
static void devices_sample_add_row(struct strbuf *out,
				   const struct report_style *style,
				   enum paint paint, struct strbuf *line)
{
	char *text = strbuf_detach(line);

	/* A narrower one than words are wrapped for still counts lines. */
	text[text_cut(text, style->columns > 0 ? (size_t)style->columns : 80)] =
		'\0';
	words_paint(out, style, paint, text);
	strbuf_addch(out, '\n');
	free(text);
}

#define COLUMNS "%9s  %9s  %9s  %9s  %9s  "

static void row_of_gpu(const struct sample_gpu *gpu, int width,
		       struct strbuf *line)
{
	char used[BYTES_TEXT_MAX];
	char left[BYTES_TEXT_MAX];
	char total[BYTES_TEXT_MAX];
	char peak[BYTES_TEXT_MAX];
	char need[BYTES_TEXT_MAX];

	strbuf_addf(
		line, "%-4d %-*s  " COLUMNS, gpu->gpu->index, width,
		gpu->gpu->name,
		devices_sample_known_text(used, gpu->has_memory,
					  gpu->used_bytes),
		devices_sample_known_text(left, gpu->has_memory,
					  gpu->free_bytes),
		devices_sample_size_text(total, gpu->total_bytes),
		peak_text(peak, gpu),
		devices_sample_size_text(need, devices_need_bytes(gpu->need)));
	add_processes(line, gpu);
}

static void row_of_host(const struct sample_host *host, int width,
			struct strbuf *line)
{
	const struct host_budget *budget = host->budget;
	char used[BYTES_TEXT_MAX];
	char left[BYTES_TEXT_MAX];
	char total[BYTES_TEXT_MAX];
	char peak[BYTES_TEXT_MAX];
	char need[BYTES_TEXT_MAX];

	if (host->problem) {
		strbuf_adds(line, "host memory: ");
		text_add_safe(line, host->problem, true);
		return;
	}
	strbuf_addf(
		line, "%-4s %-*s  " COLUMNS, "host", width, "memory",
		devices_sample_size_text(used, host->used_bytes),
		devices_sample_size_text(left, budget->available_bytes),
		devices_sample_size_text(total, budget->total_bytes),
		devices_sample_size_text(peak, host->peak_bytes),
		devices_sample_size_text(need, devices_need_bytes(host->need)));
	strbuf_addf(line, "budget %s (%s)",
		    devices_sample_size_text(used, budget->budget_bytes),
		    host_budget_source_name(budget->source));
}

static int devices_sample_name_width(const struct devices_sample *sample)
{
	size_t width = strlen("memory");

	for (size_t i = 0; i < sample->gpu_count; i++)
		if (strlen(sample->gpus[i].gpu->name) > width)
			width = strlen(sample->gpus[i].gpu->name);
	return (int)width;
}

/* Problems, and the records that the column of needs speaks of, each once. */
static void add_notes(const struct devices_sample *sample,
		      const struct report_style *style, struct strbuf *out)
{
	struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < sample->gpu_count; i++) {
		if (!sample->gpus[i].problem)
			continue;
		strbuf_addf(&line, "GPU %d: ", sample->gpus[i].gpu->index);
		text_add_safe(&line, sample->gpus[i].problem, style->ascii);
		devices_sample_add_row(out, style, PAINT_BAD, &line);
	}
	if (sample->problem) {
		strbuf_adds(&line, "GPU: ");
		text_add_safe(&line, sample->problem, style->ascii);
		devices_sample_add_row(out, style, PAINT_BAD, &line);
	}
	for (size_t i = 0; i <= sample->gpu_count; i++) {
		const struct devices_need *need = i < sample->gpu_count
							  ? sample->gpus[i].need
							  : sample->host.need;

		if (need->kind == NEED_NONE ||
		    (i > 0 && i < sample->gpu_count &&
		     sample->gpus[i - 1].need->record &&
		     strcmp(sample->gpus[i - 1].need->record, need->record) ==
			     0))
			continue;
		strbuf_adds(&line, "need: ");
		add_need(&line, need);
		devices_sample_add_row(out, style, PAINT_DIM, &line);
	}
}

void sample_table(const struct devices_sample *sample,
		  const struct report_style *style, struct strbuf *out)
{
	struct strbuf line = STRBUF_INIT;
	int width = devices_sample_name_width(sample);
	char when[TIME_TEXT_MAX];

	strbuf_addf(&line, "autofit devices, every %g s, now %s, Ctrl-C ends",
		    sample->interval_seconds, time_text(when, &sample->time));
	devices_sample_add_row(out, style, PAINT_DIM, &line);
	strbuf_addf(&line, "%-4s %-*s  " COLUMNS "%s", "GPU", width, "Name",
		    "Used", "Free", "Total", "Peak", "Need", "Processes");
	devices_sample_add_row(out, style, PAINT_BOLD, &line);
	for (size_t i = 0; i < sample->gpu_count; i++) {
		row_of_gpu(&sample->gpus[i], width, &line);
		devices_sample_add_row(out, style, PAINT_PLAIN, &line);
	}
	row_of_host(&sample->host, width, &line);
	devices_sample_add_row(out, style, PAINT_PLAIN, &line);
	add_notes(sample, style, out);
}

/* Nothing used is a figure. */
static json_t *known_json(bool is_known, uint64_t bytes)
{
	return is_known && !bytes ? json_checked(json_integer(0))
				  : json_count(is_known ? (int64_t)bytes : 0);
}

static json_t *need_json(const struct devices_need *need)
{
	json_t *object;

	if (need->kind == NEED_NONE)
		return json_null();
	object = json_checked(json_object());
	json_put(object, "kind", json_string(devices_need_name(need->kind)));
	json_put(object, "record", json_text(need->record));
	json_put(object, "bytes", json_bytes(devices_need_bytes(need)));
	json_put(object, "peak_bytes", json_bytes(need->peak_bytes));
	json_put(object, "headroom_bytes", json_bytes(need->headroom_bytes));
	return object;
}

static json_t *largest_json(const struct sample_gpu *gpu)
{
	json_t *object;

	if (!gpu->largest.pid)
		return json_null();
	object = json_checked(json_object());
	json_put(object, "pid", json_integer(gpu->largest.pid));
	json_put(object, "user", json_text(gpu->user));
	json_put(object, "used_bytes", json_bytes(gpu->largest.used_bytes));
	json_put(object, "compute", json_boolean(gpu->largest.is_compute));
	return object;
}

static json_t *devices_sample_gpu_json(const struct sample_gpu *gpu)
{
	json_t *object = json_checked(json_object());

	json_put(object, "kind", json_string(gpu_kind_name(gpu->gpu->vendor)));
	json_put(object, "index", json_integer(gpu->gpu->index));
	json_put(object, "name", json_text(gpu->gpu->name));
	json_put(object, "uuid", json_text(gpu->gpu->uuid));
	json_put(object, "total_bytes", json_bytes(gpu->total_bytes));
	json_put(object, "used_bytes",
		 known_json(gpu->has_memory, gpu->used_bytes));
	json_put(object, "free_bytes",
		 known_json(gpu->has_memory, gpu->free_bytes));
	json_put(object, "peak_bytes",
		 known_json(has_peak(gpu), gpu->peak_bytes));
	json_put(object, "process_count",
		 gpu->process_count < 0 ? json_null()
					: json_integer(gpu->process_count));
	json_put(object, "largest_process", largest_json(gpu));
	json_put(object, "need", need_json(gpu->need));
	json_put(object, "problem", json_text(gpu->problem));
	return object;
}

static json_t *devices_sample_host_json(const struct sample_host *host)
{
	json_t *object = json_checked(json_object());
	const struct host_budget *budget = host->budget;

	json_put(object, "budget_bytes", json_bytes(budget->budget_bytes));
	json_put(object, "budget_source",
		 host->problem
			 ? json_null()
			 : json_text(host_budget_source_name(budget->source)));
	json_put(object, "total_bytes", json_bytes(budget->total_bytes));
	json_put(object, "used_bytes", json_bytes(host->used_bytes));
	json_put(object, "available_bytes",
		 json_bytes(budget->available_bytes));
	json_put(object, "peak_bytes", json_bytes(host->peak_bytes));
	json_put(object, "need", need_json(host->need));
	json_put(object, "problem", json_text(host->problem));
	return object;
}

void sample_json(const struct devices_sample *sample, struct strbuf *out)
{
	json_t *root = json_checked(json_object());
	json_t *array = json_checked(json_array());
	char when[TIME_TEXT_MAX];

	for (size_t i = 0; i < sample->gpu_count; i++)
		json_append(array, devices_sample_gpu_json(&sample->gpus[i]));
	json_put(root, "schema", json_string("autofit.devices.sample/1"));
	json_put(root, "time", json_string(time_text(when, &sample->time)));
	json_put(root, "machine", json_text(sample->machine));
	json_put(root, "devices", array);
	json_put(root, "host", devices_sample_host_json(&sample->host));
	json_put(root, "problem", json_text(sample->problem));
	json_write(out, root, JSON_COMPACT);
}
