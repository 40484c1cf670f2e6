/* A phantom card's cuDNN: descriptors are remembered, work is not done. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

#include "probes/phantom/device/phantom_note.h"

#include <stdatomic.h>

/* NOLINTBEGIN(readability-identifier-naming): the library's names */
/* NOLINTBEGIN(readability-function-size): the library's signatures */

enum { BAD_PARAMETER = 2000 };

struct dnn_handle {
	void *stream;
};

EXPORT int cudnnCreate(void **made)
{
	return maths_make(made, sizeof(struct dnn_handle));
}

EXPORT int cudnnDestroy(void *handle)
{
	return maths_free(handle);
}

EXPORT int cudnnSetStream(struct dnn_handle *handle, void *stream)
{
	handle->stream = stream;
	return MATHS_OK;
}

EXPORT int cudnnGetStream(const struct dnn_handle *handle, void **stream)
{
	*stream = handle->stream;
	return MATHS_OK;
}

/*
 * Both versions of CUDA have a cuDNN of this file name. That of PyTorch 2.14,
 * for CUDA 13, is also good enough for older ones, which ask for theirs or a
 * newer one.
 */
enum { DNN_MAJOR = 9, DNN_MINOR = 24, DNN_PATCH = 0 };

EXPORT size_t cudnnGetVersion(void)
{
	return 10000 * DNN_MAJOR + 100 * DNN_MINOR + DNN_PATCH;
}

EXPORT size_t cudnnGetCudartVersion(void)
{
	return 13000;
}

EXPORT int cudnnGetProperty(int type, int *value)
{
	static const int version[] = { DNN_MAJOR, DNN_MINOR, DNN_PATCH };

	if (type < 0 || type > 2)
		return BAD_PARAMETER;
	*value = version[type];
	return MATHS_OK;
}

EXPORT const char *cudnnGetErrorString(int status)
{
	return status ? "an error of a phantom card" : "success";
}

EXPORT void cudnnGetLastErrorString(char *text, size_t room)
{
	if (room)
		*text = '\0';
}

/*
 * The graph API: what the caller set is given back, and there is one engine,
 * which has neither knobs nor notes and needs no workspace.
 */
#define ATTRIBUTE_BYTES_MAX 256
struct dnn_attribute {
	struct dnn_attribute *next;
	int name;
	int64_t count;
	unsigned char bytes[ATTRIBUTE_BYTES_MAX];
};
struct dnn_descriptor {
	int type;
	struct dnn_attribute *first;
};

enum attribute_type {
	TYPE_HANDLE = 0,
	TYPE_BOOLEAN = 2,
	TYPE_INT64 = 3,
	TYPE_DOUBLE = 5,
	TYPE_POINTER = 6,
	TYPE_DESCRIPTOR = 15,
	TYPE_CHAR = 24,
	TYPE_FRACTION = 26,
};

static size_t dnn_width(int type)
{
	switch (type) {
	case TYPE_HANDLE:
	case TYPE_INT64:
	case TYPE_DOUBLE:
	case TYPE_POINTER:
	case TYPE_DESCRIPTOR:
		return 8;
	case TYPE_BOOLEAN:
	case TYPE_CHAR:
		return 1;
	case TYPE_FRACTION:
		return 16;
	default:
		return 4;
	}
}

static size_t bytes_for(int type, int64_t count)
{
	size_t bytes = count > 0 ? dnn_width(type) * (size_t)count : 0;

	return bytes < ATTRIBUTE_BYTES_MAX ? bytes : ATTRIBUTE_BYTES_MAX;
}

/* CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR */
enum { CONVOLUTION = 1 };

EXPORT int cudnnBackendCreateDescriptor(int type, void **made)
{
	static atomic_flag is_noted = ATOMIC_FLAG_INIT;
	int result = maths_make(made, sizeof(struct dnn_descriptor));
	struct dnn_descriptor *descriptor = *made;

	if (descriptor)
		descriptor->type = type;
	if (type == CONVOLUTION && !atomic_flag_test_and_set(&is_noted))
		phantom_note(SIM_NOTE_CONVOLUTION, NULL, 1);
	return result;
}

EXPORT int cudnnBackendDestroyDescriptor(struct dnn_descriptor *descriptor)
{
	while (descriptor && descriptor->first) {
		struct dnn_attribute *first = descriptor->first;

		descriptor->first = first->next;
		free(first);
	}
	return maths_free(descriptor);
}

EXPORT int cudnnBackendSetAttribute(struct dnn_descriptor *descriptor, int name,
				    int type, int64_t count, const void *values)
{
	struct dnn_attribute *attribute = calloc(1, sizeof(*attribute));

	if (!attribute)
		return MATHS_NO_MEMORY;
	attribute->name = name;
	attribute->count = count;
	if (values)
		memcpy(attribute->bytes, values, bytes_for(type, count));
	attribute->next = descriptor->first;
	descriptor->first = attribute;
	return MATHS_OK;
}

/* What is not of the caller: how many there are, and their value. */
static const struct {
	int name;
	int64_t count, value;
} own_attributes[] = {
	{ 202, 1, 0 }, /* of an engine heuristic: its results */
	{ 300, 1, 0 }, /* of an engine configuration: its engine */
	{ 301, 0, 0 },  { 302, 0, 0 },  { 303, 1, 0 }, /* its workspace */
	{ 402, 1, 0 }, /* of a plan: its workspace */
	{ 403, 0, 0 },  { 404, 0, 0 },  { 405, 0, 0 },
	{ 802, 1, 1 },  /* of an operation graph: its engines */
	{ 1301, 1, 0 }, /* of an engine: its number */
	{ 1302, 0, 0 }, { 1303, 0, 0 }, { 1304, 0, 0 },
	{ 1305, 0, 0 },
};

static int give_own(size_t row, int type, int64_t wanted, int64_t *count,
		    void *values)
{
	if (count)
		*count = own_attributes[row].count;
	/* The caller made the descriptors that it wants to have filled. */
	if (values && wanted > 0 && own_attributes[row].count &&
	    type != TYPE_DESCRIPTOR)
		memcpy(values, &own_attributes[row].value, dnn_width(type));
	return MATHS_OK;
}

EXPORT int cudnnBackendGetAttribute(const struct dnn_descriptor *descriptor,
				    int name, int type, int64_t wanted,
				    int64_t *count, void *values)
{
	const struct dnn_attribute *attribute;

	for (size_t i = 0; i < sizeof(own_attributes) / sizeof(*own_attributes);
	     i++)
		if (own_attributes[i].name == name)
			return give_own(i, type, wanted, count, values);
	for (attribute = descriptor->first; attribute;
	     attribute = attribute->next) {
		if (attribute->name != name)
			continue;
		if (count)
			*count = attribute->count;
		if (values)
			memcpy(values, attribute->bytes,
			       bytes_for(type, wanted < attribute->count
						       ? wanted
						       : attribute->count));
		return MATHS_OK;
	}
	if (count)
		*count = 0;
	return MATHS_OK;
}

/* The older API. */
MATHS_THING(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor)
MATHS_THING(cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor)
MATHS_THING(cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor)
MATHS_THING(cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor)

/* Batch normalisation keeps nothing of its own. */
EXPORT int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	const void *handle, int mode, int operations, const void *x,
	const void *z, const void *y, const void *scale, const void *activation,
	size_t *bytes)
{
	(void)handle;
	(void)mode;
	(void)operations;
	(void)x;
	(void)z;
	(void)y;
	(void)scale;
	(void)activation;
	*bytes = 0;
	return MATHS_OK;
}

EXPORT int cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	const void *handle, int mode, int operations, const void *x,
	const void *y, const void *dy, const void *dz, const void *dx,
	const void *scale, const void *activation, size_t *bytes)
{
	(void)handle;
	(void)mode;
	(void)operations;
	(void)x;
	(void)y;
	(void)dy;
	(void)dz;
	(void)dx;
	(void)scale;
	(void)activation;
	*bytes = 0;
	return MATHS_OK;
}

EXPORT int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
	const void *handle, int mode, int operations, const void *activation,
	const void *x, size_t *bytes)
{
	(void)handle;
	(void)mode;
	(void)operations;
	(void)activation;
	(void)x;
	*bytes = 0;
	return MATHS_OK;
}

MATHS_THING(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor)
MATHS_THING(cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor)

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
