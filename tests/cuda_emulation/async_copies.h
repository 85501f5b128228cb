#pragma once

#include <cstddef>
#include <vector>

namespace cuda_emulation {

/// What a thread has asked to be copied, in groups. Nothing is copied before it must be, and what
/// belongs to no group never.
class AsyncCopies {
 public:
  void add(void* to, const void* from, std::size_t nbytes) { open_.push_back({to, from, nbytes}); }
  void commit();
  /// Copies all groups but the last few.
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
