#pragma once
#include <torch/all.h>

#define TINY_CASES(...)                                  \
    AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) \
    AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)

#define TINY_DISPATCH(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, TINY_CASES(__VA_ARGS__))
