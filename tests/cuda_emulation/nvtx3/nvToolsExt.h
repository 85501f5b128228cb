#pragma once

/// NVTX ranges, of which nothing is seen here but how deep they are nested.

int nvtxRangePushA(const char* message);
int nvtxRangePop();
