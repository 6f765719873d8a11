#include "base/base.h"

int64_t member_whole(const struct member *f, const void *from)
{
    const void *p = (const char *)from + f->at;

    switch (f->kind) {
    case MEMBER_FLAG:
        return *(const bool *)p;
    case MEMBER_INT:
    case MEMBER_INT_OR_NULL:
        return *(const int *)p;
    case MEMBER_UNSIGNED:
        return *(const unsigned *)p;
    case MEMBER_INT64:
    case MEMBER_INT64_OR_NULL:
        return *(const int64_t *)p;
    default:
        BUG("%s is no whole number", f->name);
    }
}

void member_set_whole(const struct member *f, void *to, int64_t v)
{
    void *p = (char *)to + f->at;

    switch (f->kind) {
    case MEMBER_FLAG:
        *(bool *)p = v;
        return;
    case MEMBER_INT:
    case MEMBER_INT_OR_NULL:
        *(int *)p = (int)v;
        return;
    case MEMBER_UNSIGNED:
        *(unsigned *)p = (unsigned)v;
        return;
    case MEMBER_INT64:
    case MEMBER_INT64_OR_NULL:
        *(int64_t *)p = v;
        return;
    default:
        BUG("%s is no whole number", f->name);
    }
}

bool member_is_null(const struct member *f, const void *from)
{
    const void *p = (const char *)from + f->at;

    switch (f->kind) {
    case MEMBER_TEXT:
    case MEMBER_TEXT_OR_NULL:
        return !*(const char *const *)p;
    case MEMBER_NUMBER:
        return !isfinite(*(const double *)p);
    case MEMBER_INT_OR_NULL:
    case MEMBER_INT64_OR_NULL:
        return member_whole(f, from) < 0;
    default:
        return false;
    }
}

const struct member *member_find(const struct member *list, const char *name)
{
    for (const struct member *m = list; m->name; m++)
        if (str_eq(m->name, name))
            return m;
    return NULL;
}

bool members_equal(const struct member *list, const void *x, const void *y)
{
    json_t *a = json_of_members(list, x), *b = json_of_members(list, y);
    bool equal = json_equal(a, b);

    json_decref(a);
    json_decref(b);
    return equal;
}

void json_put_members(json_t *o, const struct member *list, const void *from)
{
    for (const struct member *f = list; f->name; f++) {
        const void *p = (const char *)from + f->at;
        if (member_is_null(f, from))
            json_put(o, f->name, json_null());
        else if (f->kind == MEMBER_TEXT || f->kind == MEMBER_TEXT_OR_NULL)
            json_put_text(o, f->name, *(const char *const *)p);
        else if (f->kind == MEMBER_NUMBER)
            json_put_num(o, f->name, *(const double *)p);
        else if (f->kind == MEMBER_FLAG)
            json_put_flag(o, f->name, *(const bool *)p);
        else
            json_put_int(o, f->name, member_whole(f, from));
    }
}

json_t *json_of_members(const struct member *list, const void *from)
{
    json_t *o = json_object();

    json_put_members(o, list, from);
    return o;
}

void json_get_members(const json_t *o, const struct member *list, struct arena *a, void *to)
{
    for (const struct member *f = list; f->name; f++) {
        void *p = (char *)to + f->at;
        bool may_be_null = f->kind == MEMBER_INT_OR_NULL || f->kind == MEMBER_INT64_OR_NULL;
        if (f->kind == MEMBER_TEXT || f->kind == MEMBER_TEXT_OR_NULL)
            *(const char **)p = arena_strdup(a, json_text(o, f->name, f->kind == MEMBER_TEXT ? "" : NULL));
        else if (f->kind == MEMBER_NUMBER)
            *(double *)p = json_num(o, f->name);
        else if (f->kind == MEMBER_FLAG)
            *(bool *)p = json_flag(o, f->name, *(bool *)p);
        else
            member_set_whole(f, to, json_int(o, f->name, may_be_null ? -1 : member_whole(f, to)));
    }
}
