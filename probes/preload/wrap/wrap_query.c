/* Wrappers of questions for the memory of a device: a cap answers them. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/lookup.h"
#include "probes/preload/properties.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */
/* NOLINTBEGIN(bugprone-macro-parentheses): number is a type. */

/* NVML's NVML_DEVICE_UUID_V2_BUFFER_SIZE */
#define UUID_TEXT_MAX 96
#define NVML_SUCCESS 0
#define NVML_FUNCTION_NOT_FOUND 13

typedef unsigned int uuid_fn(void *device, char *text, unsigned int size);

/* What the program is told; under a cap of the driver's answer of just now. */
static struct cap_figures told(struct cap_figures real)
{
	struct device_now now = device_now();
	struct cap_figures figures = real;

	if (now.row >= 0 && ledger_cap(now.row)) {
		cap_look(now.row);
		figures = cap_figures(now.row, real);
	}
	ledger_asked_free(figures.free_bytes, figures.total_bytes);
	return figures;
}

#define MEMORY_QUESTION(elf, number)                                           \
	WRAPPER cu_result elf(number *free_bytes, number *total_bytes)         \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct cap_figures figures;                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(free_bytes, total_bytes);                  \
		result = real(free_bytes, total_bytes);                        \
		if (result == CU_SUCCESS) {                                    \
			figures.free_bytes = free_bytes ? *free_bytes : 0;     \
			figures.total_bytes = total_bytes ? *total_bytes : 0;  \
			figures = told(figures);                               \
			if (free_bytes)                                        \
				*free_bytes = (number)figures.free_bytes;      \
			if (total_bytes)                                       \
				*total_bytes = (number)figures.total_bytes;    \
		}                                                              \
		call_end();                                                    \
		return result;                                                 \
	}

MEMORY_QUESTION(cuMemGetInfo, unsigned int)
MEMORY_QUESTION(cuMemGetInfo_v2, size_t)

#define TOTAL_QUESTION(elf, number)                                            \
	WRAPPER cu_result elf(number *bytes, int dev)                          \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
		uint64_t cap;                                                  \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(bytes, dev);                               \
		result = real(bytes, dev);                                     \
		cap = ledger_cap(device_known_row(dev));                       \
		if (result == CU_SUCCESS && bytes && cap && *bytes > cap)      \
			*bytes = (number)cap;                                  \
		call_end();                                                    \
		return result;                                                 \
	}

TOTAL_QUESTION(cuDeviceTotalMem, unsigned int)
TOTAL_QUESTION(cuDeviceTotalMem_v2, size_t)

/* NOLINTEND(bugprone-macro-parentheses) */

static int digit_of(char text)
{
	if (text >= '0' && text <= '9')
		return text - '0';
	if (text >= 'a' && text <= 'f')
		return text - 'a' + 10;
	if (text >= 'A' && text <= 'F')
		return text - 'A' + 10;
	return -1;
}

/* "GPU-" or "MIG-", then 32 digits with dashes between them. */
static bool parse_uuid(const char *text, unsigned char uuid[16])
{
	int count = 0;

	if (!text[0] || !text[1] || !text[2] || text[3] != '-')
		return false;
	for (text += 4; *text && count < 32; text++) {
		int digit = digit_of(*text);

		if (*text == '-')
			continue;
		if (digit < 0)
			return false;
		if (count % 2)
			uuid[count / 2] |= (unsigned char)digit;
		else
			uuid[count / 2] = (unsigned char)(digit << 4);
		count++;
	}
	return count == 32 && !*text;
}

/* The row of a device of NVML, which knows no ordinals of the driver. */
static int row_of(void *device)
{
	static void *place;
	uuid_fn *ask = __extension__(uuid_fn *)
		lookup_once(&place, "nvmlDeviceGetUUID");
	char text[UUID_TEXT_MAX] = { 0 };
	unsigned char uuid[16];
	int saved = errno;
	int row = -1;

	if (ask && ask(device, text, sizeof(text) - 1) == NVML_SUCCESS &&
	    parse_uuid(text, uuid))
		row = ledger_known_device(uuid);
	errno = saved;
	return row;
}

/* What NVML says of a device, as the cap has it; false: it has none. */
static bool put_below_cap(void *device, unsigned long long *total,
			  unsigned long long *free_bytes,
			  unsigned long long *used)
{
	struct cap_figures figures = { .free_bytes = *free_bytes,
				       .total_bytes = *total };
	int row = row_of(device);

	if (!ledger_cap(row))
		return false;
	figures = cap_figures(row, figures);
	*used = figures.total_bytes - figures.free_bytes;
	*free_bytes = figures.free_bytes;
	*total = figures.total_bytes;
	return true;
}

WRAPPER unsigned int nvmlDeviceGetMemoryInfo(void *device, void *memory)
{
	fn_nvmlDeviceGetMemoryInfo *real = REAL(nvmlDeviceGetMemoryInfo);
	struct preload_nvml_memory *answer = memory;
	unsigned int result;

	if (!real)
		return NVML_FUNCTION_NOT_FOUND;
	if (!call_begin())
		return real(device, memory);
	ledger_flag(PRELOAD_NVML);
	result = real(device, memory);
	if (result == NVML_SUCCESS && answer)
		(void)put_below_cap(device, &answer->total, &answer->free,
				    &answer->used);
	call_end();
	return result;
}

WRAPPER unsigned int nvmlDeviceGetMemoryInfo_v2(void *device, void *memory)
{
	fn_nvmlDeviceGetMemoryInfo_v2 *real = REAL(nvmlDeviceGetMemoryInfo_v2);
	struct preload_nvml_memory_v2 *answer = memory;
	unsigned int result;

	if (!real)
		return NVML_FUNCTION_NOT_FOUND;
	if (!call_begin())
		return real(device, memory);
	ledger_flag(PRELOAD_NVML);
	result = real(device, memory);
	/* So the sum is right, whether used is thought to have the reserved
	 * bytes in it or not. */
	if (result == NVML_SUCCESS && answer &&
	    put_below_cap(device, &answer->total, &answer->free, &answer->used))
		answer->reserved = 0;
	call_end();
	return result;
}

/* NOLINTEND(readability-identifier-naming) */
