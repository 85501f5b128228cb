#include <nvtx3/nvToolsExt.h>

namespace {
thread_local int depth = 0;
}

int nvtxRangePushA(const char*) { return depth++; }
int nvtxRangePop() { return --depth; }
