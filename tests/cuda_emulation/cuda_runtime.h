#pragma once

/// The part of the CUDA runtime that the project uses, on the host: what the same sources are
/// compiled against where tests are to run without a GPU. See README.md beside this file for what
/// such tests find and what they cannot.

#include "tests/cuda_emulation/device_builtins.h"
#include "tests/cuda_emulation/device_math.h"
#include "tests/cuda_emulation/host_api.h"
#include "tests/cuda_emulation/launch_api.h"
#include "tests/cuda_emulation/vector_types.h"
