#pragma once

/// The part of the CUDA runtime that the project uses, implemented on the host. The same sources
/// compile against it for tests without a GPU. The README.md beside this file states which errors
/// such tests can find.

#include "tests/cuda_emulation/device_builtins.h"
#include "tests/cuda_emulation/device_math.h"
#include "tests/cuda_emulation/host_api.h"
#include "tests/cuda_emulation/launch_api.h"
#include "tests/cuda_emulation/vector_types.h"
