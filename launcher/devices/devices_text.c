/* `autofit devices` as a table and as the JSON object autofit.devices/1. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices.h"

#include "base/log.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/json.h"

#include <string.h>

#include <jansson.h>

#define GPU_COLUMNS 5
#define UUID_COLUMNS 40
/* What stands beside name and UUID. */
#define BESIDE_NAME "GPU      123.4 GiB  123.4 GiB  Processes"

/* 0 is not known. */
static const char *devices_text_size_text(char text[BYTES_TEXT_MAX],
					  uint64_t bytes)
{
	return bytes ? bytes_format(text, bytes) : "not known";
}

/* Everything from outside the program, on one line. */
static void add_safe(struct strbuf *out, const char *text)
{
	text_add_safe(out, text, true);
}

static void table_process(const struct devices_process *row, struct strbuf *out)
{
	char size[BYTES_TEXT_MAX];

	strbuf_addf(out, "       pid %-8d ", (int)row->process.pid);
	add_safe(out, row->user ? row->user : "(user not known)");
	strbuf_addf(out, "  %s%s\n",
		    devices_text_size_text(size, row->process.used_bytes),
		    row->process.is_compute ? "" : " (display)");
}

static size_t devices_text_name_width(const struct devices *devices)
{
	size_t width = strlen("Name");

	for (size_t i = 0; i < devices->gpu_count; i++)
		if (strlen(devices->gpus[i].gpu.name) > width)
			width = strlen(devices->gpus[i].gpu.name);
	return width;
}

/* Where a line has no room for a UUID, it stands on one of its own. */
static void table_gpu(const struct devices_gpu *row, int width, bool is_narrow,
		      struct strbuf *out)
{
	const struct gpu_device *gpu = &row->gpu;
	char total[BYTES_TEXT_MAX];
	char free_text[BYTES_TEXT_MAX];

	strbuf_addf(out, "%-5d%-*s  ", gpu->index, width, gpu->name);
	if (!is_narrow)
		strbuf_addf(out, "%-*s  ", UUID_COLUMNS, gpu->uuid);
	strbuf_addf(out, "%9s  %9s  ",
		    devices_text_size_text(total, gpu->total_bytes),
		    devices_text_size_text(free_text, gpu->free_bytes));
	if (row->process_count < 0)
		strbuf_adds(out, "not known\n");
	else
		strbuf_addf(out, "%d\n", row->process_count);
	if (is_narrow)
		strbuf_addf(out, "     %s\n", gpu->uuid);
	for (int i = 0; i < row->process_count; i++)
		table_process(&row->processes[i], out);
}

static void table_no_gpu(const struct devices *devices, struct strbuf *out)
{
	strbuf_adds(out, "GPU: none is visible");
	if (devices->known_gpu_count)
		strbuf_addf(out,
			    ", though the kernel driver has %d: check that "
			    "libcuda.so.1 is installed",
			    devices->known_gpu_count);
	strbuf_addch(out, '\n');
}

static void table_gpus(const struct devices *devices, size_t columns,
		       struct strbuf *out)
{
	size_t width = devices_text_name_width(devices);
	bool is_narrow = columns <= width + strlen(BESIDE_NAME) + UUID_COLUMNS;

	if (devices->gpu_count) {
		strbuf_addf(out, "%-5s%-*s  ", "GPU", (int)width, "Name");
		if (!is_narrow)
			strbuf_addf(out, "%-*s  ", UUID_COLUMNS, "UUID");
		strbuf_addf(out, "%9s  %9s  %s\n", "Total", "Free",
			    "Processes");
	}
	for (size_t i = 0; i < devices->gpu_count; i++)
		table_gpu(&devices->gpus[i], (int)width, is_narrow, out);
	if (devices->gpu_problem) {
		strbuf_adds(out, "GPU: ");
		add_safe(out, devices->gpu_problem);
		strbuf_addch(out, '\n');
	} else if (devices->has_looked_at_gpus && !devices->gpu_count)
		table_no_gpu(devices, out);
	if (devices->visible) {
		strbuf_adds(out, "     only those in CUDA_VISIBLE_DEVICES=");
		add_safe(out, devices->visible);
		strbuf_addch(out, '\n');
	}
}

static void table_host(const struct devices *devices, struct strbuf *out)
{
	const struct host_budget *host = &devices->host;
	char size[BYTES_TEXT_MAX];

	if (devices->host_problem) {
		strbuf_adds(out, "Host memory: ");
		add_safe(out, devices->host_problem);
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out, "Host memory: budget %s (by %s",
		    bytes_format(size, host->budget_bytes),
		    host_budget_source_name(host->source));
	if (host->cgroup[0]) {
		strbuf_addch(out, ' ');
		add_safe(out, host->cgroup);
	}
	strbuf_addf(out, "), total %s",
		    devices_text_size_text(size, host->total_bytes));
	strbuf_addf(out, ", available %s\n",
		    devices_text_size_text(size, host->available_bytes));
}

static bool are_of_vendor(const struct devices *devices, enum gpu_vendor vendor)
{
	return devices->gpu_count && devices->gpus[0].gpu.vendor == vendor;
}

static void table_observers(const struct devices *devices, struct strbuf *out)
{
	strbuf_adds(out, "Observed: ");
	if (are_of_vendor(devices, GPU_AMD))
		strbuf_adds(out, "GPUs and processes by the kernel's files, ");
	if (are_of_vendor(devices, GPU_INTEL))
		strbuf_adds(out, "GPUs by the kernel, your processes by their "
				 "open files, ");
	if (are_of_vendor(devices, GPU_NVIDIA))
		strbuf_adds(out, "GPUs by the CUDA driver API, ");
	if (are_of_vendor(devices, GPU_NVIDIA) && !devices->nvml_problem)
		strbuf_adds(out, "free memory and processes by NVML, ");
	strbuf_adds(out, "host memory by /proc and cgroups\n");
	if (devices->nvml_problem) {
		strbuf_adds(out, "Not observed: ");
		add_safe(out, devices->nvml_problem);
		strbuf_addch(out, '\n');
	}
}

void devices_table(const struct devices *devices, size_t columns,
		   struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	table_gpus(devices, columns, &text);
	table_host(devices, &text);
	table_observers(devices, &text);
	text_add_lines(out, strbuf_text(&text), GPU_COLUMNS, columns - 1);
	strbuf_release(&text);
}

static json_t *processes_json(const struct devices_gpu *gpu)
{
	json_t *array;

	if (gpu->process_count < 0)
		return json_null();
	array = json_checked(json_array());
	for (int i = 0; i < gpu->process_count; i++) {
		const struct devices_process *row = &gpu->processes[i];
		json_t *object = json_checked(json_object());

		json_put(object, "pid", json_integer(row->process.pid));
		json_put(object, "user", json_text(row->user));
		json_put(object, "used_bytes",
			 json_bytes(row->process.used_bytes));
		json_put(object, "compute",
			 json_boolean(row->process.is_compute));
		json_append(array, object);
	}
	return array;
}

static json_t *devices_text_gpu_json(const struct devices_gpu *row)
{
	json_t *object = json_checked(json_object());
	json_t *observers = json_checked(json_array());
	bool is_nvidia = row->gpu.vendor == GPU_NVIDIA;

	json_put(object, "kind", json_string(gpu_kind_name(row->gpu.vendor)));
	json_put(object, "index", json_integer(row->gpu.index));
	json_put(object, "name", json_text(row->gpu.name));
	json_put(object, "uuid", json_text(row->gpu.uuid));
	json_put(object, "total_bytes", json_bytes(row->gpu.total_bytes));
	json_put(object, "free_bytes", json_bytes(row->gpu.free_bytes));
	json_put(object, "processes", processes_json(row));
	json_append(observers, json_string(is_nvidia ? "cuda" : "kernel"));
	if (is_nvidia &&
	    (row->gpu.free_source == GPU_FREE_NVML || row->process_count >= 0))
		json_append(observers, json_string("nvml"));
	json_put(object, "observed_by", observers);
	return object;
}

static json_t *devices_text_host_json(const struct host_budget *host)
{
	json_t *object = json_checked(json_object());
	json_t *observers = json_checked(json_array());

	json_put(object, "kind", json_string("host"));
	json_put(object, "total_bytes", json_bytes(host->total_bytes));
	json_put(object, "free_bytes", json_bytes(host->available_bytes));
	json_put(object, "budget_bytes", json_bytes(host->budget_bytes));
	json_put(object, "budget_source",
		 json_text(host_budget_source_name(host->source)));
	json_put(object, "cgroup",
		 json_text(host->cgroup[0] ? host->cgroup : NULL));
	json_put(object, "cgroup_limit_bytes",
		 json_bytes(host->cgroup_limit_bytes));
	json_put(object, "address_space_bytes",
		 json_bytes(host->address_space_bytes));
	json_put(object, "data_bytes", json_bytes(host->data_bytes));
	json_append(observers, json_string("proc"));
	json_append(observers, json_string("cgroup"));
	json_put(object, "observed_by", observers);
	return object;
}

void devices_json(const struct devices *devices, struct strbuf *out)
{
	json_t *root = json_checked(json_object());
	json_t *array = json_checked(json_array());
	json_t *problems = json_checked(json_array());
	const char *const words[] = { devices->gpu_problem,
				      devices->nvml_problem,
				      devices->host_problem };

	for (size_t i = 0; i < devices->gpu_count; i++)
		json_append(array, devices_text_gpu_json(&devices->gpus[i]));
	if (!devices->host_problem)
		json_append(array, devices_text_host_json(&devices->host));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i])
			json_append(problems, json_text(words[i]));
	json_put(root, "schema", json_string("autofit.devices/1"));
	json_put(root, "autofit_version", json_string(AUTOFIT_VERSION));
	json_put(root, "devices", array);
	json_put(root, "amd_gpu_present",
		 json_boolean(are_of_vendor(devices, GPU_AMD)));
	json_put(root, "cuda_visible_devices", json_text(devices->visible));
	json_put(root, "problems", problems);
	json_write(out, root, JSON_INDENT(2));
}
