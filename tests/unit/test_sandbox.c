/* What a process that has shut itself in can still do: each case in a child of its own. Where the kernel lacks
 * the means, the case says so and is skipped. */
#include "base/base.h"
#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *arena;
static char *scratch, *readable;

static void need(bool files)
{
    struct sandbox_kernel k;

    sandbox_kernel(&k);
    if (files ? k.landlock == 0 : !k.seccomp)
        skip();
}

/* Exit status 0: act gives true inside; 1: false; 2: the sandbox said that something was missing. */
static int inside(bool programs, bool local_sockets, bool (*act)(void))
{
    const struct sandbox_path paths[] = {{scratch, SANDBOX_READ | SANDBOX_WRITE},
                                         {readable, SANDBOX_READ},
                                         {"/nowhere", SANDBOX_READ},
                                         {"/bin", SANDBOX_READ | (programs ? SANDBOX_RUN : 0)},
                                         {"/usr", SANDBOX_READ | (programs ? SANDBOX_RUN : 0)},
                                         {"/lib", SANDBOX_READ | SANDBOX_RUN},
                                         {"/lib64", SANDBOX_READ | SANDBOX_RUN}};
    const struct sandbox_rules rules = {
        .paths = paths, .n_paths = ARRAY_LEN(paths), .programs = programs, .local_sockets = local_sockets};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        const char *missing = sandbox_enter(arena, &rules);
        _exit(missing ? 2 : !act());
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool reads_a_system_file(void)
{
    return opens("/etc/passwd", O_RDONLY);
}

static bool reads_what_it_may(void)
{
    return opens(readable, O_RDONLY);
}

static bool writes_what_it_may_read(void)
{
    return opens(readable, O_WRONLY) || unlink(readable) == 0 || truncate(readable, 0) == 0;
}

static bool uses_scratch(void)
{
    char *file = fs_join(arena, scratch, "new"), *other = fs_join(arena, scratch, "renamed");

    return opens(file, O_WRONLY | O_CREAT) && rename(file, other) == 0 && unlink(other) == 0;
}

static bool climbs_out_of_scratch(void)
{
    return chdir(scratch) != 0 || opens("../readable", O_WRONLY) ||
           opens("../../../../../../etc/passwd", O_RDONLY) ||
           (symlink("/etc/passwd", "link") == 0 && opens("link", O_RDONLY));
}

static bool makes_a_socket(int domain)
{
    int fd = socket(domain, SOCK_STREAM, 0);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool makes_internet_sockets(void)
{
    return makes_a_socket(AF_INET) || makes_a_socket(AF_INET6) || makes_a_socket(AF_NETLINK) ||
           makes_a_socket(AF_PACKET);
}

static bool makes_local_sockets(void)
{
    return makes_a_socket(AF_UNIX);
}

static bool forks(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static bool runs_a_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return false;
}

static bool starts_a_program(void)
{
    const char *const argv[] = {"/bin/true", NULL};
    struct proc_result r;

    return proc_run(argv, NULL, NULL, &r, NULL) && r.end == PROC_EXITED && r.status == 0;
}

static void *thread(void *nothing)
{
    return nothing;
}

static bool starts_a_thread(void)
{
    pthread_t t;

    return pthread_create(&t, NULL, thread, NULL) == 0 && pthread_join(t, NULL) == 0;
}

static bool kills_its_parent(void)
{
    return kill(getppid(), 0) == 0;
}

static void test_files(void **state)
{
    (void)state;
    need(true);
    assert_int_equal(inside(false, false, reads_what_it_may), 0);
    assert_int_equal(inside(false, false, uses_scratch), 0);
    assert_int_equal(inside(false, false, reads_a_system_file), 1);
    assert_int_equal(inside(false, false, writes_what_it_may_read), 1);
    assert_int_equal(inside(false, false, climbs_out_of_scratch), 1);
    assert_true(opens("/etc/passwd", O_RDONLY)); /* out here */
}

static void test_network(void **state)
{
    (void)state;
    need(false);
    assert_int_equal(inside(false, false, makes_internet_sockets), 1);
    assert_int_equal(inside(false, false, makes_local_sockets), 1);
    assert_int_equal(inside(true, true, makes_internet_sockets), 1);
    assert_int_equal(inside(false, true, makes_local_sockets), 0);
}

static void test_processes(void **state)
{
    struct sandbox_kernel k;

    (void)state;
    need(false);
    assert_int_equal(inside(false, false, starts_a_thread), 0);
    assert_int_equal(inside(false, false, runs_a_program), 1);
    assert_int_equal(inside(true, false, starts_a_program), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_int_equal(inside(false, false, forks), 1);
    sandbox_kernel(&k);
    if (k.landlock >= 6)
        assert_int_equal(inside(false, false, kills_its_parent), 1);
#else
    (void)k;
    (void)forks;
    (void)kills_its_parent;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_processes),
    };
    char *home;
    int failed;

    arena = arena_open();
    home = fs_temp_dir(arena, NULL);
    scratch = fs_join(arena, home, "scratch");
    readable = fs_join(arena, home, "readable");
    failed = !fs_mkdirs(scratch, NULL) || !fs_write_text(readable, "text", NULL) ||
             cmocka_run_group_tests(tests, NULL, NULL);
    fs_remove_tree(home);
    arena_close(arena);
    return failed;
}
