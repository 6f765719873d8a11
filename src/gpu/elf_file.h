/* Sections and symbols of a 64-bit ELF file, and bytes taken from it. Every read is bounds-checked; the file
 * may be any bytes. */
#ifndef GPU_ELF_FILE_H
#define GPU_ELF_FILE_H

#include <elf.h>

#include "gpu.h"

struct bytes {
    const uint8_t *p, *end;
    bool bad; /* something was read beyond the end */
};

static inline uint64_t take(struct bytes *b, size_t size)
{
    uint64_t v = 0;
    if ((size_t)(b->end - b->p) < size) {
        b->bad = true;
        b->p = b->end;
        return 0;
    }
    memcpy(&v, b->p, size); /* little endian on both sides */
    b->p += size;
    return v;
}

static inline const char *take_text(struct bytes *b)
{
    const uint8_t *zero = memchr(b->p, 0, (size_t)(b->end - b->p));
    const char *s = (const char *)b->p;
    if (!zero) {
        b->bad = true;
        b->p = b->end;
        return "";
    }
    b->p = zero + 1;
    return s;
}

static inline void skip(struct bytes *b, uint64_t size)
{
    if ((uint64_t)(b->end - b->p) < size) {
        b->bad = true;
        b->p = b->end;
    } else {
        b->p += size;
    }
}

struct elf {
    const uint8_t *data;
    size_t len;
    Elf64_Ehdr head;
    struct bytes names; /* section names */
};

static inline bool section(const struct elf *e, size_t i, Elf64_Shdr *s)
{
    if (i >= e->head.e_shnum)
        return false;
    memcpy(s, e->data + e->head.e_shoff + i * sizeof(*s), sizeof(*s));
    return s->sh_type == SHT_NOBITS || (s->sh_offset <= e->len && s->sh_size <= e->len - s->sh_offset);
}

static inline const char *text_at(struct bytes b, uint64_t offset)
{
    skip(&b, offset);
    return take_text(&b);
}

static inline struct bytes contents(const struct elf *e, const Elf64_Shdr *s)
{
    return (struct bytes){e->data + s->sh_offset, e->data + s->sh_offset + s->sh_size, false};
}

static inline bool elf_read(struct elf *e, const void *data, size_t len)
{
    Elf64_Shdr s;
    *e = (struct elf){.data = data, .len = len};
    if (len < sizeof(e->head))
        return false;
    memcpy(&e->head, data, sizeof(e->head));
    if (memcmp(e->head.e_ident, ELFMAG, SELFMAG) || e->head.e_ident[EI_CLASS] != ELFCLASS64 ||
        e->head.e_shentsize != sizeof(Elf64_Shdr) || e->head.e_shoff > len ||
        (len - e->head.e_shoff) / sizeof(Elf64_Shdr) < e->head.e_shnum || !section(e, e->head.e_shstrndx, &s) ||
        s.sh_type == SHT_NOBITS)
        return false;
    e->names = contents(e, &s);
    return true;
}

static inline int find_section(const struct elf *e, const char *prefix, const char *name, Elf64_Shdr *s)
{
    size_t n = strlen(prefix);
    for (size_t i = 1; i < e->head.e_shnum; i++) {
        if (!section(e, i, s) || s->sh_type == SHT_NOBITS)
            continue;
        const char *is = text_at(e->names, s->sh_name);
        if (!strncmp(is, prefix, n) && !strcmp(is + n, name))
            return (int)i;
    }
    return -1;
}

static inline bool symbol(const struct elf *e, const Elf64_Shdr *table, uint64_t i, Elf64_Sym *sym)
{
    if (table->sh_type != SHT_SYMTAB || i >= table->sh_size / sizeof(*sym))
        return false;
    memcpy(sym, e->data + table->sh_offset + i * sizeof(*sym), sizeof(*sym));
    return true;
}

#endif
