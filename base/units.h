/* Numbers as people write them: bytes, durations, percentages. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_UNITS_H
#define AUTOFIT_BASE_UNITS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define BYTES_TEXT_MAX 24
#define DURATION_TEXT_MAX 32
#define DECIMAL_TEXT_MAX 24

/* A size given in bytes or as a share of something known later. */
struct amount {
	bool is_percent;
	double percent;
	uint64_t bytes;
};

static inline uint64_t bytes_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t bytes_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a - b, at least 0. */
static inline uint64_t bytes_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* How far from each other they are. */
static inline uint64_t bytes_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Of counts: a x b, at most INT64_MAX. */
static inline int64_t count_product(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/* A whole decimal number, nothing before or after it. -EINVAL, -ERANGE. */
int integer_parse(const char *text, int64_t *value, struct error *err);

/*
 * "512", "8G", "23.7GiB", "600 MiB": K M G T with or without iB are powers of
 * 1024; KB MB GB TB are powers of 1000, as disks and vendors count.
 */
int bytes_parse(const char *text, uint64_t *bytes, struct error *err);

/* Of parameters: "7b", "1.3B", "350M", "6738415616"; K M B T are powers of
 * 1000. 0 and less are -EINVAL, more than 10^15 is -ERANGE. */
int parameters_parse(const char *text, int64_t *count, struct error *err);

/* "5%" (0 to 100) or what bytes_parse reads. */
int amount_parse(const char *text, struct amount *amount, struct error *err);
uint64_t amount_of(const struct amount *amount, uint64_t whole_bytes);

/* "90", "90s", "10m", "1h30m", "250ms" as milliseconds; a bare number: s. */
int duration_parse(const char *text, int64_t *ms, struct error *err);

/* "23.7 GiB", "512 MiB", "17 B": three significant digits. Returns text. */
const char *bytes_format(char text[BYTES_TEXT_MAX], uint64_t bytes);

/* "12.5", one or two digits behind a point, whatever the locale says; "": not
 * above 0, or absurd. Returns text. */
const char *decimal_format(char text[DECIMAL_TEXT_MAX], double number,
			   int digits);

/* "0.8 s", "14 s", "3 min 12 s", "1 h 05 min". Returns text. */
const char *duration_format(char text[DURATION_TEXT_MAX], double seconds);

#endif
