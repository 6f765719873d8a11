/* Named GPUs: the device files compiled in, and how many blocks of a kernel one SM holds. */
#include <pthread.h>
#include <yaml.h>

#include "model.h"

enum field_kind { FIELD_TEXT, FIELD_FLAG, FIELD_INT, FIELD_U32, FIELD_U64, FIELD_NUMBER, FIELD_MODEL };

static const struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
} fields[] = {
#define DEVICE(kind, name) {#name, kind, offsetof(struct ptx_device, name)},
#define MODEL(name)        {#name, FIELD_MODEL, offsetof(struct model, name)},
    DEVICE(FIELD_TEXT, full_name) DEVICE(FIELD_TEXT, source) DEVICE(FIELD_FLAG, validated) DEVICE(
        FIELD_INT, cc_major) DEVICE(FIELD_INT, cc_minor) DEVICE(FIELD_INT, sm_count) DEVICE(FIELD_INT,
                                                                                            max_threads_per_sm)
        DEVICE(FIELD_INT, max_blocks_per_sm) DEVICE(FIELD_INT, max_threads_per_block) DEVICE(
            FIELD_INT, schedulers_per_sm) DEVICE(FIELD_U32, registers_per_sm) DEVICE(FIELD_U32, shared_per_sm)
            DEVICE(FIELD_U32, shared_per_block) DEVICE(FIELD_U32, shared_per_block_optin)
                DEVICE(FIELD_U64, l2_bytes) DEVICE(FIELD_U64, dram_bytes) DEVICE(FIELD_NUMBER, sm_clock_mhz)
                    DEVICE(FIELD_NUMBER, dram_peak_gbs) DEVICE(FIELD_NUMBER, dram_copy_gbs) DEVICE(
                        FIELD_NUMBER, l2_gbs) DEVICE(FIELD_NUMBER, tensor_fp16_tflops) MODEL(lanes_fp32)
                        MODEL(lanes_fp16) MODEL(lanes_fp64) MODEL(lanes_alu) MODEL(lanes_mul) MODEL(lanes_sfu)
                            MODEL(lanes_conv) MODEL(lanes_shuffle) MODEL(lanes_lsu) MODEL(alu_cycles)
                                MODEL(sfu_cycles) MODEL(fp64_cycles) MODEL(shared_cycles) MODEL(shuffle_cycles)
                                    MODEL(l1_cycles) MODEL(l2_cycles) MODEL(barrier_cycles) MODEL(branch_cycles)
                                        MODEL(dram_ns) MODEL(fetch_cycles) MODEL(port_bytes)
                                            MODEL(l2_requests_per_ns) MODEL(l1_bytes) MODEL(dram_read_gbs)
                                                MODEL(dram_write_gbs) MODEL(l2_read_gbs) MODEL(l2_write_gbs)
                                                    MODEL(sm_gbs) MODEL(launch_us) MODEL(cold_us)
                                                        MODEL(block_ns) MODEL(crowding) MODEL(atomic_cycles)
                                                            MODEL(l2_atomics_per_ns) MODEL(overlap)
                                                                MODEL(blocks_per_us) MODEL(geometry_cycles)
                                                                    MODEL(dram_scatter) MODEL(mma_cycles)
                                                                        MODEL(mma_latency_cycles)
#undef DEVICE
#undef MODEL
};

static bool field_set(const struct field *f, struct ptx_device *d, struct model *m, const char *text,
                      struct arena *a)
{
    char *to = f->kind == FIELD_MODEL ? (char *)m : (char *)d;
    to += f->offset;
    if (f->kind == FIELD_TEXT) {
        *(const char **)to = arena_strdup(a, text);
        return *text != '\0';
    }
    if (f->kind == FIELD_FLAG) {
        *(bool *)to = str_eq(text, "yes");
        return *(bool *)to || str_eq(text, "no");
    }
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0) || v > 1e15)
        return false;
    switch (f->kind) {
    case FIELD_INT:
        *(int *)to = (int)v;
        return v == (double)(int)v;
    case FIELD_U32:
        *(uint32_t *)to = (uint32_t)v;
        return v == (double)(uint32_t)v;
    case FIELD_U64:
        *(uint64_t *)to = (uint64_t)v;
        return v == (double)(uint64_t)v;
    default:
        *(double *)to = v;
        return v > 0;
    }
}

static bool pair_set(yaml_document_t *doc, const yaml_node_pair_t *p, struct ptx_device *d, struct model *m,
                     bool *seen, const char *name, struct arena *a, struct err *err)
{
    yaml_node_t *k = yaml_document_get_node(doc, p->key), *v = yaml_document_get_node(doc, p->value);
    int line = (int)k->start_mark.line + 1;
    if (k->type != YAML_SCALAR_NODE || v->type != YAML_SCALAR_NODE)
        return err_at(err, name, line, 1, "a device file is one flat mapping of names to values");
    const char *key = (const char *)k->data.scalar.value, *text = (const char *)v->data.scalar.value;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_eq(fields[i].key, key))
            continue;
        if (seen[i])
            return err_at(err, name, line, 1, "'%s' is given twice", key);
        seen[i] = true;
        if (!field_set(&fields[i], d, m, text, a))
            return err_at(err, name, line, (int)v->start_mark.column + 1, "'%s' is no value for '%s'", text,
                          key);
        return true;
    }
    return err_at(err, name, line, 1, "unknown key '%s'", key);
}

bool device_parse(struct ptx_device *d, struct model *m, const char *name, const char *text, struct arena *a,
                  struct err *err)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser))
        BUG("out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &doc)) {
        err_at(err, name, (int)parser.problem_mark.line + 1, (int)parser.problem_mark.column + 1, "%s",
               parser.problem ? parser.problem : "not YAML");
        yaml_parser_delete(&parser);
        return false;
    }
    bool seen[ARRAY_LEN(fields)] = {false}, ok;
    *d = (struct ptx_device){.name = name};
    *m = (struct model){0};
    yaml_node_t *root = yaml_document_get_root_node(&doc);
    ok = root && root->type == YAML_MAPPING_NODE;
    if (!ok)
        err_at(err, name, 1, 1, "a device file is one flat mapping of names to values");
    else
        for (yaml_node_pair_t *p = root->data.mapping.pairs.start; ok && p < root->data.mapping.pairs.top; p++)
            ok = pair_set(&doc, p, d, m, seen, name, a, err);
    for (size_t i = 0; ok && i < ARRAY_LEN(fields); i++)
        if (!seen[i])
            ok = err_at(err, name, 1, 1, "the key '%s' is missing", fields[i].key);
    yaml_document_delete(&doc);
    yaml_parser_delete(&parser);
    return ok;
}

enum { MAX_DEVICES = 32 };
static struct ptx_device devices[MAX_DEVICES];
static struct model models[MAX_DEVICES];
static size_t n_devices;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The files are part of the binary: one that does not parse is a bug. Their strings live as long as the
 * program. */
static void devices_load(void)
{
    static struct arena *a;
    a = arena_open();
    for (size_t i = 0; i < share_n_files; i++) {
        const struct share_file *f = &share_files[i];
        struct err err = {0};
        if (!str_starts(f->name, "devices/"))
            continue;
        const char *base = f->name + strlen("devices/");
        char *name = arena_strndup(a, base, strcspn(base, "."));
        BUG_IF(n_devices == MAX_DEVICES);
        if (!device_parse(&devices[n_devices], &models[n_devices], name, f->text, a, &err))
            BUG("device %s line %d: %s", f->name, err.line, err.text);
        n_devices++;
    }
}

size_t ptx_device_list(const struct ptx_device **list)
{
    pthread_once(&once, devices_load);
    *list = devices;
    return n_devices;
}

const struct ptx_device *ptx_device_find(const char *name)
{
    const struct ptx_device *list;
    size_t n = ptx_device_list(&list);
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].name, name))
            return &list[i];
    return NULL;
}

const struct model *model_of(const struct ptx_device *d)
{
    return d >= devices && d < devices + n_devices ? &models[d - devices] : NULL;
}

struct ptx_peaks ptx_device_peaks(const struct ptx_device *d)
{
    const struct model *m = model_of(d);
    double fma_s =
        2 * d->sm_count * d->sm_clock_mhz * 1e6; /* operations of one lane that multiplies and adds */

    if (!m)
        BUG("device %s is not in the table", d->name);
    return (struct ptx_peaks){.fp64 = m->lanes_fp64 * fma_s,
                              .fp32 = m->lanes_fp32 * fma_s,
                              .fp16 = 2 * m->lanes_fp16 * fma_s, /* packed in pairs */
                              .tensor_fp16 = d->tensor_fp16_tflops * 1e12};
}

static uint32_t round_up(uint32_t x, uint32_t to)
{
    return (x + to - 1) / to * to;
}

/* Registers are given to warps in units of 256 within one scheduler's quarter of the file; shared memory to
 * blocks in units of 128 bytes, one further KB reserved by the system on cc 8.0 and later. */
int ptx_occupancy(const struct ptx_device *d, uint32_t registers, uint32_t shared_bytes, uint32_t block_threads)
{
    if (block_threads == 0 || block_threads > (uint32_t)d->max_threads_per_block || registers > 256)
        return 0;
    uint32_t warps = (block_threads + 31) / 32, parts = (uint32_t)d->schedulers_per_sm;
    uint32_t blocks = MIN((uint32_t)d->max_blocks_per_sm, (uint32_t)d->max_threads_per_sm / 32 / warps);
    if (registers) {
        uint32_t per_warp = round_up(registers * 32, 256);
        uint32_t resident = d->registers_per_sm / parts / per_warp * parts;
        if (round_up(warps, parts) * per_warp > d->registers_per_sm)
            return 0; /* one block's registers must fit by themselves */
        blocks = MIN(blocks, resident / warps);
    }
    if (shared_bytes > d->shared_per_block_optin)
        return 0;
    uint32_t reserved = d->cc_major >= 8 ? 1024 : 0, shared = round_up(shared_bytes + reserved, 128);
    if (shared)
        blocks = MIN(blocks, d->shared_per_sm / shared);
    return (int)blocks;
}
