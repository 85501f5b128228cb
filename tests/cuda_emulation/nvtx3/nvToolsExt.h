#pragma once

/// NVTX ranges; the emulation only tracks their nesting depth.

int nvtxRangePushA(const char* message);
int nvtxRangePop();
