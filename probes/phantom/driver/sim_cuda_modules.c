/* Code of the simulated driver: modules, libraries, their functions. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_objects.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
/* NOLINTBEGIN(readability-function-size): the driver's signatures */

struct module {
	struct sim_object object;
	bool is_library;
};

struct modules_function {
	struct sim_object object;
	struct module *module;
};

/* A library goes with the process, a module with its context. */
static int modules_load(void **handle, const void *code, bool is_library)
{
	struct sim_context *context = NULL;
	struct module *module;
	int result = is_library ? sim_enter() : sim_enter_context(&context);

	if (result)
		return result;
	if (!handle || !code)
		return sim_leave(INVALID_VALUE);
	result = sim_event_module();
	if (result)
		return sim_leave(result);
	module = sim_object_make(SIM_MODULE, sizeof(*module), context);
	if (!module)
		return sim_leave(OUT_OF_MEMORY);
	module->is_library = is_library;
	*handle = module;
	return sim_leave(OK);
}

static int unload(const void *handle, bool is_library)
{
	struct module *module;
	int result = sim_enter();

	if (result)
		return result;
	module = sim_object_find(handle, SIM_MODULE);
	if (!module || module->is_library != is_library)
		return sim_leave(INVALID_HANDLE);
	sim_object_free(module);
	return sim_leave(OK);
}

/* There is a function of any name. */
static int get_function(void **handle, const void *from, const char *name)
{
	struct modules_function *function;
	struct module *module;
	int result = sim_enter();

	if (result)
		return result;
	module = sim_object_find(from, SIM_MODULE);
	if (!module)
		return sim_leave(INVALID_HANDLE);
	if (!handle || !name)
		return sim_leave(INVALID_VALUE);
	if (sim_fault("oom_function"))
		return sim_leave(OUT_OF_MEMORY);
	function = sim_object_make(SIM_FUNCTION, sizeof(*function), NULL);
	if (!function)
		return sim_leave(OUT_OF_MEMORY);
	function->module = module;
	*handle = function;
	return sim_leave(OK);
}

EXPORT int cuModuleLoad(void **module, const char *path)
{
	return modules_load(module, path, false);
}

EXPORT int cuModuleLoadData(void **module, const void *image)
{
	return modules_load(module, image, false);
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image,
			      unsigned int count, const int *options,
			      void **values)
{
	(void)count;
	(void)options;
	(void)values;
	return modules_load(module, image, false);
}

EXPORT int cuModuleLoadFatBinary(void **module, const void *image)
{
	return modules_load(module, image, false);
}

EXPORT int cuModuleUnload(const void *module)
{
	return unload(module, false);
}

EXPORT int cuModuleGetFunction(void **function, const void *module,
			       const char *name)
{
	return get_function(function, module, name);
}

EXPORT int cuLibraryLoadData(void **library, const void *code,
			     const int *jit_options, void **jit_values,
			     unsigned int jit_count, const int *options,
			     void **values, unsigned int count)
{
	(void)jit_options;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	return modules_load(library, code, true);
}

EXPORT int cuLibraryLoadFromFile(void **library, const char *path,
				 const int *jit_options, void **jit_values,
				 unsigned int jit_count, const int *options,
				 void **values, unsigned int count)
{
	(void)jit_options;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	return modules_load(library, path, true);
}

EXPORT int cuLibraryUnload(const void *library)
{
	return unload(library, true);
}

EXPORT int cuLibraryGetKernel(void **kernel, const void *library,
			      const char *name)
{
	return get_function(kernel, library, name);
}

EXPORT int cuKernelGetFunction(void **function, void *kernel)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!sim_object_find(kernel, SIM_FUNCTION))
		return sim_leave(INVALID_HANDLE);
	if (!function)
		return sim_leave(INVALID_VALUE);
	*function = kernel;
	return sim_leave(OK);
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, const void *function)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!sim_object_find(function, SIM_FUNCTION))
		return sim_leave(INVALID_HANDLE);
	if (!value || attribute < 0)
		return sim_leave(INVALID_VALUE);
	*value = attribute ? 0 : 1024; /* threads of a block */
	return sim_leave(OK);
}

EXPORT int cuFuncSetAttribute(const void *function, int attribute, int value)
{
	int result = sim_enter();

	(void)attribute;
	(void)value;
	if (result)
		return result;
	return sim_leave(
		sim_object_find(function, SIM_FUNCTION) ? OK : INVALID_HANDLE);
}

/* A preference of how a cache is divided; Triton states it. */
EXPORT int cuFuncSetCacheConfig(const void *function, int preference)
{
	return cuFuncSetAttribute(function, 0, preference);
}

EXPORT int cuModuleGetLoadingMode(int *mode)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!mode)
		return INVALID_VALUE;
	*mode = 2; /* lazy */
	return OK;
}

const struct sim_export sim_module_exports[] = {
	SIM_SAME(cuModuleLoad, 2000),
	SIM_SAME(cuModuleLoadData, 2000),
	SIM_SAME(cuModuleLoadDataEx, 2010),
	SIM_SAME(cuModuleLoadFatBinary, 2000),
	SIM_SAME(cuModuleUnload, 2000),
	SIM_SAME(cuModuleGetFunction, 2000),
	SIM_SAME(cuLibraryLoadData, 12000),
	SIM_SAME(cuLibraryLoadFromFile, 12000),
	SIM_SAME(cuLibraryUnload, 12000),
	SIM_SAME(cuLibraryGetKernel, 12000),
	SIM_SAME(cuKernelGetFunction, 12000),
	SIM_SAME(cuFuncGetAttribute, 2020),
	SIM_SAME(cuFuncSetAttribute, 9000),
	SIM_SAME(cuFuncSetCacheConfig, 3000),
	SIM_SAME(cuModuleGetLoadingMode, 11070),
	SIM_END,
};

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
