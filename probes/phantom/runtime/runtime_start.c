/* The driver below a phantom card's CUDA runtime, and this thread's device. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

/* Written once, by whoever comes first. */
static struct {
	void *library;
	int error;
	int count;
	void *contexts[RUNTIME_DEVICES]; /* under the lock */
} driver;

static _Thread_local struct {
	int device, bound; /* bound: 1 + the device of the current context */
	int last_error;
} thread;

static int not_supported(void)
{
	return RUNTIME_NOT_SUPPORTED;
}

void *runtime_function(void **slot, const char *name)
{
	_Atomic(void *) *place = (_Atomic(void *) *)slot;
	void *function = atomic_load_explicit(place, memory_order_acquire);
	int (*missing)(void) = not_supported;

	if (function)
		return function;
	function = driver.library ? dlsym(driver.library, name) : NULL;
	if (!function)
		memcpy(&function, &missing, sizeof(function));
	atomic_store_explicit(place, function, memory_order_release);
	return function;
}

DRIVER_CALL(driver_init, "cuInit", (unsigned int flags), (flags))
DRIVER_CALL(driver_count, "cuDeviceGetCount", (int *count), (count))
DRIVER_CALL(context_retain, "cuDevicePrimaryCtxRetain",
	    (void **context, int device), (context, device))
DRIVER_CALL(context_set, "cuCtxSetCurrent", (void *context), (context))

static void start_driver(void)
{
	driver.library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver.library) {
		driver.error = RUNTIME_NO_DRIVER;
		return;
	}
	driver.error = driver_init(0);
	if (!driver.error)
		driver.error = driver_count(&driver.count);
	if (driver.count > RUNTIME_DEVICES)
		driver.count = RUNTIME_DEVICES;
}

int runtime_start(void)
{
	(void)pthread_once(&once, start_driver);
	return driver.error;
}

int runtime_count(void)
{
	return runtime_start() ? 0 : driver.count;
}

int runtime_device(void)
{
	return thread.device;
}

int runtime_enter(void)
{
	int device = thread.device;
	int result = runtime_start();

	if (result || thread.bound == device + 1)
		return result;
	(void)pthread_mutex_lock(&contexts_lock);
	if (!driver.contexts[device])
		result = context_retain(&driver.contexts[device], device);
	(void)pthread_mutex_unlock(&contexts_lock);
	if (!result)
		result = context_set(driver.contexts[device]);
	if (!result)
		thread.bound = device + 1;
	return result;
}

int runtime_choose(int device)
{
	int result = runtime_start();

	if (result)
		return result;
	if (device < 0 || device >= driver.count)
		return RUNTIME_INVALID_DEVICE;
	thread.device = device;
	return RUNTIME_OK;
}

int runtime_answer(int result)
{
	if (result)
		thread.last_error = result;
	return result;
}

EXPORT int cudaPeekAtLastError(void)
{
	return thread.last_error;
}

EXPORT int cudaGetLastError(void)
{
	int error = thread.last_error;

	thread.last_error = RUNTIME_OK;
	return error;
}

DRIVER_CALL(error_name, "cuGetErrorName", (int error, const char **text),
	    (error, text))
DRIVER_CALL(error_text, "cuGetErrorString", (int error, const char **text),
	    (error, text))

EXPORT const char *cudaGetErrorName(int error)
{
	const char *text = NULL;

	(void)runtime_start();
	if (error_name(error, &text) || !text)
		return "cudaErrorUnknown";
	return text;
}

EXPORT const char *cudaGetErrorString(int error)
{
	const char *text = NULL;

	(void)runtime_start();
	if (error_text(error, &text) || !text)
		return "an error that a phantom card has no words for";
	return text;
}

DRIVER_CALL(entry_point, "cuGetProcAddress_v2",
	    (const char *name, void **function, int version, uint64_t flags,
	     int *status),
	    (name, function, version, flags, status))

EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function,
					    unsigned int version,
					    unsigned long long flags,
					    int *status)
{
	int (*missing)(void) = not_supported;
	int result = runtime_start();
	int found = 0;

	if (result)
		return runtime_answer(result);
	result = entry_point(name, function, (int)version, flags, &found);
	/* PyTorch insists on some that it calls only where a card is asked
	 * whether it has them. */
	if (!result && !*function)
		memcpy(function, &missing, sizeof(*function));
	if (status)
		*status = result ? 1 : 0;
	return runtime_answer(result);
}

#define RUNTIME_VERSION (PHANTOM_MAJOR < 13 ? 12080 : 13000)

EXPORT int cudaGetDriverEntryPoint(const char *name, void **function,
				   unsigned long long flags, int *status)
{
	return cudaGetDriverEntryPointByVersion(name, function, RUNTIME_VERSION,
						flags, status);
}

EXPORT int cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME_VERSION;
	return RUNTIME_OK;
}

/* NOLINTEND(readability-identifier-naming) */
