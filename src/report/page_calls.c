/* The conversations with models, and what they cost. */
#include "report/page.h"

enum { MOST_TEXT = 60000 }; /* of one message: what is longer is cut, and said to be */

static void add_usd(struct str *out, double usd)
{
    if (isfinite(usd))
        str_addf(out, "%.4f USD", usd);
    else
        str_add(out, "price unknown");
}

static void add_roles(const struct view *v, struct arena *a, struct str *out)
{
    const json_t *cost = json_object_get(v->result, "cost"), *roles = json_object_get(cost, "by_role");
    struct table *t = table_new(a, "Cost by role");
    const char *role;
    json_t *o;

    table_columns(t, "role|model|calls#|tokens in#|tokens out#|cost#USD");
    json_object_foreach((json_t *)roles, role, o)
    {
        table_row(t, role);
        table_text(t, json_text(o, "model", NULL));
        table_int(t, json_int(o, "calls", 0));
        table_int(t, json_int(o, "tokens_in", 0));
        table_int(t, json_int(o, "tokens_out", 0));
        table_num(t, json_num(o, "usd"), 4, "");
    }
    table_as_html(t, out);
    if (json_flag(cost, "tokens_estimated", false))
        str_add(out, "<p>Some token counts are estimates: their provider did not report them.</p>\n");
}

/* A text that an earlier call has shown is named, not repeated: prompts of a conversation begin with all that
 * went before. */
static void add_message(const struct view_message *m, int call, struct map *shown, struct str *out)
{
    char hex[65];
    const char *unless_model = str_eq(m->from, "system") ? "System" : "Astra";
    void *before;
    size_t len = strlen(m->text), most = utf8_cut(m->text, MIN(len, MOST_TEXT));

    if (len == 0)
        return;
    hash_sha256_hex(m->text, len, hex);
    before = map_get(shown, hex);
    html_addf(out, "<h3>%s</h3>\n", str_eq(m->from, "model") ? "The model" : unless_model);
    if (before && (intptr_t)before != call) {
        str_addf(out, "<p>The same as in <a href=\"#call-%d\">call %d</a>.</p>\n", (int)(intptr_t)before,
                 (int)(intptr_t)before);
        return;
    }
    map_put(shown, hex, (void *)(intptr_t)call);
    str_add(out, "<pre tabindex=\"0\">");
    html_textn(out, m->text, most);
    str_add(out, "</pre>\n");
    if (most < len)
        str_addf(out, "<p>%zu more characters: <code>astra show RUN --prompt %d</code> prints all.</p>\n",
                 len - most, call);
}

void page_calls(const struct view *v, struct arena *a, struct str *out)
{
    struct map shown = {0};

    page_section(out, "calls", "Conversations");
    if (v->n_calls == 0) {
        str_add(out, "<p>No model was called: the built-in rules did all of it, at no cost.</p>\n</section>\n");
        return;
    }
    if (v->result)
        add_roles(v, a, out);
    for (size_t i = 0; i < v->n_calls; i++) {
        const struct view_call *c = &v->calls[i];
        html_addf(
            out,
            "<details class=\"call\" id=\"call-%d\">\n<summary><span class=\"id\">%d</span> <span class=\"name\">%s</span> "
            "<span class=\"note\">%lld tokens in, %lld out, %.1f s, ",
            c->row.id, c->row.id, c->row.label, (long long)c->row.tokens_in, (long long)c->row.tokens_out,
            c->row.wall_s);
        add_usd(out, c->row.usd);
        html_addf(out, "</span></summary>\n<p>%s, %s: %s.", c->row.provider, c->row.model, c->end);
        if (c->fate.strategy)
            html_addf(out, " Strategy \xe2\x80\x9c%s\xe2\x80\x9d: %s.", c->fate.strategy->name,
                      c->fate.outcome);
        if (c->fate.candidate > 0)
            str_addf(out, " It made <a href=\"#candidate-%d\">candidate %d</a>.", c->fate.candidate,
                     c->fate.candidate);
        str_add(out, "</p>\n");
        for (size_t k = 0; k < c->n_messages; k++)
            add_message(&c->messages[k], c->row.id, &shown, out);
        str_add(out, "</details>\n");
    }
    map_free(&shown);
    str_add(out, "</section>\n");
}
