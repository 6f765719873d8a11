/* member: the members of a struct under the names they have outside: in JSON, in a table of the store, in a
 * file. One list for both directions, so that they cannot drift apart; it ends with a row of zeros.
 *
 *     static const struct member clocks[] = {MEMBER(struct clocks, sm_mhz), {0}};
 */
#ifndef BASE_MEMBER_H
#define BASE_MEMBER_H

#include "json.h"

enum member_kind {
    MEMBER_TEXT,         /* const char *; "" where there is none */
    MEMBER_TEXT_OR_NULL, /* the same; NULL where there is none */
    MEMBER_NUMBER,       /* double; NAN where there is none */
    MEMBER_FLAG,         /* bool */
    MEMBER_INT,
    MEMBER_INT_OR_NULL, /* int; -1 where there is none */
    MEMBER_UNSIGNED,
    MEMBER_INT64, /* and the unsigned ones of its size */
    MEMBER_INT64_OR_NULL,
};

struct member {
    const char *name; /* NULL ends a list */
    size_t at;
    enum member_kind kind;
};

#define MEMBER_NAMED(name_, type, member, kind_)                   \
    {                                                              \
        .name = name_, .at = offsetof(type, member), .kind = kind_ \
    }
#define MEMBER_AS(type, member, kind_) MEMBER_NAMED(#member, type, member, kind_)
/* The kind follows from the member's type. */
#define MEMBER(type, member) \
    MEMBER_AS(type, member,                                                                                     \
              _Generic(((type *)0)->member, const char *: MEMBER_TEXT_OR_NULL, double: MEMBER_NUMBER,            \
                       bool: MEMBER_FLAG, int: MEMBER_INT, unsigned: MEMBER_UNSIGNED, int64_t: MEMBER_INT64,     \
                       uint64_t: MEMBER_INT64))

/* A whole number or a flag; below 0 what may be null is null. */
int64_t member_whole(const struct member *f, const void *from);
void member_set_whole(const struct member *f, void *to, int64_t v);
bool member_is_null(const struct member *f, const void *from); /* it has no value now */

const struct member *member_find(const struct member *list, const char *name); /* NULL: there is none */
bool members_equal(const struct member *list, const void *x, const void *y);   /* NAN is as NAN */

json_t *json_of_members(const struct member *list, const void *from);
void json_put_members(json_t *o, const struct member *list, const void *from);
/* Texts go into the arena. A whole number or a flag that is absent stays as it was. */
void json_get_members(const json_t *o, const struct member *list, struct arena *a, void *to);

#endif
