"""Builds the kernels of this folder."""
WIDTH = 48
FLAGS = ["-O3", f"-DROW_WIDTH={WIDTH}"]
