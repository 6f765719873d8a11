#!/usr/bin/env python3
"""embed.py OUT.c ROOT FILE...: text files below ROOT as one C table (see src/base/share.h)."""
import os
import sys

out, root, files = sys.argv[1], sys.argv[2], sorted(sys.argv[3:])
names = [os.path.relpath(path, root) for path in files]
strange = [path for path, name in zip(files, names) if name.startswith("..") or not os.path.getsize(path)]
if not files or strange:
    sys.exit(f"embed.py: of the files to compile in, not below {root}, or empty: {', '.join(strange) or 'there are none'}")
with open(out, "w") as c:
    c.write('#include "base/base.h"\n\nconst struct share_file share_files[] = {\n')
    for name, path in zip(names, files):
        data = open(path, "rb").read()
        c.write('    {"%s", (const char[]){' % name)
        c.write(",".join(str(b if b < 128 else b - 256) for b in data + b"\0"))
        c.write("}, %d},\n" % len(data))
    c.write("};\nconst size_t share_n_files = %d;\n" % len(files))
