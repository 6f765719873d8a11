/* Inline assembly: does it only compute? */
#include "rewrite/analysis.h"

/* Its instructions, without the operands: string literals up to the first colon, joined. */
static char *template_of(const struct function *f, struct node n)
{
    struct str b = {.arena = f->a};
    bool inside = false;
    for (const char *p = text_of(f, n); *p && (inside || *p != ':'); p++) {
        if (inside && *p == '\\' && p[1]) {
            p++;
            str_addc(&b, ' ');
        } else if (*p == '"') {
            inside = !inside;
        } else if (inside) {
            str_addc(&b, *p);
        }
    }
    return str_take(&b, f->a);
}

/* PTX instructions whose results follow from their operands alone. */
static bool is_arithmetic(const char *opcode, size_t len)
{
    return str_in_n(
        opcode, len,
        "abs|add|addc|and|bfe|bfi|bfind|brev|clz|cnot|copysign|cos|cvt|div|dp2a|dp4a|ex2|fma|fns|lg2|"
        "lop3|mad|mad24|madc|max|min|mov|mul|mul24|neg|not|or|popc|prmt|rcp|rem|rsqrt|sad|selp|set|"
        "setp|shf|shl|shr|sin|slct|sqrt|sub|subc|szext|tanh|testp|xor");
}

bool assembly_computes(const struct function *f, struct node n)
{
    const char *p = template_of(f, n);
    bool any = false;

    if (strstr(text_of(f, n), "\"memory\"") || strstr(p, "%%")) /* %%laneid, %%clock */
        return false;
    while (*p) {
        p += strspn(p, " {};");
        if (*p == '@') /* a predicate */
            p += strcspn(p, " ;");
        p += strspn(p, " ");
        size_t len = str_word(p);
        bool declares = str_starts(p, ".reg");
        if (*p && *p != '}' && !declares && !is_arithmetic(p, len))
            return false;
        any = any || len > 0;
        p += declares || len ? strcspn(p, ";") : 0;
    }
    return any;
}
