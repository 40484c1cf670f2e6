/* The findings of a self-test as lines, and as an object for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_checked.h"

#include "launcher/command/text/text.h"
#include "launcher/report/json.h"

#include <string.h>

#include <jansson.h>

static const char *state_word(enum check_state state)
{
	static const char *const words[] = {
		[CHECK_GOOD] = "ok", [CHECK_NOTE] = "note", [CHECK_BAD] = "bad"
	};

	return words[state];
}

void devices_checked_text(const struct check_findings *findings,
			  struct strbuf *out)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct check_finding *finding = &findings->items[i];

		strbuf_addf(out, "%-5s %-8s ", state_word(finding->state),
			    finding->name);
		text_add_safe(out, finding->text, true);
		strbuf_addch(out, '\n');
	}
}

/* Words of the loader and the driver name files: those of a user, perhaps. */
static json_t *without_paths(const char *text)
{
	struct strbuf kept = STRBUF_INIT;
	json_t *json;

	while (text && *text) {
		size_t length = strcspn(text, " ");

		if (memchr(text, '/', length))
			strbuf_adds(&kept, "(a path)");
		else
			strbuf_add(&kept, text, length);
		text += length;
		if (*text)
			strbuf_addch(&kept, *text++);
	}
	json = json_text(strbuf_text(&kept));
	strbuf_release(&kept);
	return json;
}

static json_t *findings_json(const struct check_findings *findings)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < findings->count; i++) {
		const struct check_finding *finding = &findings->items[i];
		json_t *object = json_checked(json_object());

		json_put(object, "state",
			 json_string(state_word(finding->state)));
		json_put(object, "name", json_string(finding->name));
		json_put(object, "text", without_paths(finding->text));
		json_append(array, object);
	}
	return array;
}

static json_t *checked_gpu_json(const struct devices_gpu *gpu)
{
	json_t *object = json_checked(json_object());
	const struct gpu_device *device = &gpu->gpu;

	json_put(object, "name", json_text(device->name));
	json_put(object, "total_bytes", json_bytes(device->total_bytes));
	json_put(object, "free_bytes", json_bytes(device->free_bytes));
	json_put(object, "board_bytes", json_bytes(device->board_bytes));
	json_put(object, "reserved_bytes", json_bytes(device->reserved_bytes));
	json_put(object, "integrated", json_boolean(device->is_integrated));
	json_put(object, "mig", json_boolean(device->is_mig));
	json_put(object, "process_count",
		 gpu->process_count < 0 ? json_null()
					: json_integer(gpu->process_count));
	return object;
}

static json_t *allocations_json(const struct selftest *test)
{
	json_t *array = json_checked(json_array());

	for (int kind = 0; kind < SELFTEST_KINDS; kind++) {
		const struct check_allocation found =
			check_allocation_of(test, (enum selftest_kind)kind);
		json_t *object = json_checked(json_object());

		json_put(object, "call",
			 json_string(
				 selftest_kind_name((enum selftest_kind)kind)));
		json_put(object, "answer",
			 found.answer == SELFTEST_NO_FUNCTION
				 ? json_null()
				 : json_integer(found.answer));
		json_put(object, "asked_bytes", json_bytes(found.asked_bytes));
		json_put(object, "counted_bytes",
			 json_bytes(found.counted_bytes));
		json_put(object, "driver_bytes",
			 found.has_driver ? json_bytes(found.driver_bytes)
					  : json_null());
		json_append(array, object);
	}
	return array;
}

static json_t *nvml_json(const struct check_latency *nvml)
{
	json_t *object = json_checked(json_object());

	json_put(object, "looks", json_integer((json_int_t)nvml->looks));
	json_put(object, "median_seconds",
		 nvml->looks ? json_real(nvml->median_seconds) : json_null());
	json_put(object, "slow_seconds",
		 nvml->looks ? json_real(nvml->slow_seconds) : json_null());
	return object;
}

static json_t *driver_json(const struct devices_checked *checked)
{
	const struct selftest_look *started = selftest_find(
		&checked->kinds.test, SELFTEST_STARTED, SELFTEST_LINEAR);
	json_t *object = json_checked(json_object());

	json_put(object, "cuda",
		 started ? json_integer(started->step.driver_version)
			 : json_null());
	json_put(object, "version", json_text(checked->driver_version));
	json_put(object, "list_seconds", json_real(checked->list_seconds));
	json_put(object, "start_seconds",
		 started ? json_real((double)started->step.init_us / 1e6)
			 : json_null());
	return object;
}

static json_t *machine_json(const struct devices_checked *checked)
{
	json_t *object = json_checked(json_object());

	json_put(object, "container", json_boolean(checked->is_container));
	json_put(object, "wsl", json_boolean(checked->is_wsl));
	json_put(object, "visible_devices_set",
		 json_boolean(checked->devices.visible != NULL));
	json_put(object, "kernel_gpu_count",
		 json_integer(checked->kernel_count));
	json_put(object, "kernel_order_differs",
		 json_boolean(checked->kernel_order_differs));
	return object;
}

/* Not its words, which are the user's. */
static json_t *checked_command_json(const struct check_command *command)
{
	json_t *object;

	if (!command->is_run)
		return json_null();
	object = json_checked(json_object());
	json_put(object, "exit_code", json_integer(command->code));
	json_put(object, "counted", json_boolean(command->is_counted));
	json_put(object, "tracked_bytes", json_bytes(command->tracked_bytes));
	json_put(object, "torch_reserved_bytes",
		 json_bytes(command->reserved_bytes));
	json_put(object, "refused_count",
		 json_integer((json_int_t)command->refused_count));
	return object;
}

void devices_checked_json(const struct devices_checked *checked,
			  const struct check_findings *findings,
			  struct strbuf *out)
{
	json_t *root = json_checked(json_object());
	json_t *gpus = json_checked(json_array());

	for (size_t i = 0; i < checked->devices.gpu_count; i++)
		json_append(gpus, checked_gpu_json(&checked->devices.gpus[i]));
	json_put(root, "schema", json_string("autofit.devices.check/1"));
	json_put(root, "autofit_version", json_string(AUTOFIT_VERSION));
	json_put(root, "driver", driver_json(checked));
	json_put(root, "nvml", nvml_json(&checked->nvml));
	json_put(root, "machine", machine_json(checked));
	json_put(root, "gpus", gpus);
	json_put(root, "tested",
		 checked->untested ? json_null()
				   : json_integer((json_int_t)checked->tested));
	json_put(root, "context_bytes",
		 json_bytes(check_context_bytes(&checked->kinds.test)));
	json_put(root, "allocations", allocations_json(&checked->kinds.test));
	json_put(root, "command", checked_command_json(&checked->command));
	json_put(root, "findings", findings_json(findings));
	json_put(root, "seconds", json_real(checked->seconds));
	json_write(out, root, JSON_INDENT(2));
}
