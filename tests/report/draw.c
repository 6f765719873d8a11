/* draw: a chart or a page's piece of code, from figures in JSON on standard input. tests/report/charts.py. */
#include "report/chart.h"
#include "report/highlight.h"
#include "source/source.h"

#include <stdio.h>

static double number(const json_t *list, size_t i)
{
    const json_t *v = json_array_get(list, i);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text(const json_t *o, const char *key)
{
    return json_text(o, key, "");
}

static void draw_rows(const json_t *in, struct arena *a, struct str *out)
{
    const json_t *list = json_object_get(in, "rows");
    size_t n = json_array_size(list);
    struct chart_row *rows = arena_array(a, struct chart_row, n + 1);

    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(list, i);
        rows[i] = (struct chart_row){json_string_value(json_array_get(r, 0)),
                                     {number(r, 1), number(r, 2), number(r, 3)},
                                     {number(r, 4), number(r, 5), number(r, 6)}};
    }
    if (str_eq(text(in, "chart"), "speedups"))
        chart_speedups(out, text(in, "id"), (const char *const[]){"cold", "hot"}, rows, n);
    else if (str_eq(text(in, "chart"), "shares"))
        chart_shares(out, text(in, "id"), rows, n);
    else
        chart_errors(out, text(in, "id"), rows, n);
}

static void draw_roofline(const json_t *in, struct arena *a, struct str *out)
{
    const json_t *roofs = json_object_get(in, "roofs"), *paths = json_object_get(in, "paths");
    struct chart_roof *roof = arena_array(a, struct chart_roof, json_array_size(roofs) + 1);
    struct chart_path *path = arena_array(a, struct chart_path, json_array_size(paths) + 1);

    for (size_t i = 0; i < json_array_size(roofs); i++) {
        const json_t *r = json_array_get(roofs, i);
        roof[i] = (struct chart_roof){json_string_value(json_array_get(r, 0)), number(r, 1),
                                      json_is_true(json_array_get(r, 2))};
    }
    for (size_t k = 0; k < json_array_size(paths); k++) {
        const json_t *p = json_array_get(paths, k), *points = json_object_get(p, "points");
        struct chart_point *list = arena_array(a, struct chart_point, json_array_size(points) + 1);
        for (size_t i = 0; i < json_array_size(points); i++) {
            const json_t *x = json_array_get(points, i);
            list[i] = (struct chart_point){(int)number(x, 0), number(x, 1), number(x, 2)};
        }
        path[k] = (struct chart_path){text(p, "label"), list, json_array_size(points)};
    }
    chart_roofline(out, text(in, "id"), roof, json_array_size(roofs), path, json_array_size(paths));
}

static void draw_nodes(const json_t *in, struct arena *a, struct str *out)
{
    const json_t *list = json_object_get(in, "nodes");
    size_t n = json_array_size(list);
    struct chart_node *nodes = arena_array(a, struct chart_node, n + 1);

    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(list, i);
        nodes[i] = (struct chart_node){.parent = (int)json_int(x, "parent", -1),
                                       .round = (int)json_int(x, "round", 0),
                                       .name = text(x, "name"),
                                       .verdict = text(x, "verdict"),
                                       .reason = text(x, "reason"),
                                       .plan = text(x, "plan"),
                                       .words = text(x, "words"),
                                       .score = json_num(x, "score"),
                                       .gain = json_num(x, "gain"),
                                       .in_lineage = json_flag(x, "in_lineage", false)};
    }
    if (str_eq(text(in, "chart"), "tree"))
        chart_tree(out, text(in, "id"), nodes, n, (int)json_int(in, "best", 0), text(in, "row"));
    else
        chart_progress(out, text(in, "id"), nodes, n);
}

/* The bytes come as hexadecimal digits, since they need not be text. */
static void draw_code(const json_t *in, struct arena *a, struct str *out)
{
    const char *hex = text(in, "hex");
    char *bytes = arena_zalloc(a, strlen(hex) / 2 + 1), *kinds;
    const struct diff_line *lines;
    size_t n;

    for (size_t i = 0; hex[2 * i]; i++)
        bytes[i] = (char)strtoul((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    kinds = highlight_kinds(a, bytes);
    n = diff_lines(a, bytes, &lines);
    str_add(out, "<div>");
    for (size_t i = 0; i < n; i++) {
        str_add(out, "<code>");
        highlight_line(out, lines[i].text, kinds + (lines[i].text - bytes), lines[i].len);
        str_add(out, "</code>\n");
    }
    str_add(out, "</div>\n");
}

int main(void)
{
    struct arena *a = arena_open();
    struct str in = {0}, out = {0};
    struct err err = {0};
    json_t *j;
    char piece[4096];
    size_t got;

    while ((got = fread(piece, 1, sizeof(piece), stdin)) > 0)
        str_addn(&in, piece, got);
    j = json_parse(str_text(&in), in.len, "standard input", &err);
    if (!j) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (json_object_get(j, "rows"))
        draw_rows(j, a, &out);
    else if (json_object_get(j, "paths"))
        draw_roofline(j, a, &out);
    else if (json_object_get(j, "nodes"))
        draw_nodes(j, a, &out);
    else
        draw_code(j, a, &out);
    fputs(str_text(&out), stdout);
    json_decref(j);
    str_free(&in);
    str_free(&out);
    arena_close(a);
    return 0;
}
