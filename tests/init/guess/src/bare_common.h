// What bare.cuh works behind.
#pragma once
#define GROUP 64
