#include "test.h"

#include <elf.h>

#include "gpu/gpu.h"

/* A CUBIN made by hand: two kernels of 16-byte instructions and one line table whose sequences are relocated to
 * them. */

static void put(struct str *b, uint64_t v, size_t size)
{
    for (size_t k = 0; k < size; k++)
        str_addc(b, (char)(v >> 8 * k));
}

static void put_uleb(struct str *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        str_addc(b, (char)(v | 0x80));
    str_addc(b, (char)v);
}

static void put_text(struct str *b, const char *s)
{
    str_addn(b, s, strlen(s) + 1);
}

static void line_set(struct str *b, uint64_t *reloc)
{
    put(b, 0, 1);
    put_uleb(b, 9);
    put(b, 2, 1);
    *reloc = b->len;
    put(b, 0, 8);
}

static void line_row(struct str *b, int advance, unsigned file, unsigned context, unsigned pc_advance)
{
    put(b, 2, 1);
    put_uleb(b, pc_advance);
    put(b, 4, 1);
    put_uleb(b, file);
    put(b, 0, 1); /* inlined call */
    put_uleb(b, context >= 0x80 ? 4 : 3);
    put(b, 0x90, 1);
    put_uleb(b, context);
    put(b, 0, 1);
    put(b, 3, 1);
    put(b, (unsigned)advance & 0x7f, 1); /* fits -64..63 */
    put(b, 1, 1);
}

static void line_end(struct str *b, unsigned pc_advance)
{
    put(b, 2, 1);
    put_uleb(b, pc_advance);
    put(b, 0, 1);
    put_uleb(b, 1);
    put(b, 1, 1);
}

/* File 1 is kernel.cu, file 2 cuda_fp16.hpp. */
static void line_header(struct str *b, int version)
{
    struct str h = {0};
    put(&h, 1, 1);
    if (version >= 4)
        put(&h, 1, 1);
    put(&h, 1, 1);
    put(&h, (unsigned)-5 & 0xff, 1);
    put(&h, 14, 1);
    put(&h, 10, 1);
    static const char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
    str_addn(&h, lengths, sizeof(lengths));
    if (version < 5) {
        put_text(&h, "/home/me");
        put(&h, 0, 1);
        put_text(&h, "kernel.cu");
        put(&h, 0, 3);
        put_text(&h, "cuda_fp16.hpp");
        put(&h, 0, 3);
        put(&h, 0, 1);
    } else {
        static const char format[] = {1, 1, 8}; /* one form: path, inline text */
        str_addn(&h, format, 3);
        put_uleb(&h, 1);
        put_text(&h, "/home/me");
        str_addn(&h, format, 3);
        put_uleb(&h, 3);
        put_text(&h, "other.cu");
        put_text(&h, "/home/me/kernel.cu");
        put_text(&h, "cuda_fp16.hpp");
    }
    put(b, (unsigned)version, 2);
    if (version >= 5)
        put(b, 0x0008, 2);
    put(b, h.len, 4);
    str_addn(b, h.s, h.len);
    str_free(&h);
}

enum { TEXT_A = 10, TEXT_B = 4 }; /* instructions */

static void make(struct str *out, int version)
{
    struct str line = {0}, unit = {0}, names = {0}, strtab = {0}, symtab = {0}, rela = {0}, text_a = {0},
               text_b = {0};
    uint64_t reloc_a, reloc_b;
    line_header(&unit, version);
    line_set(&unit, &reloc_a);      /* kernel a: */
    line_row(&unit, 9, 1, 0, 0);    /* row 1, line 10, 2 instructions */
    line_row(&unit, 1, 1, 0, 32);   /* row 2, line 11, 1 */
    line_row(&unit, 60, 2, 2, 16);  /* row 3, header line 71 inlined by line 11, 3 */
    line_row(&unit, -57, 1, 1, 48); /* row 4, line 14, a function inlined by line 10, 2; last 2 are padding */
    line_end(&unit, 64);
    line_set(&unit, &reloc_b); /* kernel b: line 20, 4 */
    line_row(&unit, 19, 1, 0, 0);
    line_end(&unit, TEXT_B * 16);
    put(&line, unit.len, 4);
    str_addn(&line, unit.s, unit.len);

    for (int k = 0; k < TEXT_A; k++) { /* 2: BRA.DIV to 6; 7: BRA to 4 */
        static const uint64_t branches[8] = {[2] = 0x7947 | 12 << 16, [7] = 0x7947 | 0xf0 << 16 | ~0ull << 34};
        static const uint64_t more[8] = {[2] = 1 << 27 | 7 << 23, [7] = 0x3ffff | 7 << 23};
        uint64_t low = k >= 8 ? 0x7918 : 0x7221;
        put(&text_a, k < 8 && branches[k] ? branches[k] : low, 8);
        put(&text_a, k < 8 ? more[k] : 0, 8);
    }
    for (int k = 0; k < TEXT_B - 1; k++) {
        put(&text_b, 0x7221, 8);
        put(&text_b, (uint64_t)(4 | 3 << 5 | 7 << 8 | 5 << 11) << 41,
            8); /* stalls 4, sets 3, waits for 0 and 2 */
    }
    uint64_t words = (uint64_t)-12; /* to the second instruction, if the predicate does not hold */
    put(&text_b, 0x8947 | (words & 255) << 16 | (words >> 8) << 34, 8);
    put(&text_b, (words >> 38 & 0x3ffff) | 7 << 23, 8);
    const char *const section_names[] = {
        "", ".shstrtab", ".strtab", ".symtab", ".debug_line", ".rela.debug_line", ".text.a", ".text.b"};
    uint32_t name_at[8];
    for (int k = 0; k < 8; k++) {
        name_at[k] = (uint32_t)names.len;
        put_text(&names, section_names[k]);
    }
    put(&strtab, 0, 1);
    put_text(&strtab, "a"); /* at 1 */
    put_text(&strtab, "b"); /* at 3 */
    Elf64_Sym syms[3] = {{0}, {.st_name = 1, .st_shndx = 6}, {.st_name = 3, .st_shndx = 7}};
    str_addn(&symtab, (char *)syms, sizeof(syms));
    Elf64_Rela relas[2] = {{4 + reloc_a, ELF64_R_INFO(1, 2), 0}, {4 + reloc_b, ELF64_R_INFO(2, 2), 0}};
    str_addn(&rela, (char *)relas, sizeof(relas));

    struct str *parts[8] = {NULL, &names, &strtab, &symtab, &line, &rela, &text_a, &text_b};
    static const uint32_t types[8] = {SHT_NULL,     SHT_STRTAB, SHT_STRTAB,   SHT_SYMTAB,
                                      SHT_PROGBITS, SHT_RELA,   SHT_PROGBITS, SHT_PROGBITS};
    Elf64_Shdr heads[8] = {{0}};
    Elf64_Ehdr e = {.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 8, .e_shstrndx = 1, .e_shoff = sizeof(e)};
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    uint64_t at = sizeof(e) + sizeof(heads);
    for (int k = 1; k < 8; k++) {
        heads[k] =
            (Elf64_Shdr){.sh_name = name_at[k], .sh_type = types[k], .sh_offset = at, .sh_size = parts[k]->len};
        heads[k].sh_link = k == 3 ? 2 : 3;
        at += parts[k]->len;
    }
    str_addn(out, (char *)&e, sizeof(e));
    str_addn(out, (char *)heads, sizeof(heads));
    for (int k = 1; k < 8; k++) {
        str_addn(out, parts[k]->s, parts[k]->len);
        str_free(parts[k]);
    }
    str_free(&unit);
}

static void check_lines(const struct str *b, const char *kernel, const char *file, const int *expected,
                        size_t n_expected)
{
    struct arena *a = arena_open();
    struct cubin_lines found;
    struct err err = {0};
    assert_ok(cubin_lines(a, b->s, b->len, kernel, file, &found, &err), err);
    assert_int_equal(found.n_lines, n_expected);
    for (size_t k = 0; k < found.n_lines; k++) {
        assert_int_equal(found.lines[k].line, expected[2 * k]);
        assert_int_equal(found.lines[k].count, expected[2 * k + 1]);
    }
    arena_close(a);
}

static void test_lines(void **state)
{
    (void)state;
    for (int version = 2; version <= 5; version++) {
        struct str b = {0};
        make(&b, version);
        /* code of the header counts for the line that called it, a function of the file itself for its own */
        check_lines(&b, "a", "kernel.cu", (const int[]){10, 2, 11, 4, 14, 2}, 3);
        check_lines(&b, "a", "dir/kernel.cu", (const int[]){10, 2, 11, 4, 14, 2}, 3);
        check_lines(&b, "a", NULL, (const int[]){10, 2, 11, 1, 14, 2, 71, 3}, 4);
        check_lines(&b, "b", "kernel.cu", (const int[]){20, 4}, 1);
        str_free(&b);
    }
}

static void test_by_instruction(void **state)
{
    (void)state;
    static const int expected[TEXT_A] = {10, 10, 11, 11, 11, 11, 14, 14, 14, 14};
    struct arena *a = arena_open();
    struct str b = {0};
    struct cubin_lines found;
    struct err err = {0};
    make(&b, 5);
    assert_ok(cubin_lines(a, b.s, b.len, "a", "kernel.cu", &found, &err), err);
    assert_int_equal(found.n_insns, TEXT_A);
    for (int i = 0; i < TEXT_A; i++)
        assert_int_equal(found.line_of[i], expected[i]);
    str_free(&b);
    arena_close(a);
}

static void test_schedule(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct str b = {0};
    struct cubin_lines found;
    struct err err = {0};
    make(&b, 5);
    assert_ok(cubin_lines(a, b.s, b.len, "b", "kernel.cu", &found, &err), err);
    assert_int_equal(found.n_insns, TEXT_B);
    const struct ptx_machine *first = found.code, *last = &found.code[TEXT_B - 1];
    assert_int_equal(first->line, 20);
    assert_int_equal(first->opcode, 0x221);
    assert_int_equal(first->stall, 4);
    assert_int_equal(first->sets, 3);
    assert_int_equal(first->frees, 7);
    assert_int_equal(first->waits, 5);
    assert_int_equal(first->jump, -1);
    assert_int_equal(last->jump, 1);
    assert_false(last->always);
    assert_ok(cubin_lines(a, b.s, b.len, "a", "kernel.cu", &found, &err), err);
    assert_int_equal(found.code[TEXT_A - 1].line, -1); /* padding */
    assert_int_equal(found.code[2].jump, -1);          /* what lanes run that have come apart is none */
    assert_int_equal(found.code[5].line, 11);
    assert_int_equal(found.code[6].line, -1);
    assert_int_equal(found.code[7].line, -1);
    assert_int_equal(found.code[7].jump, 4);
    str_free(&b);
    arena_close(a);
}

static void test_absent(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct str b = {0};
    struct cubin_lines found;
    struct err err = {0};
    make(&b, 2);
    assert_false(cubin_lines(a, b.s, b.len, "c", "kernel.cu", &found, &err));
    assert_non_null(strstr(err.text, "no code of c"));
    assert_false(cubin_lines(a, b.s, b.len, "a", "missing.cu", &found, &err));
    assert_false(cubin_lines(a, "no ELF", 6, "a", "kernel.cu", &found, &err));
    assert_non_null(strstr(err.text, "ELF"));
    str_free(&b);
    arena_close(a);
}

/* Any bytes: no crash and no read outside (the sanitizers' run of the tests would tell). */
static void test_broken(void **state)
{
    (void)state;
    struct rng r = {11};
    for (int version = 2; version <= 5; version += 3) {
        struct str b = {0};
        make(&b, version);
        for (size_t cut = 0; cut < b.len; cut += 7) {
            struct arena *a = arena_open();
            char *copy = mem_alloc(cut + 1); /* of its own, so that reading beyond it is seen */
            struct cubin_lines found;
            memcpy(copy, b.s, cut);
            cubin_lines(a, copy, cut, "a", "kernel.cu", &found, NULL);
            free(copy);
            arena_close(a);
        }
        for (int round = 0; round < 600; round++) {
            struct arena *a = arena_open();
            char *copy = mem_alloc(b.len);
            struct cubin_lines found;
            memcpy(copy, b.s, b.len);
            for (uint64_t k = rng_below(&r, 6) + 1; k > 0; k--)
                copy[rng_below(&r, b.len)] = (char)rng_next(&r);
            cubin_lines(a, copy, b.len, "a", "kernel.cu", &found, NULL);
            free(copy);
            arena_close(a);
        }
        str_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_by_instruction), cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
