#!/usr/bin/env python3
"""embed.py OUT.c ROOT FILE...: text files as one C table (see src/base/share.h)."""
import os
import sys

out, root, files = sys.argv[1], sys.argv[2], sorted(sys.argv[3:])
with open(out, "w") as c:
    c.write('#include "base/base.h"\n\nconst struct share_file share_files[] = {\n')
    for path in files:
        data = open(path, "rb").read()
        c.write('    {"%s", (const char[]){' % os.path.relpath(path, root))
        c.write(",".join(str(b if b < 128 else b - 256) for b in data + b"\0"))
        c.write("}, %d},\n" % len(data))
    c.write("};\nconst size_t share_n_files = %d;\n" % len(files))
