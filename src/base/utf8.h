/* utf8: the characters of bytes that anybody may have made. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

/* Bytes of the character at s, of which `left` (not 0) are there; 0 when none begins there: a stray byte, one
 * cut off, an overlong form, a surrogate. c may be NULL, and is set only with a character. */
size_t utf8_read(const char *s, size_t left, uint32_t *c);
void utf8_add(struct str *to, uint32_t c);
/* A control character, \n and \t among them, or one that shows nothing of itself and hides, joins, reorders or
 * carries what a reader does not see: no part of text that others are shown. */
bool utf8_hidden(uint32_t c);
/* At most `most` bytes of s, so that no character is cut; s[most] must be there. */
size_t utf8_cut(const char *s, size_t most);

#endif
