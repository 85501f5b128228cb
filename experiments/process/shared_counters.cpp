#include "experiments/process/shared_counters.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace trigram {

static_assert(std::atomic<long>::is_always_lock_free, "processes share no locks");

SharedCounters::SharedCounters(std::size_t count) : count_(std::max<std::size_t>(count, 1)) {
  void* memory = mmap(nullptr, count_ * sizeof(std::atomic<long>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "cannot share memory");
  counters_ = static_cast<std::atomic<long>*>(memory);
  for (std::size_t i = 0; i < count_; ++i) new (counters_ + i) std::atomic<long>(0);
}

SharedCounters::~SharedCounters() { munmap(counters_, count_ * sizeof(std::atomic<long>)); }

}  // namespace trigram
