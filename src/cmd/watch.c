/* What is shown while runs go on, and how they are asked to stop. */
#include "cmd/cmd.h"
#include "campaign/campaign.h"
#include "optimize/optimize.h"
#include "tui/tui.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stops; /* asked for, by Ctrl-C or q */

static void ask_to_stop(void)
{
    stops++;
    run_stop();
    campaign_stop();
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    if (stops > 0) {
        tui_abandon();
        _exit(EXIT_INTERRUPTED); /* the store is whole at every moment; workers die with us */
    }
    ask_to_stop();
    if (tui_stopping())
        return;
    static const char words[] =
        "\nastra: stopping; what is stored stays, `astra resume` goes on. Ctrl-C again to leave at once.\n";
    if (write(2, words, sizeof(words) - 1) < 0)
        _exit(EXIT_INTERRUPTED);
}

static void catch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};

    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
}

/* An event as a line of stdout. When nobody reads on, the run is stopped, resumably; printing the result will
 * end the process. */
static void print_event(void *context, const char *event, const json_t *fields)
{
    char *line = trace_line(fields);

    (void)context;
    (void)event;
    if (line && (puts(line) == EOF || fflush(stdout) != 0) && errno == EPIPE && stops == 0)
        ask_to_stop();
    free(line);
}

void cmd_show_run(const struct cmd_args *args)
{
    catch_signals();
    tui_open(&(struct tui_options){.quiet = args->quiet, .screen = !args->events, .stop = ask_to_stop});
    if (args->events)
        trace_listen(print_event, NULL);
}
