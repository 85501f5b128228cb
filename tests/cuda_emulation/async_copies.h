#pragma once

#include <cstddef>
#include <vector>

namespace cuda_emulation {

/// The copies that a thread has requested, in groups. A copy is made as late as allowed; copies
/// that belong to no group are never made.
class AsyncCopies {
 public:
  void add(void* to, const void* from, std::size_t nbytes) { open_.push_back({to, from, nbytes}); }
  void commit();
  /// Makes the copies of all groups except the last `groups`.
  void finish_all_but(std::size_t groups);

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t nbytes;
  };
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;
};

}  // namespace cuda_emulation
