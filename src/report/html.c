#include "report/html.h"

void html_textn(struct str *out, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        const unsigned char *p = (const unsigned char *)text + i;
        size_t whole = utf8_read(text + i, len - i, NULL);
        n = MAX(whole, (size_t)1);
        if (*p == '<')
            str_add(out, "&lt;");
        else if (*p == '>')
            str_add(out, "&gt;");
        else if (*p == '&')
            str_add(out, "&amp;");
        else if (*p == '"')
            str_add(out, "&quot;");
        else if (*p == '\'')
            str_add(out, "&#39;");
        else if (!whole || (*p < ' ' && *p != '\t' && *p != '\n' && *p != '\r') || *p == 0x7f)
            str_add(out, "\xef\xbf\xbd");
        else
            str_addn(out, (const char *)p, n);
    }
}

void html_text(struct str *out, const char *text)
{
    html_textn(out, text, strlen(text));
}

const char *html_escaped(struct arena *a, const char *text)
{
    struct str s = {.arena = a};

    html_text(&s, text);
    return str_take(&s, a);
}

/* One conversion other than %s, printed by the C library. */
static void add_number(struct str *out, const char *spec, char kind, int longs, bool size, va_list *ap)
{
    switch (kind) {
    case 'd':
    case 'u':
    case 'c':
        if (size)
            str_addf(out, spec, va_arg(*ap, size_t));
        else if (longs == 2)
            str_addf(out, spec, va_arg(*ap, long long));
        else if (longs == 1)
            str_addf(out, spec, va_arg(*ap, long));
        else
            str_addf(out, spec, va_arg(*ap, int));
        return;
    case 'f':
    case 'g':
    case 'e':
        str_addf(out, spec, va_arg(*ap, double));
        return;
    }
    BUG("html_addf does not know %s", spec);
}

void html_addf(struct str *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    while (*fmt) {
        size_t plain = strcspn(fmt, "%");
        char spec[16];
        int longs = 0;
        bool size = false;
        str_addn(out, fmt, plain);
        fmt += plain;
        if (!*fmt)
            break;
        size_t n = 1 + strspn(fmt + 1, "-+ #0123456789.lz");
        if (n + 2 > sizeof(spec))
            BUG("html_addf: a long conversion in \"%s\"", fmt);
        memcpy(spec, fmt, n + 1);
        spec[n + 1] = 0;
        for (size_t i = 1; i < n; i++) {
            longs += spec[i] == 'l';
            size = size || spec[i] == 'z';
        }
        if (spec[n] == '%')
            str_addc(out, '%');
        else if (spec[n] == 's')
            html_text(out, va_arg(ap, const char *));
        else
            add_number(out, spec, spec[n], longs, size, &ap);
        fmt += n + 1;
    }
    va_end(ap);
}
