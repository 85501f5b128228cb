#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>

namespace cuda_emulation {

/// A separate stack. A function runs on it until it yields to the code that has resumed it. Only
/// one fibre runs at a time.
class Fibre {
 public:
  Fibre();
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  /// Sets the body that the next resume starts. An earlier body is abandoned, however far it has
  /// run.
  void set(std::function<void()> body);
  /// Runs until the body yields or returns. Returns true if the body has returned.
  bool resume();
  /// Returns control to the code that resumed the running fibre.
  void yield();

 private:
  static void enter(boost::context::detail::transfer_t from);
  void switch_stacks(bool into);

  static constexpr std::size_t kStackBytes = 128 << 10;
  std::byte* memory_;  // a guard page, then the stack
  std::function<void()> body_;
  bool returned_ = false;
  /// Context of the side that is not running.
  boost::context::detail::fcontext_t suspended_ = nullptr;
  // State for the sanitizers.
  void* fake_stack_inside_ = nullptr;
  void* fake_stack_outside_ = nullptr;
  const void* stack_outside_ = nullptr;
  std::size_t stack_outside_bytes_ = 0;
  void* tsan_inside_ = nullptr;
  void* tsan_outside_ = nullptr;
};

}  // namespace cuda_emulation
