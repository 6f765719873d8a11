#include "base/base.h"

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("astra " ASTRA_VERSION);
    return 0;
}
