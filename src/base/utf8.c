#include "utf8.h"

size_t utf8_read(const char *s, size_t left, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint8_t lengths[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                      0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 4, 0};
    const unsigned char *p = (const unsigned char *)s;
    size_t len = lengths[*p >> 3];
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

/* Beside the controls: Unicode's Default_Ignorable_Code_Point, the separators of lines and paragraphs, and the
 * marks of annotations. Selectors of variants are among them, also the one behind an emoji: any text can be
 * written in them, and what they choose from looks alike without. */
bool utf8_hidden(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001f}, {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
        {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
        {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && c >= ranges[i].first; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

size_t utf8_cut(const char *s, size_t most)
{
    while (most > 0 && ((unsigned char)s[most] & 0xc0) == 0x80)
        most--;
    return most;
}
