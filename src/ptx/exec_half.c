#include "isa.h"

exec_fn *ISA(select_half)(struct insn *i)
{
    (void)i;
    return NULL;
}

exec_fn *ISA(select_cvt_half)(struct insn *i)
{
    (void)i;
    return NULL;
}

exec_fn *ISA(select_atom_half)(struct insn *i)
{
    (void)i;
    return NULL;
}
