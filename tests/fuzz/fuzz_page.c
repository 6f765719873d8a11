/* Any bytes as code, names and figures on the report's page: what comes out is UTF-8, its markup is the page's
 * own, and no number is NAN. */
#include "report/chart.h"
#include "report/highlight.h"
#include "report/html.h"
#include "source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No tag, quote or control character is left, and what is left is UTF-8. */
static void check_text(const char *text)
{
    struct str once = {0};

    html_text(&once, text);
    BUG_IF(strpbrk(str_text(&once), "<>\"'\x01\x1b\x7f") != NULL);
    for (const char *p = str_text(&once); (p = strchr(p, '&')); p++)
        BUG_IF(!str_starts(p, "&lt;") && !str_starts(p, "&gt;") && !str_starts(p, "&amp;") &&
               !str_starts(p, "&quot;") && !str_starts(p, "&#39;"));
    json_t *utf8 = json_string(str_text(&once));
    BUG_IF(!utf8);
    json_decref(utf8);
    str_free(&once);
}

static void check_code(struct arena *a, const char *text)
{
    const char *kinds = highlight_kinds(a, text);
    const struct diff_line *lines;
    size_t n = diff_lines(a, text, &lines);
    struct str out = {0};

    for (size_t i = 0; i < n; i++) {
        int depth = 0;
        str_clear(&out);
        highlight_line(&out, lines[i].text, kinds + (lines[i].text - text), lines[i].len);
        BUG_IF(out.len > 20000);
        for (const char *p = str_text(&out); (p = strchr(p, '<')); p++) {
            depth += str_starts(p, "<span class=\"") ? 1 : -1;
            BUG_IF(depth < 0 || depth > 1 || (depth == 0 && !str_starts(p, "</span>")));
        }
        BUG_IF(depth != 0);
    }
    str_free(&out);
}

static void check_match(struct arena *a, const char *x, const char *y)
{
    const struct diff_line *left, *right;
    size_t n = diff_lines(a, x, &left), m = diff_lines(a, y, &right);
    const int *match = diff_match(a, left, n, right, m);
    int last = -1;

    for (size_t i = 0; i < n; i++) {
        if (match[i] < 0)
            continue;
        BUG_IF(match[i] <= last || (size_t)match[i] >= m || left[i].len != right[match[i]].len ||
               memcmp(left[i].text, right[match[i]].text, left[i].len) != 0);
        last = match[i];
    }
}

static void check_chart(const uint8_t *data, size_t size, const char *name)
{
    struct chart_row rows[4];
    struct chart_point points[4];
    const struct chart_path path = {name, points, ARRAY_LEN(points)};
    double v[24] = {0};
    struct str out = {0};

    memcpy(v, data, MIN(size, sizeof(v)));
    for (size_t i = 0; i < 4; i++) {
        const double *x = v + 6 * i;
        rows[i] = (struct chart_row){i ? "" : name, {x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
        points[i] = (struct chart_point){(int)i, x[0], x[1]};
    }
    chart_speedups(&out, "a", (const char *const[]){"cold", "hot"}, rows, 4);
    chart_shares(&out, "b", rows, 4);
    chart_roofline(&out, "c", (struct chart_roof[]){{name, v[1], true}, {name, v[2], false}}, 2, &path, 1);
    for (const char *p = str_text(&out); (p = strchr(p, '"')); p++)
        BUG_IF(strncmp(p + 1 + strspn(p + 1, "M-"), "nan", 3) == 0 ||
               strncmp(p + 1 + strspn(p + 1, "M-"), "inf", 3) == 0);
    str_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    char *x = arena_strndup(a, (const char *)data, size), *y = x + strlen(x);

    y += (size_t)(y - x) < size; /* what follows the first NUL */
    check_text(x);
    check_code(a, x);
    check_match(a, x, y);
    check_match(a, y, x);
    check_chart(data, size, x);
    arena_close(a);
    return 0;
}
