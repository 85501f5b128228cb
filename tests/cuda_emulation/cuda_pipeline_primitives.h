#pragma once

#include <cstddef>

/// Copies from global to shared memory that run concurrently with the thread. Here they are made as
/// late as possible: data for which the thread has not waited are not there.

void __pipeline_memcpy_async(void* to, const void* from, std::size_t nbytes);
void __pipeline_commit();
/// Returns when all groups except the last `groups` have been copied.
void __pipeline_wait_prior(std::size_t groups);
