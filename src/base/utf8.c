#include "utf8.h"

size_t utf8_read(const char *s, size_t left, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)s;
    size_t len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    uint32_t v = len > 1 ? *p & (0x7fu >> len) : *p;

    if (len == 0 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3f);
    }
    if (len > 1 && (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000)))
        return 0;
    if (c)
        *c = v;
    return len;
}

void utf8_add(struct str *to, uint32_t c)
{
    if (c < 0x80) {
        str_addc(to, (char)c);
        return;
    }
    if (c >= 0x10000) {
        str_addc(to, (char)(0xf0 | c >> 18));
        str_addc(to, (char)(0x80 | (c >> 12 & 0x3f)));
    } else if (c >= 0x800) {
        str_addc(to, (char)(0xe0 | c >> 12));
    }
    if (c >= 0x800)
        str_addc(to, (char)(0x80 | (c >> 6 & 0x3f)));
    else
        str_addc(to, (char)(0xc0 | c >> 6));
    str_addc(to, (char)(0x80 | (c & 0x3f)));
}

size_t utf8_cut(const char *s, size_t most)
{
    while (most > 0 && ((unsigned char)s[most] & 0xc0) == 0x80)
        most--;
    return most;
}
