#include "tests/cuda_emulation/async_copies.h"

#include <cstring>
#include <utility>

#include "tests/cuda_emulation/block.h"
#include "tests/cuda_emulation/cuda_pipeline_primitives.h"

namespace cuda_emulation {

void AsyncCopies::commit() { groups_.push_back(std::exchange(open_, {})); }

void AsyncCopies::finish_all_but(std::size_t groups) {
  if (groups_.size() <= groups) return;
  const auto end = groups_.end() - static_cast<std::ptrdiff_t>(groups);
  for (auto group = groups_.begin(); group != end; ++group)
    for (const Copy& copy : *group) std::memcpy(copy.to, copy.from, copy.nbytes);
  groups_.erase(groups_.begin(), end);
}

}  // namespace cuda_emulation

void __pipeline_memcpy_async(void* to, const void* from, std::size_t nbytes) {
  cuda_emulation::self().copies.add(to, from, nbytes);
}

void __pipeline_commit() { cuda_emulation::self().copies.commit(); }

void __pipeline_wait_prior(std::size_t groups) {
  cuda_emulation::self().copies.finish_all_but(groups);
}
