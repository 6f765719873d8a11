#!/usr/bin/env python3
"""A terminal's screen as a picture: tmux capture-pane -e -p | tools/ansi_svg.py TITLE > screen.svg

Of the escape sequences it knows those of colour and weight, which is all that tmux writes there.
"""

import html
import re
import sys

CELL, LINE, SIZE, PAD = 8.4, 18, 14, 16  # units of the picture
PAPER, INK = "#14181d", "#d5dbe3"
COLOURS = ["#4a5460", "#ff8f85", "#57d189", "#e3c341", "#6cb0ff", "#c89bff", "#5fd7d7", "#d5dbe3",
           "#8b95a1", "#ffb1aa", "#8be6ae", "#f2da7a", "#9ccaff", "#dcc0ff", "#93e8e8", "#ffffff"]


BLOCKS = {"█": 1, "▓": 0.75, "▒": 0.5, "░": 0.25}


def colour(codes):
    """Of 38 or 48 and what follows it; takes that from codes."""
    kind = codes.pop(0)
    if kind == 2:
        return "#%02x%02x%02x" % tuple(codes.pop(0) for _ in range(3))
    n = codes.pop(0)
    if n < 16:
        return COLOURS[n]
    if n >= 232:
        return "#%02x%02x%02x" % ((8 + 10 * (n - 232),) * 3)
    return "#%02x%02x%02x" % tuple(0 if v == 0 else 55 + 40 * v for v in ((n - 16) // 36, (n - 16) // 6 % 6, (n - 16) % 6))


def restyle(style, codes):
    while codes:
        n = codes.pop(0)
        if n == 0:
            style = {}
        elif n in (1, 2, 3, 4, 7):
            style = {**style, n: True}
        elif n in (22, 23, 24, 27):
            style = {k: v for k, v in style.items() if k not in ((1, 2) if n == 22 else (n - 20,))}
        elif n in (38, 48):
            style = {**style, "ink" if n == 38 else "paper": colour(codes)}
        elif n in (39, 49):
            style = {k: v for k, v in style.items() if k != ("ink" if n == 39 else "paper")}
        else:
            for first, name in ((30, "ink"), (40, "paper"), (82, "ink"), (92, "paper")):
                if n - first in (range(8) if first < 82 else range(8, 16)):
                    style = {**style, name: COLOURS[n - first]}
    return style


def draw(text, style, column, row):
    x, y, width = PAD + column * CELL, PAD + row * LINE, len(text) * CELL
    ink, paper = style.get("ink", INK), style.get("paper")
    if 7 in style:
        ink, paper = paper or PAPER, ink
    if paper:
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}" fill="{paper}"/>'
    if text[0] in BLOCKS:  # drawn, since fonts disagree about their size
        yield f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{LINE - 8}" fill="{ink}" opacity="{BLOCKS[text[0]]}"/>'
    elif text.strip():
        more = "".join(value for key, value in ((1, ' font-weight="700"'), (2, ' opacity=".65"'), (3, ' font-style="italic"'),
                                                (4, ' text-decoration="underline"')) if key in style)
        yield (f'<text x="{x:.1f}" y="{y + 13}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs" fill="{ink}"{more}>'
               f'{html.escape(text)}</text>')


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    marks, columns, style = [], 0, {}
    for row, line in enumerate(lines):
        column = 0
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                style = restyle(style, [int(n or 0) for n in part[2:-1].split(";")])
                continue
            for piece in re.findall(r" +|█+|▓+|▒+|░+|[^ █▓▒░]+(?: [^ █▓▒░]+)*", part):  # a gap needs no letters
                marks += draw(piece, style, column, row)
                column += len(piece)
        columns = max(columns, column)
    width, height = columns * CELL + 2 * PAD, len(lines) * LINE + 2 * PAD
    title = html.escape(sys.argv[1] if len(sys.argv) > 1 else "a terminal")
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
          f'role="img" xml:space="preserve" font-size="{SIZE}" '
          f'font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace">\n<title>{title}</title>\n'
          f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>')
    print("\n".join(marks))
    print("</svg>")


main()
