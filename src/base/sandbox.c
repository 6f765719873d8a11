/* Landlock's numbers are written out: the headers of the kernels that people build on are older than the
 * kernels that they run on. Every right of a newer ABI is asked for only where the kernel knows it. Landlock's
 * rules for the network are of TCP alone, so sockets are seccomp's to refuse. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* the leak checker stops and reads its own process from a second one */
#else
enum { SANITIZED = 0 };
#endif

/* ---- Landlock ---- */

enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446, LANDLOCK_PATH_BENEATH = 1 };

#define FS_EXECUTE   (1ull << 0)
#define FS_WRITE     (1ull << 1)
#define FS_READ      (1ull << 2)
#define FS_READ_DIR  (1ull << 3)
#define FS_MAKE_ALL  (0x1ffull << 4) /* remove and make folders, files, sockets, links, devices */
#define FS_REFER     (1ull << 13)    /* ABI 2 */
#define FS_TRUNCATE  (1ull << 14)    /* ABI 3 */
#define FS_IOCTL_DEV (1ull << 15)    /* ABI 5 */
#define NET_TCP      3ull            /* ABI 4: bind, connect */
#define SCOPE_ALL    3ull            /* ABI 6: abstract sockets, signals */
#define OF_FILES     (FS_EXECUTE | FS_WRITE | FS_READ | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset { /* struct landlock_ruleset_attr */
    uint64_t fs, net, scoped;
};

struct beneath { /* struct landlock_path_beneath_attr */
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

static int landlock_abi(void)
{
    long abi = syscall(LANDLOCK_CREATE, NULL, 0, 1);

    return abi > 0 ? (int)abi : 0;
}

static uint64_t known_rights(int abi)
{
    uint64_t all = FS_EXECUTE | FS_WRITE | FS_READ | FS_READ_DIR | FS_MAKE_ALL;

    all |= abi >= 2 ? FS_REFER : 0;
    all |= abi >= 3 ? FS_TRUNCATE : 0;
    all |= abi >= 5 ? FS_IOCTL_DEV : 0;
    return all;
}

static bool add_path(int ruleset, uint64_t known, const struct sandbox_path *p)
{
    struct beneath rule = {.fd = open(p->path, O_PATH | O_CLOEXEC)};
    struct stat st;

    if (rule.fd < 0)
        return true;
    if (p->use & SANDBOX_READ)
        rule.allowed |= FS_READ | FS_READ_DIR;
    if (p->use & SANDBOX_WRITE)
        rule.allowed |= FS_WRITE | FS_TRUNCATE | FS_MAKE_ALL | FS_REFER;
    if (p->use & SANDBOX_RUN)
        rule.allowed |= FS_EXECUTE;
    if (p->use & SANDBOX_DEVICE)
        rule.allowed |= FS_IOCTL_DEV;
    rule.allowed &= known;
    if (fstat(rule.fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed &= OF_FILES;
    bool ok = syscall(LANDLOCK_ADD, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0) == 0;
    close(rule.fd);
    return ok;
}

static bool enter_landlock(const struct sandbox_rules *rules, int abi)
{
    struct ruleset attr = {.fs = known_rights(abi),
                           .net = abi >= 4 ? NET_TCP : 0,
                           .scoped = abi >= 6 && !SANITIZED ? SCOPE_ALL : 0};
    size_t size = sizeof(attr); /* of what this kernel knows of it */
    if (abi < 6)
        size = abi < 4 ? offsetof(struct ruleset, net) : offsetof(struct ruleset, scoped);
    int fd = (int)syscall(LANDLOCK_CREATE, &attr, size, 0);
    bool ok = fd >= 0;

    for (size_t i = 0; ok && i < rules->n_paths; i++)
        ok = add_path(fd, attr.fs, &rules->paths[i]);
    ok = ok && syscall(LANDLOCK_RESTRICT, fd, 0) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
enum { ARCH = AUDIT_ARCH_X86_64, X32 = 0x40000000 };
#elif defined(__aarch64__)
enum { ARCH = AUDIT_ARCH_AARCH64, X32 = 0 };
#else
enum { ARCH = 0, X32 = 0 };
#endif

/* What neither a compiler nor a simulator nor a driver asks for, and what would reach beyond the process. */
static const int refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_personality,
    425 /* io_uring_setup: its sockets pass by seccomp */,
    426,
    427,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    442 /* mount_setattr */,
};

struct program {
    struct sock_filter code[128];
    unsigned short n;
};

static void emit(struct program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    BUG_IF(p->n == ARRAY_LEN(p->code));
    p->code[p->n++] = (struct sock_filter){code, yes, no, k};
}

static void give(struct program *p, int error) /* 0: allowed */
{
    emit(p, BPF_RET | BPF_K, 0, 0, error ? SECCOMP_RET_ERRNO | (uint32_t)error : SECCOMP_RET_ALLOW);
}

static void refuse(struct program *p, int call, int error)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
    give(p, error);
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void load_argument(struct program *p, int i) /* its low half: these machines are little-endian */
{
    load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)i);
}

static void write_filter(struct program *p, const struct sandbox_rules *rules)
{
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)ARCH);
    give(p, EPERM);
    load(p, offsetof(struct seccomp_data, nr));
    if (X32) {
        emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, (uint32_t)X32);
        give(p, EPERM);
    }
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (!SANITIZED || refused[i] != SYS_ptrace)
            refuse(p, refused[i], EPERM);
    if (!rules->local_sockets) {
        refuse(p, SYS_socket, EACCES);
        refuse(p, SYS_connect, EACCES);
    }
    if (!rules->programs) {
        refuse(p, SYS_execve, EACCES);
        refuse(p, SYS_execveat, EACCES);
    }
    if (!rules->programs && !SANITIZED) {
#ifdef SYS_fork
        refuse(p, SYS_fork, EPERM);
        refuse(p, SYS_vfork, EPERM);
#endif
        refuse(p, 435, ENOSYS); /* clone3 hides its flags behind a pointer; without it clone is asked */
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)SYS_clone);
        load_argument(p, 0);
        emit(p, BPF_JMP | BPF_JSET | BPF_K, 1, 0, CLONE_THREAD);
        give(p, EPERM);
        give(p, 0);
    }
    if (rules->local_sockets) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (uint32_t)SYS_socket);
        load_argument(p, 0);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_UNIX);
        give(p, EACCES);
    }
    give(p, 0);
}

static bool enter_seccomp(const struct sandbox_rules *rules)
{
    struct program p = {.n = 0};
    struct sock_fprog filter = {.filter = p.code};

    if (ARCH == 0)
        return false;
    write_filter(&p, rules);
    filter.len = p.n;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

void sandbox_kernel(struct sandbox_kernel *k)
{
    uint32_t action = SECCOMP_RET_ERRNO;

    k->landlock = landlock_abi();
    k->seccomp = ARCH != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

const char *sandbox_enter(struct arena *a, const struct sandbox_rules *rules)
{
    bool privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    int abi = landlock_abi();
    const char *files = NULL, *calls = NULL;

    if (abi == 0)
        files = "the worker's files are not fenced (the kernel has no Landlock)";
    else if (!privileges || !enter_landlock(rules, abi))
        files = arena_printf(a, "the worker's files are not fenced (Landlock: %s)", strerror(errno));
    if (!privileges || !enter_seccomp(rules))
        calls =
            arena_printf(a, "the worker's network and processes are not fenced (seccomp: %s)", strerror(errno));
    if (files && calls)
        return arena_printf(a, "%s; %s", files, calls);
    return files ? files : calls;
}
