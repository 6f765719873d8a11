#include "isa.h"

exec_fn *ISA(select_bits)(struct insn *i)
{
    (void)i;
    return NULL;
}
