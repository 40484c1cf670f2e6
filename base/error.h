/* A failure in words for the user, and a number for the program. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_ERROR_H
#define AUTOFIT_BASE_ERROR_H

/*
 * Written only when a call fails. The message is complete for the user: what
 * was attempted, on which object, why it failed. One that is too long loses its
 * middle. Every function that takes a struct error * accepts NULL there.
 */
struct error {
	int code; /* negative errno, equal to libuv's codes */
	char message[512];
};

#define ERROR_INIT                                                             \
	{                                                                      \
		0                                                              \
	}

/* Set code (a negative errno) and message; returns code. */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, and appends ": " and the text of the errno behind code. */
int error_set_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "prefix: " before the message that is there; returns its code. */
int error_prefix(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
