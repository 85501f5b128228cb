#pragma once

#include <cstddef>

/// Asynchronous copies from global to shared memory. The emulation performs them as late as
/// possible: until the thread has waited for a copy, its destination does not have the data.

void __pipeline_memcpy_async(void* to, const void* from, std::size_t nbytes);
void __pipeline_commit();
/// Returns when all groups except the last `groups` have been copied.
void __pipeline_wait_prior(std::size_t groups);
