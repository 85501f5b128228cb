#pragma once

/// NVTX ranges; the emulation only tracks their nesting depth.

namespace cuda_emulation {
inline thread_local int nvtx_depth = 0;
}

inline int nvtxRangePushA(const char*) { return cuda_emulation::nvtx_depth++; }
inline int nvtxRangePop() { return --cuda_emulation::nvtx_depth; }
