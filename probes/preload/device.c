/* Ordinals and contexts of this process, by the driver's own answers. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/device.h"

#include "probes/preload/ledger/ledger.h"
#include "probes/preload/lookup.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* As cuda.h numbers them; no mode is so high. */
#define CAPTURE_RELAXED 2
#define CAPTURE_NONE UINT32_MAX

/* Ordinals beyond it are asked for each time. */
#define ORDINALS 64

typedef cu_result uuid_fn(unsigned char uuid[16], int device);
typedef cu_result get_device_fn(int *device);
typedef cu_result get_context_fn(void **context);
typedef cu_result capturing_fn(void *stream, unsigned int *status);
typedef cu_result exchange_fn(unsigned int *mode);
typedef cu_result primary_state_fn(int device, unsigned int *flags,
				   int *active);

/* Answers the mode that was; an old driver has none. */
static unsigned int exchange(unsigned int mode)
{
	static void *place;
	int saved = errno;
	exchange_fn *ask = __extension__(exchange_fn *)
		lookup_once(&place, "cuThreadExchangeStreamCaptureMode");

	if (!ask || ask(&mode) != CU_SUCCESS)
		mode = CAPTURE_NONE;
	errno = saved;
	return mode;
}

/* Set once, before the first capture begins. */
static uint32_t captures;

void device_capture_begins(void)
{
	__atomic_store_n(&captures, 1, __ATOMIC_RELAXED);
}

void device_note_name(const char *name)
{
	static const char begins[] = "cuStreamBegin";
	size_t i;

	for (i = 0; begins[i] && name[i] == begins[i]; i++)
		;
	if (!begins[i])
		device_capture_begins();
}

static bool may_capture(void)
{
	return __atomic_load_n(&captures, __ATOMIC_RELAXED) != 0;
}

unsigned int device_relax(void)
{
	return may_capture() ? exchange(CAPTURE_RELAXED) : CAPTURE_NONE;
}

void device_restore(unsigned int mode)
{
	if (mode != CAPTURE_NONE)
		(void)exchange(mode);
}

static bool read_uuid(int ordinal, unsigned char uuid[16])
{
	static void *newer, *older;
	void *found = lookup_once(&newer, "cuDeviceGetUuid_v2");
	uuid_fn *ask;

	if (!found)
		found = lookup_once(&older, "cuDeviceGetUuid");
	ask = __extension__(uuid_fn *) found;
	return ask && ask(uuid, ordinal) == CU_SUCCESS;
}

static int device_look_up(int ordinal)
{
	fn_cuDeviceTotalMem_v2 *total = REAL(cuDeviceTotalMem_v2);
	unsigned int mode = device_relax();
	unsigned char uuid[16];
	size_t bytes = 0;
	int row = -1;

	if (read_uuid(ordinal, uuid))
		row = ledger_device(uuid);
	if (row >= 0 && total && total(&bytes, ordinal) == CU_SUCCESS)
		ledger_total(row, bytes);
	device_restore(mode);
	return row;
}

int device_row(int ordinal)
{
	/* 1 + row. A child cannot use the driver that its parent began with,
	 * so it finds what is true for it too. */
	static int rows[ORDINALS];
	int *place = ordinal >= 0 && ordinal < ORDINALS ? &rows[ordinal] : NULL;
	int known = place ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
	int saved = errno;
	int row;

	if (known)
		return known - 1;
	row = device_look_up(ordinal);
	if (place && row >= 0)
		__atomic_store_n(place, row + 1, __ATOMIC_RELAXED);
	errno = saved;
	return row;
}

int device_known_row(int ordinal)
{
	unsigned char uuid[16];
	int saved = errno;
	int row = -1;

	if (read_uuid(ordinal, uuid))
		row = ledger_known_device(uuid);
	errno = saved;
	return row;
}

struct device_now device_now(void)
{
	static void *context_place, *device_place;
	struct device_now now = { 0, -1, -1 };
	int saved = errno;
	get_context_fn *get_context = __extension__(get_context_fn *)
		lookup_once(&context_place, "cuCtxGetCurrent");
	get_device_fn *get_device = __extension__(get_device_fn *)
		lookup_once(&device_place, "cuCtxGetDevice");
	void *context = NULL;
	int ordinal = -1;

	if (get_context && get_device && get_context(&context) == CU_SUCCESS &&
	    context && get_device(&ordinal) == CU_SUCCESS) {
		now.context = (uint64_t)(uintptr_t)context;
		now.ordinal = ordinal;
		now.row = device_row(ordinal);
	}
	errno = saved;
	return now;
}

bool device_is_capturing(void *stream, enum device_family family)
{
	static void *legacy, *per_thread;
	int saved = errno;
	capturing_fn *ask;
	unsigned int status = 0;
	bool is_capturing;

	if (!may_capture())
		return false;
	ask = __extension__(capturing_fn *)(
		family == DEVICE_LEGACY
			? lookup_once(&legacy, "cuStreamIsCapturing")
			: lookup_once(&per_thread, "cuStreamIsCapturing_ptsz"));
	is_capturing = ask && ask(stream, &status) == CU_SUCCESS && status;
	errno = saved;
	return is_capturing;
}

enum device_primary device_primary(int ordinal)
{
	static void *place;
	int saved = errno;
	primary_state_fn *ask = __extension__(primary_state_fn *)
		lookup_once(&place, "cuDevicePrimaryCtxGetState");
	unsigned int flags = 0;
	int active = 0;
	bool is_told = ask && ask(ordinal, &flags, &active) == CU_SUCCESS;

	errno = saved;
	if (!is_told)
		return DEVICE_PRIMARY_UNKNOWN;
	return active ? DEVICE_PRIMARY_ACTIVE : DEVICE_PRIMARY_GONE;
}
