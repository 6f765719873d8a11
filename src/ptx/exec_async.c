#include "isa.h"

exec_fn *ISA(select_async)(struct insn *i)
{
    (void)i;
    return NULL;
}

exec_fn *ISA(select_policy)(struct insn *i)
{
    (void)i;
    return NULL;
}
