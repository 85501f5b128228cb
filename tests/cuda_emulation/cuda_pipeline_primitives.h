#pragma once

#include <cstddef>

/// Copies from global to shared memory that go on while the thread does. Here they are late: what
/// is not waited for is not there.

void __pipeline_memcpy_async(void* to, const void* from, std::size_t nbytes);
void __pipeline_commit();
/// Returns when all groups but the last `groups` have been copied.
void __pipeline_wait_prior(std::size_t groups);
