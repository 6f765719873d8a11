/* json: jansson with typed reads. The one place that includes it. A missing or wrongly typed member gives the
 * fallback; json_number gives NAN, and writes null for NAN: an unknown figure is null, never 0. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "err.h"

json_t *json_parse(const char *text, size_t len, const char *name, struct err *err); /* NULL on failure */
const char *json_text(const json_t *o, const char *key, const char *fallback);
int64_t json_int(const json_t *o, const char *key, int64_t fallback);
/* The same, 0 when absent, as %lld prints it. */
static inline long long json_count(const json_t *o, const char *key)
{
    return json_int(o, key, 0);
}
double json_num(const json_t *o, const char *key); /* NAN when absent or null */
bool json_flag(const json_t *o, const char *key, bool fallback);
void json_put(json_t *o, const char *key, json_t *value);      /* steals value */
void json_put_text(json_t *o, const char *key, const char *s); /* NULL writes null; invalid UTF-8 is replaced */
void json_put_int(json_t *o, const char *key, int64_t v);
void json_put_num(json_t *o, const char *key, double v); /* NAN and inf write null */
void json_put_flag(json_t *o, const char *key, bool v);
json_t *json_num_or_null(double v);
char *json_line(struct arena *a, const json_t *o); /* one line, no newline */
char *json_pretty(struct arena *a, const json_t *o);
json_t *json_texts(const char *const *list, size_t n); /* an array; NULL among them is null */
char *json_take_line(struct arena *a, json_t *o);      /* json_line of what is not needed any more */
struct str;
void json_print(struct str *out, json_t *o); /* json_pretty and a newline; o is not needed any more */

#endif
