/* A device that seems smaller than it is. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/cap.h"

#include "probes/preload/device.h"
#include "probes/preload/ledger/ledger.h"
#include "probes/preload/lookup.h"
#include "probes/preload/wrap.h"

#include <errno.h>

typedef cu_result push_fn(void *context);
typedef cu_result pop_fn(void **context);

/* Asks the driver about the current context. */
static bool ask(struct cap_figures *figures)
{
	fn_cuMemGetInfo_v2 *real = REAL(cuMemGetInfo_v2);
	unsigned int mode = device_relax();
	size_t free_bytes = 0;
	size_t total_bytes = 0;
	bool is_told = real && real(&free_bytes, &total_bytes) == CU_SUCCESS;

	device_restore(mode);
	if (!is_told || free_bytes > total_bytes)
		return false;
	figures->free_bytes = free_bytes;
	figures->total_bytes = total_bytes;
	return true;
}

static void cap_note(int device)
{
	struct cap_figures figures;
	uint64_t changes = ledger_changes();

	if (ask(&figures))
		ledger_note_used(device,
				 figures.total_bytes - figures.free_bytes,
				 changes);
}

void cap_look(int device)
{
	int saved = errno;

	if (ledger_cap(device) && device_now().row == device)
		cap_note(device);
	errno = saved;
}

bool cap_allows_context(int device, void *context)
{
	static void *push_place, *pop_place;
	push_fn *push;
	pop_fn *pop;
	int saved = errno;

	if (!ledger_cap(device))
		return true;
	push = __extension__(push_fn *)
		lookup_once(&push_place, "cuCtxPushCurrent_v2");
	pop = __extension__(pop_fn *)
		lookup_once(&pop_place, "cuCtxPopCurrent_v2");
	if (!context) {
		cap_note(device);
	} else if (push && pop && push(context) == CU_SUCCESS) {
		cap_note(device);
		(void)pop(&context);
	}
	errno = saved;
	return !ledger_is_over(device);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct cap_figures cap_figures(int device, struct cap_figures real)
{
	uint64_t cap = ledger_cap(device);

	if (!cap)
		return real;
	real.total_bytes = least(real.total_bytes, cap);
	real.free_bytes = least(real.free_bytes, ledger_room(device));
	return real;
}

struct cap_figures cap_ask(int device)
{
	struct cap_figures figures = { 0, 0 };
	int saved = errno;

	cap_look(device);
	if (device >= 0 && device_now().row == device && ask(&figures))
		figures = cap_figures(device, figures);
	errno = saved;
	return figures;
}
