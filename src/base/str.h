/* str: a growable text buffer, always NUL-terminated once something was added. `struct str s = {.arena = a};`
 * and it dies with the arena; zero-initialised, it is the owner's to free. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct str {
    char *s; /* NULL while empty; use str_text() where a C string is needed */
    size_t len, cap;
    struct arena *arena; /* NULL: str_free at the end */
};

void str_free(struct str *b);
void str_clear(struct str *b);
void str_add(struct str *b, const char *s);
void str_addn(struct str *b, const char *s, size_t len);
void str_addc(struct str *b, char c);
void str_addf(struct str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *b, const char *fmt, va_list ap);
const char *str_text(const struct str *b);      /* "" when empty */
char *str_take(struct str *b, struct arena *a); /* its text, now in the arena; b is empty again */

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
bool str_eq(const char *a, const char *b); /* either may be NULL */
/* Is it one of the words of a list, "one|two|a third"? */
bool str_in(const char *word, const char *list);
bool str_in_n(const char *word, size_t len, const char *list);
/* Words are letters, digits and _, as C's are. */
bool str_in_word(char c);
size_t str_word(const char *s);  /* the bytes of the one that begins at s; 0: none does */
bool str_is_name(const char *s); /* one word, and no number */
/* The first at or behind `from`, a place in text, that stands by itself; NULL: none does. */
const char *str_find_word(const char *text, const char *from, const char *word);
size_t str_count_word(const char *text, const char *word);
bool str_has_word(const char *text, const char *word);
char *str_replace_word(struct arena *a, const char *text, const char *word,
                       const char *by);             /* wherever it does */
size_t str_line_start(const char *text, size_t at); /* where the line begins in which `at` lies */
int str_hex_digit(char c);                          /* its value; -1: none */
int str_hex4(const char *s); /* the number of four hexadecimal digits; -1: they are not */
/* A word as a POSIX shell takes it: quoted where it must be. For every command that is printed. */
void str_add_shell(struct str *b, const char *word);
/* Nearest of `names` (NULL-terminated) for "did you mean"; NULL when nothing is near. */
const char *str_nearest(const char *word, const char *const *names);

#endif
