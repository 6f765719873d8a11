/* The CUDA driver, found and loaded at run time; what its errors mean for a person. */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static bool bind_symbol(void *library, void *to, const char *symbols)
{
    char name[64];

    for (const char *p = symbols; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        void *symbol = dlsym(library, name);
        if (symbol) {
            memcpy(to, &symbol, sizeof(symbol));
            return true;
        }
        p += n;
    }
    return false;
}

static bool bind_all(struct driver *d, const char **missing)
{
    enum { NEEDED, OPTIONAL };

#define DRIVER(need, member, symbols, args)                                        \
    if (!bind_symbol(d->library, (void *)&d->member, symbols) && need == NEEDED) { \
        *missing = symbols;                                                        \
        return false;                                                              \
    }
#include "driver.def"
#undef DRIVER
    return true;
}

void driver_device_files(const char *dev, struct str *words)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/nvidiactl", dev);
    if (access(path, F_OK) != 0) {
        str_addf(
            words,
            "there is no %s: the kernel module is not loaded (nvidia-smi, or modprobe nvidia, loads it), or this "
            "container was started without GPUs (docker run --gpus all)",
            path);
    } else if (access(path, R_OK | W_OK) != 0) {
        str_addf(words,
                 "no permission for %s: join the group that owns it, or have the administrator give this user, "
                 "container or job the GPU",
                 path);
    } else {
        snprintf(path, sizeof(path), "%s/nvidia0", dev);
        if (access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0)
            str_addf(words, "no permission for %s: it is another user's or another job's GPU", path);
        else
            str_add(words, "see nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set");
    }
}

static bool load(struct driver *d, struct err *err)
{
    static const char *const names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    const char *own = getenv("ASTRA_CUDA_DRIVER"), *missing;
    char said[512] = "";
    Dl_info info;

    if (own && *own) {
        if (!(d->library = dlopen(own, RTLD_NOW | RTLD_LOCAL)))
            return err_world(err, "ASTRA_CUDA_DRIVER: %s", dlerror());
    }
    for (size_t i = 0; !d->library && i < ARRAY_LEN(names); i++)
        if (!(d->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL)) && i == 0)
            snprintf(said, sizeof(said), "%s", dlerror());
    if (!d->library)
        return err_world(
            err,
            "no NVIDIA driver: %s. Install the driver on this machine (a container needs its host's: "
            "docker run --gpus all), or set ASTRA_CUDA_DRIVER to its libcuda.so.1; without a GPU, "
            "--device sim models one",
            said);
    if (!bind_all(d, &missing))
        return err_world(err, "the NVIDIA driver has no %s: it is older than CUDA 11.4; install a newer driver",
                         missing);
    snprintf(d->path, sizeof(d->path), "%s",
             dladdr((void *)(uintptr_t)d->init, &info) && info.dli_fname ? info.dli_fname : "libcuda.so.1");
    return true;
}

static struct driver the_driver;
static struct err the_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_once(void)
{
    struct driver *d = &the_driver;
    struct str words = {0};
    int code;

    /* A kernel that is loaded lazily is loaded at its first launch, which may then wait for a device that waits
     * for us. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    if (!load(d, &the_error))
        return;
    if ((code = d->init(0)) == CUDA_OK && (code = d->driver_version(&d->version)) == CUDA_OK)
        return;
    switch (code) {
    case CUDA_STUB_LIBRARY:
        err_world(&the_error,
                  "%s is the toolkit's stub, meant for linking, not a driver: take the stubs folder out of "
                  "LD_LIBRARY_PATH, and install the NVIDIA driver if there is none",
                  d->path);
        break;
    case CUDA_NO_DEVICE:
    case CUDA_INVALID_DEVICE:
    case CUDA_OPERATING_SYSTEM:
        driver_device_files("/dev", &words);
        driver_err(d, code, &the_error, "the NVIDIA driver (%s) sees no GPU", d->path);
        snprintf(the_error.text + strlen(the_error.text), sizeof(the_error.text) - strlen(the_error.text),
                 "; %s", str_text(&words));
        break;
    default:
        driver_err(d, code, &the_error, "the NVIDIA driver (%s) does not start", d->path);
    }
    str_free(&words);
}

const struct driver *driver_get(struct err *err)
{
    pthread_once(&once, open_once);
    if (the_error.kind == ERR_NONE)
        return &the_driver;
    if (err)
        *err = the_error;
    return NULL;
}

/* What to do about it. */
static const char *cure(int code)
{
    switch (code) {
    case CUDA_OUT_OF_MEMORY:
        return "other processes may hold the GPU's memory: see nvidia-smi";
    case CUDA_DEVICE_UNAVAILABLE:
        return "another process has the GPU to itself (compute mode exclusive or prohibited): wait for it (nvidia-smi "
               "shows who), take another GPU (cuda:N), or have the administrator set compute mode default";
    case CUDA_ECC_UNCORRECTABLE:
        return "the GPU's memory failed: no figure from it can be trusted; see nvidia-smi -q -d ECC, reset or replace "
               "the GPU";
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
        return "the GPU's hardware failed: no figure from it can be trusted; see dmesg for Xid messages";
    case CUDA_SYSTEM_DRIVER_MISMATCH:
        return "the driver's library and its kernel module are of different versions: reboot, or reload the module, "
               "after a driver update; in a container, remove the libcuda that was installed inside";
    case CUDA_COMPAT_NOT_SUPPORTED:
        return "a forward-compatibility libcuda does not work on this GPU: take cuda-compat out of LD_LIBRARY_PATH and "
               "update the driver itself";
    case CUDA_SYSTEM_NOT_READY:
        return "a service of the machine is not running (nvidia-fabricmanager, on machines with NVSwitch)";
    case CUDA_NO_BINARY_FOR_GPU:
    case CUDA_INVALID_IMAGE:
    case CUDA_UNSUPPORTED_PTX_VERSION:
        return "the driver is older than the compiler that made this code, or the code is for another GPU: update the "
               "driver, or set ASTRA_NVRTC to a compiler not newer than it; astra doctor names both versions";
    case CUDA_JIT_COMPILER_NOT_FOUND:
    case CUDA_JIT_COMPILATION_DISABLED:
        return "the driver's own compiler is missing or off (libnvidia-ptxjitcompiler.so.1, CUDA_DISABLE_PTX_JIT)";
    case CUDA_NOT_PERMITTED:
        return "this user or container may not use the GPU that way";
    case CUDA_INVALID_DEVICE:
    case CUDA_UNKNOWN:
        return "if nvidia-smi does not list the GPU any more it has fallen off the bus: see dmesg for Xid messages, "
               "reset the GPU or reboot";
    default:
        return NULL;
    }
}

const char *driver_words(const struct driver *d, int code, char *buf, size_t size)
{
    const char *name = NULL, *text = NULL;

    if (d->error_name(code, &name) != CUDA_OK || !name)
        name = "unknown CUresult";
    if (d->error_string(code, &text) != CUDA_OK || !text)
        text = "";
    snprintf(buf, size, "%s (%d)%s%s", name, code, *text ? ": " : "", text);
    return buf;
}

bool driver_err(const struct driver *d, int code, struct err *err, const char *fmt, ...)
{
    char what[512], words[512];
    const char *todo = cure(code);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_world(err, "%s: %s%s%s", what, driver_words(d, code, words, sizeof(words)), todo ? "; " : "",
                     todo ? todo : "");
}
