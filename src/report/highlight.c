#include "report/highlight.h"

#include "report/html.h"

#include <ctype.h>

enum { MAX_LINE = 400 }; /* bytes shown */

static const char keywords[] =
    " alignas alignof asm auto break case catch class const consteval constexpr constinit"
    " continue decltype default delete do else enum explicit extern false for friend goto if"
    " inline mutable namespace new noexcept nullptr operator private protected public register"
    " requires restrict return sizeof static static_assert struct switch template this throw true"
    " try typedef typename union using virtual volatile while __global__ __device__ __host__"
    " __shared__ __constant__ __restrict__ __forceinline__ __noinline__ __launch_bounds__"
    " __align__ __managed__ __grid_constant__ __cluster_dims__ reinterpret_cast static_cast"
    " const_cast dynamic_cast ";

static const char types[] =
    " bool char double float int long short signed unsigned void size_t int8_t int16_t int32_t"
    " int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t half half2 __half __half2"
    " __nv_bfloat16 __nv_bfloat162 float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2"
    " double4 dim3 cudaStream_t ";

/* words: with a blank before and behind each. */
static bool is_one_of(const char *words, const char *word, size_t len)
{
    for (const char *at = words; (at = memmem(at, strlen(at), word, len)); at++)
        if (at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where a comment, a string, a number, a word or a directive that begins at p ends, and what it is. */
static const char *end_of(const char *p, bool line_begins, char *kind)
{
    const char *start = p;

    *kind = 0;
    if (p[0] == '/' && p[1] == '/') {
        *kind = 'c';
        return p + strcspn(p, "\n");
    }
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        *kind = 'c';
        return end ? end + 2 : p + strlen(p);
    }
    if (*p == '#' && line_begins) {
        *kind = 'p';
        for (p++; *p == ' ' || *p == '\t';)
            p++;
        while (is_word(*p))
            p++;
        return p;
    }
    if (*p == '"' || *p == '\'') {
        *kind = 's';
        for (p++; *p && *p != '\n' && *p != *start; p++)
            if (*p == '\\' && p[1] && p[1] != '\n')
                p++;
        return *p == *start ? p + 1 : p;
    }
    if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        *kind = 'n';
        while (is_word(*p) || *p == '.' || *p == '\'' || ((*p == '+' || *p == '-') && strchr("eEpP", p[-1])))
            p++;
        return p;
    }
    if (!is_word(*p))
        return p + 1;
    while (is_word(*p))
        p++;
    if (is_one_of(keywords, start, (size_t)(p - start)))
        *kind = 'k';
    else if (is_one_of(types, start, (size_t)(p - start)))
        *kind = 't';
    return p;
}

char *highlight_kinds(struct arena *a, const char *text)
{
    char *kinds = arena_zalloc(a, strlen(text) + 1);
    bool line_begins = true;

    for (const char *p = text, *end; *p; p = end) {
        char kind;
        end = end_of(p, line_begins, &kind);
        memset(kinds + (p - text), kind, (size_t)(end - p));
        line_begins = *p == '\n' || (line_begins && (*p == ' ' || *p == '\t'));
    }
    return kinds;
}

void highlight_line(struct str *out, const char *line, const char *kinds, size_t len)
{
    size_t shown = len > MAX_LINE ? utf8_cut(line, MAX_LINE) : len;

    for (size_t i = 0, n; i < shown; i += n) {
        for (n = 1; i + n < shown && kinds[i + n] == kinds[i];)
            n++;
        if (kinds[i])
            str_addf(out, "<span class=\"%c\">", kinds[i]);
        html_textn(out, line + i, n);
        if (kinds[i])
            str_add(out, "</span>");
    }
    if (shown < len)
        str_addf(out, "<span class=\"cut\"> … %zu more bytes</span>", len - shown);
}
