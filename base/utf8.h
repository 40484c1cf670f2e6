/* Characters of UTF-8, and those that act on a terminal. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_UTF8_H
#define AUTOFIT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the UTF-8 character at text, its code point in *code; 0 when they
 * are none (overlong, surrogate, cut off, past U+10FFFF) or length is 0.
 */
size_t utf8_character(const char *text, size_t length, uint32_t *code);

/* A control code, a mark of direction or of nothing: it would change more on a
 * terminal than one cell. */
bool utf8_is_unsafe(uint32_t code);

#endif
