#pragma once

#include <atomic>
#include <cstddef>

namespace trigram {

/// Counters that forked children write and their parent reads.
class SharedCounters {
 public:
  explicit SharedCounters(std::size_t count);
  ~SharedCounters();
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;

  std::atomic<long>& operator[](std::size_t i) { return counters_[i]; }

 private:
  std::size_t count_;
  std::atomic<long>* counters_;
};

}  // namespace trigram
