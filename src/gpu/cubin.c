/* SASS instructions per source line out of a CUBIN, without a disassembler: on sm_70 and later each instruction
 * is 16 bytes, and .debug_line maps addresses to lines. Every read is bounds-checked; the input may be any
 * bytes. */
#include "elf_file.h"

enum {
    INSN_BYTES = 16,
    MAX_LINE = 1 << 16,
    SASS_NOP = 0x918, /* the opcode is an instruction's lowest 12 bits */
    SASS_LDL =
        0x983, /* found by holding nvcc's CUBINs to what ptxas says that they spill: the bytes are the same */
    SASS_STL = 0x387,
    SASS_BRA = 0x947,
    SASS_CALL = 0x944,
};

static uint64_t take_uleb(struct bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take(b, 1);
        if (shift < 64)
            v |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

static int64_t take_sleb(struct bytes *b)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take(b, 1);
        if (shift < 64)
            v |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if ((byte & 0x40) && shift + 7 < 64)
            v |= ~0ull << (shift + 7);
        return (int64_t)v;
    }
}

/* ---- the line table ---- */

struct row {
    uint64_t addr;
    uint32_t line, file, context; /* context: 1-based row of the call that inlined this code, 0: none */
};

struct table {
    const char *want; /* base name of the file, NULL: any */
    uint8_t *wanted;  /* by file number */
    size_t n_wanted;
    VEC(struct row) rows;
    const uint8_t *text;
    uint64_t text_bytes;
    uint8_t *is_code; /* by instruction: counts at all */
    uint8_t *is_rare; /* by instruction: of a routine that a warp seldom calls */
    int *line;        /* by instruction; 0: none */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The innermost line in the wanted file: of code inlined from a header, the call's. */
static uint32_t row_line(const struct table *t, size_t i)
{
    for (size_t guard = 0; guard < 64 && i < t->rows.n; guard++) {
        const struct row *r = &t->rows.v[i];
        if (r->file < t->n_wanted && t->wanted[r->file])
            return r->line < MAX_LINE ? r->line : 0;
        if (r->context == 0)
            break;
        i = r->context - 1;
    }
    return 0;
}

static void sequence_end(struct table *t, uint64_t end)
{
    for (size_t i = 0; i < t->rows.n; i++) {
        uint64_t from = t->rows.v[i].addr, to = i + 1 < t->rows.n ? t->rows.v[i + 1].addr : end;
        uint32_t line = row_line(t, i);
        to = MIN(to, t->text_bytes);
        for (uint64_t at = from / INSN_BYTES; from < to && at * INSN_BYTES < to; at++)
            t->line[at] = (int)line;
    }
    vec_clear(&t->rows);
}

static void file_add(struct table *t, const char *path)
{
    if (t->n_wanted < 4096)
        t->wanted[t->n_wanted++] = !t->want || str_eq(base_name(path), t->want);
}

static const char *form_text(struct bytes *b, uint64_t form, struct bytes str, struct bytes line_str,
                             size_t offset_size)
{
    switch (form) {
    case 0x08:
        return take_text(b);
    case 0x0e:
        return text_at(str, take(b, offset_size));
    case 0x1f:
        return text_at(line_str, take(b, offset_size));
    case 0x0b:
        take(b, 1);
        return "";
    case 0x05:
        take(b, 2);
        return "";
    case 0x06:
        take(b, 4);
        return "";
    case 0x07:
        take(b, 8);
        return "";
    case 0x0f:
        take_uleb(b);
        return "";
    case 0x1e:
        skip(b, 16);
        return "";
    case 0x09:
        skip(b, take_uleb(b));
        return "";
    default:
        b->bad = true;
        return "";
    }
}

/* Directories, then files, as version 5 describes them; only the paths (content type 1) of files matter. */
static void tables_v5(struct table *t, struct bytes *b, struct bytes str, struct bytes line_str,
                      size_t offset_size)
{
    for (int files = 0; files < 2 && !b->bad; files++) {
        uint64_t types[16], forms[16], n_forms = take(b, 1);
        for (uint64_t i = 0; i < n_forms; i++) {
            uint64_t type = take_uleb(b), form = take_uleb(b);
            if (i < 16)
                types[i] = type, forms[i] = form;
        }
        if (n_forms > 16)
            b->bad = true;
        uint64_t n = take_uleb(b);
        if (n_forms == 0)
            continue;
        for (uint64_t k = 0; k < n && !b->bad; k++) {
            const char *path = "";
            for (uint64_t i = 0; i < n_forms; i++) {
                const char *s = form_text(b, forms[i], str, line_str, offset_size);
                path = types[i] == 1 ? s : path;
            }
            if (files)
                file_add(t, path);
        }
    }
}

static void tables_v2(struct table *t, struct bytes *b)
{
    while (!b->bad && *take_text(b))
        ;
    file_add(t, "\n"); /* files count from 1 */
    for (;;) {
        const char *path = take_text(b);
        if (b->bad || !*path)
            return;
        take_uleb(b), take_uleb(b), take_uleb(b);
        file_add(t, path);
    }
}

struct program {
    uint64_t version, min_insn, line_range, opcode_base;
    int line_base;
    uint8_t lengths[256];
};

/* ours(context, offset in .debug_line) says whether an address written there is the kernel's. */
typedef bool ours_fn(void *context, uint64_t offset);

static void run_lines(struct table *t, struct bytes *b, const struct program *g, const uint8_t *start,
                      ours_fn *ours, void *context)
{
    struct row r = {.line = 1, .file = 1};
    bool mine = false;
    while (b->p < b->end && !b->bad) {
        uint64_t op = take(b, 1);
        bool emit = false;
        if (op >= g->opcode_base) {
            op -= g->opcode_base;
            r.addr += op / g->line_range * g->min_insn;
            r.line += (uint32_t)(g->line_base + (int)(op % g->line_range));
            emit = true;
        } else if (op == 0) {
            uint64_t len = take_uleb(b);
            struct bytes x = *b;
            skip(b, len);
            x.end = b->p;
            if (len == 0)
                continue;
            op = take(&x, 1);
            if (op == 1) { /* end of sequence */
                if (mine)
                    sequence_end(t, r.addr);
                vec_clear(&t->rows);
                r = (struct row){.line = 1, .file = 1};
                mine = false;
            } else if (op == 2) {
                mine = ours(context, (uint64_t)(x.p - start));
                r.addr = take(&x, len - 1 < 8 ? (size_t)(len - 1) : 8);
            } else if (op == 0x90) { /* NVIDIA: the code that follows was inlined by that row's line */
                r.context = (uint32_t)take_uleb(&x);
            }
        } else if (op == 1) {
            emit = true;
        } else if (op == 2) {
            r.addr += take_uleb(b) * g->min_insn;
        } else if (op == 3) {
            r.line += (uint32_t)take_sleb(b);
        } else if (op == 4) {
            r.file = (uint32_t)take_uleb(b);
        } else if (op == 8) {
            r.addr += (255 - g->opcode_base) / g->line_range * g->min_insn;
        } else if (op == 9) {
            r.addr += take(b, 2);
        } else {
            for (unsigned i = 0; i < g->lengths[op]; i++)
                take_uleb(b);
        }
        if (emit)
            vec_push(&t->rows, r);
    }
}

static void read_unit(struct table *t, struct bytes *all, const uint8_t *start, struct bytes str,
                      struct bytes line_str, ours_fn *ours, void *context)
{
    size_t offset_size = 4;
    uint64_t size = take(all, 4);
    if (size == 0xffffffff) {
        offset_size = 8;
        size = take(all, 8);
    }
    struct bytes b = *all;
    skip(all, size);
    b.end = all->p;
    struct program g = {.version = take(&b, 2)};
    if (g.version < 2 || g.version > 5)
        return;
    if (g.version >= 5)
        take(&b, 2); /* sizes of addresses and segment selectors */
    uint64_t header = take(&b, offset_size);
    struct bytes code = b;
    skip(&code, header);
    b.end = code.p;
    g.min_insn = take(&b, 1);
    if (g.version >= 4)
        take(&b, 1); /* operations an instruction */
    take(&b, 1);
    g.line_base = (int8_t)take(&b, 1);
    g.line_range = take(&b, 1);
    g.opcode_base = take(&b, 1);
    for (uint64_t i = 1; i < g.opcode_base; i++)
        g.lengths[i] = (uint8_t)take(&b, 1);
    if (b.bad || code.bad || g.line_range == 0 || g.opcode_base == 0)
        return;
    t->n_wanted = 0;
    if (g.version >= 5)
        tables_v5(t, &b, str, line_str, offset_size);
    else
        tables_v2(t, &b);
    run_lines(t, &code, &g, start, ours, context);
    vec_clear(&t->rows);
}

/* ---- together ---- */

struct relocated { /* which addresses of .debug_line belong to the kernel's section */
    const struct elf *elf;
    Elf64_Shdr relocs, symbols;
    bool has_relocs;
    int text;
};

static bool is_ours(void *context, uint64_t offset)
{
    struct relocated *r = context;
    if (!r->has_relocs)
        return true; /* one kernel, already linked */
    size_t entry = r->relocs.sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (uint64_t i = 0; i < r->relocs.sh_size / entry; i++) {
        Elf64_Rel rel;
        Elf64_Sym sym;
        memcpy(&rel, r->elf->data + r->relocs.sh_offset + i * entry, sizeof(rel));
        if (rel.r_offset == offset)
            return symbol(r->elf, &r->symbols, ELF64_R_SYM(rel.r_info), &sym) && sym.st_shndx == r->text;
    }
    return false;
}

static unsigned opcode_of(const uint8_t *insn)
{
    return (unsigned)(insn[0] | insn[1] << 8) & 0xfff;
}

/* Padding is no work, nor are the compiler's own routines, which stand behind the kernel's code under the
 * kernel's last line: they run for denormals and huge divisors only, but for divisions of long integers. */
static void mark_code(struct table *t, const struct elf *e, const struct relocated *r, struct arena *a)
{
    size_t n = t->text_bytes / INSN_BYTES;
    t->is_code = arena_alloc(a, n + 1);
    t->is_rare = arena_zalloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        t->is_code[i] = opcode_of(t->text + i * INSN_BYTES) != SASS_NOP;
    Elf64_Sym sym;
    Elf64_Shdr names;
    if (!section(e, r->symbols.sh_link, &names) || names.sh_type == SHT_NOBITS)
        return;
    for (uint64_t i = 0; symbol(e, &r->symbols, i, &sym); i++) {
        const char *name = text_at(contents(e, &names), sym.st_name);
        if (sym.st_shndx != r->text || !strstr(name, "__internal_"))
            continue;
        bool is_rare = !strstr(name, "_s64") && !strstr(name, "_u64");
        for (uint64_t at = sym.st_value / INSN_BYTES; at < n && at * INSN_BYTES - sym.st_value < sym.st_size;
             at++) {
            t->is_code[at] = 0;
            t->is_rare[at] = is_rare;
        }
    }
}

/* Which line each instruction of the kernel comes from, and which instructions count. */
static bool read_table(struct table *t, struct arena *a, const void *cubin, size_t len, const char *mangled,
                       const char *file, struct err *err)
{
    struct elf e;
    Elf64_Shdr text, debug, s;
    if (!elf_read(&e, cubin, len))
        return err_world(err, "the CUBIN is no 64-bit ELF file");
    struct relocated r = {.elf = &e, .text = find_section(&e, ".text.", mangled, &text)};
    if (r.text < 0)
        return err_world(err, "the CUBIN has no code of %s", mangled);
    if (find_section(&e, ".debug_line", "", &debug) < 0)
        return err_world(err, "the CUBIN has no line information");
    r.has_relocs = find_section(&e, ".rela", ".debug_line", &r.relocs) >= 0 ||
                   find_section(&e, ".rel", ".debug_line", &r.relocs) >= 0;
    if (find_section(&e, ".symtab", "", &r.symbols) < 0)
        r.symbols = (Elf64_Shdr){0};
    struct bytes str = {e.data, e.data, false}, line_str = str, all = contents(&e, &debug);
    if (find_section(&e, ".debug_str", "", &s) >= 0)
        str = contents(&e, &s);
    if (find_section(&e, ".debug_line_str", "", &s) >= 0)
        line_str = contents(&e, &s);

    *t = (struct table){.want = file ? base_name(file) : NULL,
                        .text = e.data + text.sh_offset,
                        .text_bytes = text.sh_size / INSN_BYTES * INSN_BYTES};
    t->wanted = mem_alloc(4096);
    t->line = arena_array(a, int, t->text_bytes / INSN_BYTES + 1);
    mark_code(t, &e, &r, a);
    const uint8_t *start = all.p;
    while (all.p < all.end && !all.bad)
        read_unit(t, &all, start, str, line_str, is_ours, &r);
    vec_free(&t->rows);
    free(t->wanted);
    return true;
}

static void count_insn(struct ptx_sass_line *l, const uint8_t *insn)
{
    static const int words_of[8] = {1, 1, 1, 1, 1, 2, 4, 0}; /* by the access's type, bits 73 to 75 */
    unsigned opcode = opcode_of(insn);
    int bytes = 4 * words_of[insn[9] >> 1 & 7];

    l->count++;
    l->local_loaded += opcode == SASS_LDL ? bytes : 0;
    l->local_stored += opcode == SASS_STL ? bytes : 0;
}

/* A branch's or a call's distance, in words, is in bits 16 to 23 and from 34 on. */
static int target(uint64_t low, uint64_t high, size_t at, size_t n)
{
    int64_t words = (int64_t)((low >> 34 | (high & 0x3ffff) << 30) << 16) >> 16;
    int64_t to = (int64_t)at + 1 + (words * 256 + (int64_t)(low >> 16 & 255)) * 4 / INSN_BYTES;

    return to >= 0 && to < (int64_t)n ? (int)to : -1;
}

/* The compiler writes its schedule into each instruction: bits 105 to 108 the clocks until the next one starts,
 * 110 and 113 the counters that it raises until its result or its operands are done with, 116 to 121 the
 * counters that it waits for. A branch with bit 91 is taken by lanes that come apart (BRA.DIV). */
static struct ptx_machine machine_insn(const uint8_t *insn, size_t at, size_t n)
{
    uint64_t low, high;

    memcpy(&low, insn, 8);
    memcpy(&high, insn + 8, 8);
    struct ptx_machine m = {.jump = -1,
                            .opcode = (uint16_t)(low & 0xfff),
                            .stall = (uint8_t)(high >> 41 & 15),
                            .sets = (uint8_t)(high >> 46 & 7),
                            .frees = (uint8_t)(high >> 49 & 7),
                            .waits = (uint8_t)(high >> 52 & 63),
                            .always = (low >> 12 & 15) == 7 && (high >> 23 & 15) == 7};
    if (m.opcode == SASS_BRA)
        m.jump = target(low, high, at, n);
    return m;
}

static bool is_divergent_branch(const uint8_t *insn)
{
    return opcode_of(insn) == SASS_BRA && insn[11] >> 3 & 1;
}

/* What lanes run that have come apart, another copy of exchanges between them, stands behind the rest: no work
 * of a warp that is together. */
static void leave_out_divergent(struct ptx_machine *code, const struct table *t, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        if (!is_divergent_branch(t->text + at * INSN_BYTES))
            continue;
        for (size_t k = code[at].jump > (int)at ? (size_t)code[at].jump : n; k < n; k++) {
            code[k].line = -1;
            if (code[k].jump >= 0 && code[k].always)
                break;
        }
        code[at].jump = -1;
    }
}

/* Nor is what a branch leaves out that calls a routine for rare cases. */
static void leave_out_rare(struct ptx_machine *code, const struct table *t, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        uint64_t half[2];
        memcpy(half, t->text + at * INSN_BYTES, sizeof(half));
        int to = code[at].opcode == SASS_CALL ? target(half[0], half[1], at, n) : -1;
        size_t before = at;
        while (before > 0 && code[before].jump < 0)
            before--;
        if (to < 0 || !t->is_rare[to] || code[before].jump <= (int)at)
            continue;
        for (size_t k = before + 1; k < (size_t)code[before].jump; k++)
            code[k].line = -1;
    }
}

static const struct ptx_machine *machine_code(const struct table *t, struct arena *a)
{
    size_t n = t->text_bytes / INSN_BYTES;
    struct ptx_machine *code = arena_array(a, struct ptx_machine, n + 1);

    for (size_t at = 0; at < n; at++) {
        code[at] = machine_insn(t->text + at * INSN_BYTES, at, n);
        code[at].line = t->is_code[at] ? t->line[at] : -1;
    }
    leave_out_divergent(code, t, n);
    leave_out_rare(code, t, n);
    return code;
}

bool cubin_lines(struct arena *a, const void *cubin, size_t len, const char *mangled, const char *file,
                 struct cubin_lines *to, struct err *err)
{
    struct table t;
    if (!read_table(&t, a, cubin, len, mangled, file, err))
        return false;
    struct ptx_sass_line *all = mem_zalloc(MAX_LINE * sizeof(*all));
    size_t found = 0;
    for (uint64_t at = 0; at < t.text_bytes / INSN_BYTES; at++)
        if (t.is_code[at] && t.line[at]) {
            found += all[t.line[at]].count == 0;
            count_insn(&all[t.line[at]], t.text + at * INSN_BYTES);
        }
    struct ptx_sass_line *out = arena_array(a, struct ptx_sass_line, found + 1);
    *to = (struct cubin_lines){
        .lines = out, .code = machine_code(&t, a), .line_of = t.line, .n_insns = t.text_bytes / INSN_BYTES};
    for (int i = 1; i < MAX_LINE; i++) {
        all[i].line = i;
        if (all[i].count)
            out[to->n_lines++] = all[i];
    }
    free(all);
    return found ||
           err_world(err, "the CUBIN's line information names no line of %s", file ? file : "any file");
}
