/* A program started under the library. */
#include "capture/capture.h"
#include "inject/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the program, as it is built; in ../lib, as an archive has it; in ../lib/astra, as it is installed. */
static const char *library_path(struct arena *a, struct err *err)
{
    static const char *const places[] = {".", "../lib", "../lib/astra"};
    const char *own = getenv("ASTRA_CAPTURE_LIBRARY"), *dir = fs_dirname(a, fs_self(a));

    if (own && *own)
        return fs_exists(own) ? fs_absolute(a, own)
                              : (err_world(err, "ASTRA_CAPTURE_LIBRARY: there is no %s", own), NULL);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *path = arena_printf(a, "%s/%s/" CAPTURE_LIBRARY, dir, places[i]);
        if (fs_exists(path))
            return fs_absolute(a, path);
    }
    err_world(err,
              CAPTURE_LIBRARY " is not beside %s, nor in ../lib: build it (make), or name it with "
                              "ASTRA_CAPTURE_LIBRARY",
              fs_self(a));
    return NULL;
}

/* NVIDIA's library, where the loader would not look: the toolkit's, else that of a Python package. */
static const char *cupti_path(struct arena *a)
{
    static const char *const patterns[] = {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                           "/usr/local/cuda/lib64/libcupti.so",
                                           "/usr/local/cuda/lib/libcupti.so",
                                           "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
                                           "/opt/*/lib/python3*/site-packages/nvidia/*/lib/libcupti.so*",
                                           "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libcupti.so*"};
    const char *found = NULL;

    for (size_t i = 0; !found && i < ARRAY_LEN(patterns); i++) {
        glob_t g = {0};
        if (glob(patterns[i], 0, NULL, &g) == 0 && g.gl_pathc)
            found = arena_strdup(a, g.gl_pathv[g.gl_pathc - 1]);
        globfree(&g);
    }
    return found;
}

/* The file that the shell would start; NULL: there is none. */
static char *program_path(struct arena *a, const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return arena_strdup(a, name);
    for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += strcspn(p, ":"), p += *p == ':') {
        char *file = arena_printf(a, "%.*s/%s", (int)strcspn(p, ":"), p, name);
        if (access(file, X_OK) == 0 && !fs_is_dir(file))
            return file;
    }
    return NULL;
}

/* Does it ask for a loader? What begins otherwise (a script) is not known. */
static bool is_static(const char *file)
{
    Elf64_Ehdr head;
    Elf64_Phdr p;
    bool asks = false, known = false;
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_phentsize == sizeof(p)) {
        known = true;
        for (int i = 0; i < head.e_phnum && !asks; i++)
            asks = pread(fd, &p, sizeof(p), (off_t)(head.e_phoff + (size_t)i * sizeof(p))) == sizeof(p) &&
                   p.p_type == PT_INTERP;
    }
    if (fd >= 0)
        close(fd);
    return known && !asks;
}

bool capture_can(struct arena *a, const char *name, struct err *err)
{
    char *file = program_path(a, name);
    struct stat st;

    if (!file || stat(file, &st) != 0)
        return err_input(err, "there is no program %s", name);
    if (S_ISDIR(st.st_mode) || access(file, X_OK) != 0)
        return err_input(err, "%s is no program that this user may start", file);
    if ((st.st_mode & (S_ISUID | S_ISGID)) && geteuid() != 0)
        return err_input(
            err, "%s is setuid or setgid: the loader takes no library of ours into it; run it as its owner",
            file);
    if (is_static(file))
        return err_input(err,
                         "%s is linked statically, without a loader: no library can be put into it; link the C "
                         "library dynamically",
                         file);
    return true;
}

static void set_environment(struct arena *a, const struct capture_options *o, const char *library)
{
    const char *before = getenv("LD_PRELOAD"), *cupti = cupti_path(a);

    if (o->alone)
        return;
    setenv("LD_PRELOAD", before && *before ? arena_printf(a, "%s:%s", library, before) : library, 1);
    if (o->replace) {
        setenv("ASTRA_REPLACE", o->replace, 1);
        return;
    }
    setenv("ASTRA_CAPTURE_DIR", o->out, 1);
    setenv("ASTRA_CAPTURE_TIMES", o->times, 1);
    if (!str_in(o->times, "events|none"))
        setenv("CUDA_INJECTION64_PATH", library, 0); /* a profiler's stays */
    if (o->keep)
        setenv("ASTRA_CAPTURE_KEEP", o->keep, 1);
    if (o->contents) {
        setenv("ASTRA_CAPTURE_CONTENTS", o->contents, 1);
        setenv("ASTRA_CAPTURE_CONTENTS_MB", arena_printf(a, "%lld", (long long)o->contents_mb), 1);
    }
    if (cupti)
        setenv("ASTRA_CAPTURE_CUPTI", cupti, 0);
}

static bool take_stdout(const struct capture_options *o)
{
    int fd = o->stdout_path ? open(o->stdout_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : 2;

    return (!o->stdout_path && !o->own_stdout) || (fd >= 0 && dup2(fd, 1) == 1);
}

bool capture_run(const struct capture_options *o, struct arena *a, int *status, struct err *err)
{
    const char *library = library_path(a, err);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
    int report[2], code = 0;
    ssize_t n;
    pid_t pid;

    if (!library || (o->out && !fs_mkdirs(o->out, err)))
        return false;
    if ((o->out && chmod(o->out, 0700) != 0) || pipe2(report, O_CLOEXEC) != 0)
        return err_world(err, "%s: %s", o->out ? o->out : "pipe", strerror(errno));
    fflush(NULL);
    if ((pid = fork()) == 0) {
        set_environment(a, o, library);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        if (take_stdout(o))
            execvp(o->argv[0], (char *const *)(uintptr_t)o->argv);
        code = errno;
        n = write(report[1], &code, sizeof(code));
        _exit(n == sizeof(code) ? 127 : 126);
    }
    close(report[1]);
    /* Ctrl-C is the program's, which has the same terminal; what it counted is read then. */
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    n = pid > 0 ? read(report[0], &code, sizeof(code)) : -1;
    close(report[0]);
    while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    if (pid < 0 || n > 0)
        return err_world(err, "cannot start %s: %s", o->argv[0], strerror(pid < 0 ? errno : code));
    return true;
}
