/* The object that nvcc makes of a file, looked at and never run: what it calls lies within a list, nothing but
 * the registration of its kernels runs before it is asked, and it is made of the sections that C++ without
 * assembler text has. */
#include "elf_file.h"

#include <dlfcn.h>

#define REGISTERS "__sti____cudaRegisterAll" /* in nvcc's own constructor */

struct object {
    struct elf elf;
    struct arena *arena;
    Elf64_Shdr symbols;
    struct bytes names;
    struct gpu_object *found;
    VEC(const char *) unknown;
};

/* What a launcher's host code calls. Last: what only stands on paths that a launcher does not take. */
static const char *const known[] = {
    "__cudaGetKernel",
    "__cudaInitModule",
    "__cudaLaunchKernel",
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
    "cuTensorMapEncodeTiled",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetLimit",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaFuncSetCacheConfig",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetDeviceProperties_v2",
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaGetSymbolAddress",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMemcpyAsync",
    "cudaMemcpyToSymbolAsync",
    "cudaMemsetAsync",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyMaxActiveClusters",
    "cudaOccupancyMaxPotentialClusterSize",
    "cudaPeekAtLastError",
    /* the compiler's own */
    "_GLOBAL_OFFSET_TABLE_",
    "_Unwind_Resume",
    "__assert_fail",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_guard_abort",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__gxx_personality_v0",
    "__stack_chk_fail",
    "__cxa_atexit",
    "__dso_handle",
    "_ZNSt8ios_base4InitC1Ev",
    "_ZNSt8ios_base4InitD1Ev",
    "_ZSt9terminatev",
    "atexit",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "strcmp",
    /* mathematics */
    "acos",
    "acosf",
    "asin",
    "asinf",
    "atan",
    "atan2",
    "atan2f",
    "atanf",
    "cbrt",
    "cbrtf",
    "ceil",
    "ceilf",
    "cos",
    "cosf",
    "cosh",
    "coshf",
    "erf",
    "erff",
    "exp",
    "exp2",
    "exp2f",
    "expf",
    "expm1",
    "expm1f",
    "floor",
    "floorf",
    "fma",
    "fmaf",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "fmod",
    "fmodf",
    "ilogb",
    "ldexp",
    "ldexpf",
    "llrint",
    "llround",
    "log",
    "log10",
    "log10f",
    "log1p",
    "log1pf",
    "log2",
    "log2f",
    "logf",
    "lrint",
    "lrintf",
    "lround",
    "lroundf",
    "nearbyint",
    "nearbyintf",
    "pow",
    "powf",
    "rint",
    "rintf",
    "round",
    "roundf",
    "sin",
    "sinf",
    "sinh",
    "sinhf",
    "sqrt",
    "sqrtf",
    "tan",
    "tanf",
    "tanh",
    "tanhf",
    "trunc",
    "truncf",
    /* on paths not taken */
    "_ZNSt13runtime_errorC1EPKc",
    "_ZNSt13runtime_errorD1Ev",
    "_ZTISt13runtime_error",
    "_ZNSt16invalid_argumentC1EPKc",
    "_ZNSt16invalid_argumentD1Ev",
    "_ZTISt16invalid_argument",
    "__cxa_allocate_exception",
    "__cxa_free_exception",
    "__cxa_throw",
    "abort",
    "exit",
    "fprintf",
    "fputs",
    "fwrite",
    "printf",
    "puts",
    "stderr",
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(known[i], name))
            return true;
    return false;
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* The sections that nvcc makes of C++. The number behind .init_array would be an order of its own. */
static bool section_is_usual(const char *name, uint32_t type)
{
    static const char *const exact[] = {"",
                                        ".group",
                                        ".text",
                                        ".data",
                                        ".bss",
                                        ".rodata",
                                        "__nv_module_id",
                                        ".nv_fatbin",
                                        ".nvFatBinSegment",
                                        ".init_array",
                                        ".rela.init_array",
                                        ".comment",
                                        ".eh_frame",
                                        ".rela.eh_frame",
                                        ".symtab",
                                        ".strtab",
                                        ".shstrtab",
                                        ".symtab_shndx",
                                        ".rela.nvFatBinSegment"};
    static const char *const prefixes[] = {
        ".text.",     ".data.",       ".bss.",  ".rodata.",          ".rela.text",
        ".rela.data", ".rela.rodata", ".note.", ".gcc_except_table", ".rela.gcc_except_table",
        ".rela.__nv", ".nv."};

    if (type == SHT_PREINIT_ARRAY || type == SHT_FINI_ARRAY ||
        (type == SHT_INIT_ARRAY) != str_eq(name, ".init_array"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(exact); i++)
        if (str_eq(exact[i], name))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (starts(name, prefixes[i]))
            return true;
    return false;
}

static void refuse(struct object *o, const char *fmt, const char *name)
{
    if (!o->found->words)
        o->found->words =
            arena_printf(o->arena, fmt, arena_strndup(o->arena, name, MIN(strlen(name), (size_t)200)));
}

static void check_sections(struct object *o)
{
    size_t constructors = 0;

    for (size_t i = 1; i < o->elf.head.e_shnum; i++) {
        Elf64_Shdr s;
        if (!section(&o->elf, i, &s)) {
            refuse(o, "its object is damaged%s", "");
            return;
        }
        const char *name = text_at(o->elf.names, s.sh_name);
        if (!section_is_usual(name, s.sh_type) || (s.sh_flags & SHF_TLS))
            refuse(o, "its object has the section %s, which no launcher has", name);
        if (s.sh_type == SHT_INIT_ARRAY)
            constructors += s.sh_size / 8 + (s.sh_size % 8 != 0);
    }
    o->found->constructors = constructors;
}

/* Among what runs by itself there must be nvcc's own; a header's may be beside it. */
static bool registers(const struct object *o, const Elf64_Shdr *relocs, uint64_t i)
{
    Elf64_Rela r;
    Elf64_Sym to, sym;

    memcpy(&r, o->elf.data + relocs->sh_offset + i * sizeof(r), sizeof(r));
    if (!symbol(&o->elf, &o->symbols, ELF64_R_SYM(r.r_info), &to))
        return false;
    uint64_t at = to.st_value + (uint64_t)r.r_addend;
    for (uint64_t k = 0; symbol(&o->elf, &o->symbols, k, &sym); k++)
        if (sym.st_shndx == to.st_shndx && sym.st_value == at && ELF64_ST_TYPE(sym.st_info) == STT_FUNC &&
            ELF64_ST_BIND(sym.st_info) == STB_LOCAL && strstr(text_at(o->names, sym.st_name), REGISTERS))
            return true;
    return false;
}

static void check_constructors(struct object *o)
{
    Elf64_Shdr relocs;
    size_t n = o->found->constructors, own = 0;

    if (n == 0)
        return;
    if (find_section(&o->elf, ".rela.init_array", "", &relocs) >= 0 && relocs.sh_size == n * sizeof(Elf64_Rela))
        for (size_t i = 0; i < n; i++)
            own += registers(o, &relocs, i);
    if (own != 1)
        refuse(o, "what of it runs before it is asked cannot be told%s", "");
}

/* What a whole program would then call instead of its own: names of the C and C++ libraries, those that begin
 * as only theirs may, and operators new and delete. What a template makes of the C++ library is weak. */
static bool is_library_name(const char *name, unsigned binding)
{
    static const char *const operators[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};

    if (str_eq(name, "DW.ref.__gxx_personality_v0"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (starts(name, operators[i]))
            return true;
    if (!starts(name, "_Z"))
        return name[0] == '_' || dlsym(RTLD_DEFAULT, name) != NULL;
    return binding == STB_GLOBAL &&
           (starts(name, "_ZSt") || starts(name, "_ZNSt") || starts(name, "_ZNKSt") || starts(name, "_ZTISt"));
}

static void check_symbols(struct object *o)
{
    Elf64_Sym sym;

    for (uint64_t i = 1; symbol(&o->elf, &o->symbols, i, &sym); i++) {
        const char *name = text_at(o->names, sym.st_name);
        unsigned type = ELF64_ST_TYPE(sym.st_info);

        if (type == STT_GNU_IFUNC)
            refuse(o, "which function %s is would be decided when it is loaded", name);
        else if (type == STT_TLS)
            refuse(o, "%s is of a thread's own", name);
        else if (sym.st_shndx == SHN_UNDEF && !is_known(name))
            vec_add(o->arena, &o->unknown, arena_strdup(o->arena, name));
        else if (sym.st_shndx != SHN_UNDEF && ELF64_ST_BIND(sym.st_info) != STB_LOCAL &&
                 (is_known(name) || is_library_name(name, ELF64_ST_BIND(sym.st_info))))
            refuse(o, "it defines %s, which is the runtime's or the system's", name);
    }
}

void gpu_object_check(struct arena *a, const void *data, size_t len, struct gpu_object *found)
{
    struct object o = {.arena = a, .found = found};
    Elf64_Shdr names;

    *found = (struct gpu_object){0};
    if (!elf_read(&o.elf, data, len) || o.elf.head.e_type != ET_REL ||
        find_section(&o.elf, ".symtab", "", &o.symbols) < 0 || !section(&o.elf, o.symbols.sh_link, &names) ||
        names.sh_type == SHT_NOBITS) {
        found->words = "its object is no object file";
        return;
    }
    o.names = contents(&o.elf, &names);
    check_sections(&o);
    check_constructors(&o);
    check_symbols(&o);
    found->calls = o.unknown.v;
    found->n_calls = o.unknown.n;
}
