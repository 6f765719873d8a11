// A tile of rows, which files include that are not read.
#pragma once

struct RowsOf {
    const float *first;
    int width;

    __device__ float at(int row, int column) const
    {
        return first[row * width + column];
    }
};
