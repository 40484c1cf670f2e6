/* A phantom card's cuBLASLt: one algorithm, which needs no workspace. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */
/* NOLINTBEGIN(readability-function-size): the library's signatures */

MATHS_THING(cublasLtCreate, cublasLtDestroy)

EXPORT int cublasLtMatmulDescCreate(void **made, int compute, int scale)
{
	(void)compute;
	(void)scale;
	return maths_make(made, MATHS_THING_BYTES);
}

EXPORT int cublasLtMatmulDescDestroy(void *made)
{
	return maths_free(made);
}

EXPORT int cublasLtMatrixLayoutCreate(void **made, int type, uint64_t rows,
				      uint64_t columns, int64_t leading)
{
	(void)type;
	(void)rows;
	(void)columns;
	(void)leading;
	return maths_make(made, MATHS_THING_BYTES);
}

EXPORT int cublasLtMatrixLayoutDestroy(void *made)
{
	return maths_free(made);
}

MATHS_THING(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceDestroy)

/* As cublasLtMatmulHeuristicResult_t is laid out. */
struct lt_algorithm {
	uint64_t algorithm[8];
	size_t workspace_bytes;
	int status;
	float waves;
	int reserved[4];
};

/* The caller's workspace has its own size, whatever is asked for here. */
EXPORT int cublasLtMatmulAlgoGetHeuristic(const void *handle, const void *what,
					  const void *a, const void *b,
					  const void *c, const void *d,
					  const void *preference, int wanted,
					  struct lt_algorithm *found,
					  int *count)
{
	(void)handle;
	(void)what;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)preference;
	*count = wanted > 0;
	if (wanted > 0)
		memset(found, 0, sizeof(*found));
	return MATHS_OK;
}

EXPORT size_t cublasLtGetVersion(void)
{
	return PHANTOM_MAJOR < 13 ? 120804 : 130002;
}

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
