/* A phantom card's cuSPARSE: PyTorch makes a handle where it may need one. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */

MATHS_THING(cusparseCreate, cusparseDestroy)

EXPORT const char *cusparseGetErrorString(int status)
{
	return status ? "an error of a phantom card" : "success";
}

/* NOLINTEND(readability-identifier-naming) */
