/* Named GPUs: the device files compiled in. */
#include <pthread.h>

#include "cost_model.h"

enum field_kind {
    FIELD_TEXT,
    FIELD_FLAG,
    FIELD_INT,
    FIELD_U32,
    FIELD_U64,
    FIELD_NUMBER,
    FIELD_GPCS,
    FIELD_MODEL
};

static const struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
} fields[] = {
#define DEVICE(kind, name)                             \
    {                                                  \
#name, kind, offsetof(struct ptx_device, name) \
    }
#define MODEL(name)                                           \
    {                                                         \
#name, FIELD_MODEL, offsetof(struct cost_model, name) \
    }
    DEVICE(FIELD_TEXT, full_name),
    DEVICE(FIELD_TEXT, source),
    DEVICE(FIELD_FLAG, validated),
    DEVICE(FIELD_INT, cc_major),
    DEVICE(FIELD_INT, cc_minor),
    DEVICE(FIELD_INT, sm_count),
    DEVICE(FIELD_GPCS, gpc_sms),
    DEVICE(FIELD_INT, max_threads_per_sm),
    DEVICE(FIELD_INT, max_blocks_per_sm),
    DEVICE(FIELD_INT, max_threads_per_block),
    DEVICE(FIELD_INT, schedulers_per_sm),
    DEVICE(FIELD_U32, registers_per_sm),
    DEVICE(FIELD_U32, shared_per_sm),
    DEVICE(FIELD_U32, shared_per_block),
    DEVICE(FIELD_U32, shared_per_block_optin),
    DEVICE(FIELD_U64, l2_bytes),
    DEVICE(FIELD_U64, dram_bytes),
    DEVICE(FIELD_NUMBER, sm_clock_mhz),
    DEVICE(FIELD_NUMBER, dram_peak_gbs),
    DEVICE(FIELD_NUMBER, dram_copy_gbs),
    DEVICE(FIELD_NUMBER, l2_gbs),
    DEVICE(FIELD_NUMBER, tensor_fp16_tflops),
    MODEL(lanes_fp32),
    MODEL(lanes_fp16),
    MODEL(lanes_fp64),
    MODEL(lanes_alu),
    MODEL(lanes_mul),
    MODEL(lanes_sfu),
    MODEL(lanes_shuffle),
    MODEL(lanes_lsu),
    MODEL(alu_cycles),
    MODEL(sfu_cycles),
    MODEL(fp64_cycles),
    MODEL(shared_cycles),
    MODEL(shuffle_cycles),
    MODEL(l1_cycles),
    MODEL(l2_cycles),
    MODEL(barrier_cycles),
    MODEL(branch_cycles),
    MODEL(dram_ns),
    MODEL(fetch_cycles),
    MODEL(port_bytes),
    MODEL(l2_loads_per_ns),
    MODEL(l2_stores_per_ns),
    MODEL(dram_lines_per_ns),
    MODEL(l1_bytes),
    MODEL(dram_read_gbs),
    MODEL(dram_write_gbs),
    MODEL(l2_read_gbs),
    MODEL(l2_write_gbs),
    MODEL(sm_gbs),
    MODEL(launch_us),
    MODEL(cold_us),
    MODEL(block_ns),
    MODEL(crowding),
    MODEL(issue_share),
    MODEL(atomic_cycles),
    MODEL(atomic_float_cycles),
    MODEL(l2_atomics_per_ns),
    MODEL(overlap),
    MODEL(blocks_per_us),
    MODEL(geometry_cycles),
    MODEL(dram_scatter),
    MODEL(mma_cycles),
    MODEL(mma_latency_cycles),
#undef DEVICE
#undef MODEL
};

static const struct field *field_find(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (str_eq(fields[i].key, key))
            return &fields[i];
    return NULL;
}

/* "18 18 16", or "unknown". */
static bool gpcs_set(uint8_t *sms, size_t most, const char *text)
{
    char *end = "";

    if (str_eq(text, "unknown"))
        return true;
    for (size_t i = 0; i < most; i++, text = end) {
        long v = strtol(text, &end, 10);
        if (end == text)
            return *end == 0 && i > 0;
        if (v < 1 || v > UINT8_MAX)
            return false;
        sms[i] = (uint8_t)v;
    }
    return *end == 0;
}

static bool field_set(const struct field *f, struct ptx_device *d, struct cost_model *m, const char *text,
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
    if (f->kind == FIELD_GPCS)
        return gpcs_set((uint8_t *)to, ARRAY_LEN(d->gpc_sms), text);
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

bool device_parse(struct ptx_device *d, struct cost_model *m, const char *name, const char *text,
                  struct arena *a, struct err *err)
{
    static const char flat[] = "a device file is one flat mapping of names to values";
    const struct yaml_node *root;
    bool seen[ARRAY_LEN(fields)] = {false};
    *d = (struct ptx_device){.name = name};
    *m = (struct cost_model){0};
    if (!yaml_parse(a, name, text, strlen(text), &root, err))
        return false;
    if (root->kind != YAML_MAP)
        return err_at(err, name, 1, 1, flat);
    for (size_t k = 0; k < root->n; k++) {
        const struct yaml_node *value = root->items[k];
        const struct field *f = field_find(root->keys[k]);
        if (value->kind != YAML_TEXT)
            return err_at(err, name, value->line, 1, flat);
        if (!f)
            return err_at(err, name, root->key_nodes[k]->line, 1, "unknown key '%s'", root->keys[k]);
        seen[f - fields] = true;
        if (!field_set(f, d, m, value->text, a))
            return err_at(err, name, value->line, value->col, "'%s' is no value for '%s'", value->text, f->key);
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!seen[i])
            return err_at(err, name, 1, 1, "the key '%s' is missing", fields[i].key);
    return true;
}

enum { MAX_DEVICES = 32 };
static struct ptx_device devices[MAX_DEVICES];
static struct cost_model models[MAX_DEVICES];
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

const struct cost_model *cost_model_of(const struct ptx_device *d)
{
    return d >= devices && d < devices + n_devices ? &models[d - devices] : NULL;
}

struct ptx_peaks ptx_device_peaks(const struct ptx_device *d)
{
    const struct cost_model *m = cost_model_of(d);
    double fma_s =
        2 * d->sm_count * d->sm_clock_mhz * 1e6; /* operations of one lane that multiplies and adds */

    if (!m)
        BUG("device %s is not in the table", d->name);
    return (struct ptx_peaks){.fp64 = m->lanes_fp64 * fma_s,
                              .fp32 = m->lanes_fp32 * fma_s,
                              .fp16 = 2 * m->lanes_fp16 * fma_s, /* packed in pairs */
                              .tensor_fp16 = d->tensor_fp16_tflops * 1e12};
}
