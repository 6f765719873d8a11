/* Text of anybody's made fit for a terminal: UTF-8 to characters, and the columns they take. */
#include "tui/internal.h"

enum { REPLACEMENT = 0xfffd };

struct range {
    uint32_t first, last;
};

/* Combining marks of the scripts that names are written in: no column of their own. */
static const struct range no_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
};

/* East Asian wide and fullwidth characters, and emoji. */
static const struct range two_columns[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26d4, 0x26d4},   {0x2705, 0x2705},
    {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2757, 0x2757},
    {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
    {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

static bool within(const struct range *r, size_t n, uint32_t c)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > r[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && c >= r[low].first;
}

int glyph_width(uint32_t c)
{
    if (utf8_hidden(c))
        return -1;
    if (within(no_width, ARRAY_LEN(no_width), c))
        return 0;
    return within(two_columns, ARRAY_LEN(two_columns), c) ? 2 : 1;
}

uint32_t glyph_next(const char **text)
{
    uint32_t c = REPLACEMENT;
    size_t len = utf8_read(*text, strnlen(*text, 4), &c);

    *text += MAX(len, (size_t)1);
    return c;
}

void tui_clean(struct str *to, const char *text)
{
    while (*text) {
        uint32_t c = glyph_next(&text);
        if (c == '\n' || c == '\t' || !utf8_hidden(c))
            utf8_add(to, c);
    }
}
