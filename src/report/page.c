/* The page's frame: share/report/page.html with its slots filled. */
#include "report/page.h"

#include "report/words.h"

/* Base64 of the SHA-256 of a text, as a content security policy names a script that may run. */
static void add_hash(struct str *out, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[65];
    unsigned char raw[33] = {0}; /* one more, so that its last group has three */

    hash_sha256_hex(text, strlen(text), hex);
    for (int i = 0; i < 32; i++)
        raw[i] = (unsigned char)strtoul((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    for (int i = 0; i < 33; i += 3) {
        unsigned v = (unsigned)raw[i] << 16 | (unsigned)raw[i + 1] << 8 | raw[i + 2];
        for (int k = 18; k >= 0; k -= 6)
            str_addc(out, digits[v >> k & 63]);
    }
    out->s[out->len - 1] = '='; /* of what was added */
}

static void add_navigation(const char *body, struct str *out)
{
    static const char start[] = "<section id=\"", heading[] = "<h2";
    const char *at = body;

    /* Every section begins with its id and holds one h2, which is plain text. */
    while ((at = strstr(at, start))) {
        const char *id = at + strlen(start), *h = strchr(strstr(id, heading), '>') + 1;
        str_addf(out, "<li><a href=\"#%.*s\">%.*s</a></li>\n", (int)strcspn(id, "\""), id, (int)strcspn(h, "<"),
                 h);
        at = h;
    }
}

/* Code is in one column where that was chosen, and on a phone. */
static const char *style(struct arena *a)
{
    const struct fill_slot chosen = {"when", "section:has(#unified:checked) "}, always = {"when", ""};

    return arena_printf(a, "%s%s%s%s\n@media (max-width: 44rem) {\n%s\n}\n", share_text("report/chart.css"),
                        share_text("report/code.css"), share_text("report/page.css"),
                        fill_share(a, "report/unified.css", &chosen, 1),
                        fill_share(a, "report/unified.css", &always, 1));
}

void page_section(struct str *out, const char *id, const char *title)
{
    html_addf(out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n", id, id, id,
              title);
}

void page_term(struct str *out, const char *name, const char *value)
{
    if (value && *value)
        html_addf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

void page_frame(const char *title, const char *astra, const char *body, struct arena *a, struct str *out)
{
    const char *script = share_text("report/page.js");
    struct str hash = {.arena = a}, navigation = {.arena = a};

    add_hash(&hash, script);
    add_navigation(body, &navigation);
    const struct fill_slot slots[] = {
        {"script_hash", str_text(&hash)},
        {"script", script},
        {"style", style(a)},
        {"task", html_escaped(a, title)},
        {"astra", html_escaped(a, astra)},
        {"navigation", str_text(&navigation)},
        {"body", body},
    };
    str_addf(out, "%s\n", fill_share(a, "report/page.html", slots, ARRAY_LEN(slots)));
}

void report_page(const struct view *v, struct arena *a, struct str *out)
{
    struct str body = {.arena = a};

    page_verdict(v, a, &body);
    page_speed(v, a, &body);
    page_roofline(v, a, &body);
    page_search(v, a, &body);
    page_code(v, a, &body);
    page_verified(v, a, &body);
    page_calls(v, a, &body);
    page_repeat(v, a, &body);
    page_frame(v->run.task_name, v->run.astra, str_text(&body), a, out);
}
