#include "tests/cuda_emulation/fibre.h"

#include <sys/mman.h>

#include <new>
#include <utility>

// Code that switches stacks must tell the sanitizers, if one is linked.
extern "C" {  // NOLINTBEGIN(bugprone-reserved-identifier)
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom,
                                                  std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old,
                                                   std::size_t* size_old);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin, std::size_t size);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}  // NOLINTEND(bugprone-reserved-identifier)

namespace cuda_emulation {
namespace {
constexpr std::size_t kGuardBytes = 4096;
}

Fibre::Fibre() {
  void* mapped = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(mapped);
  mprotect(memory_, kGuardBytes, PROT_NONE);
  if (__tsan_create_fiber) tsan_inside_ = __tsan_create_fiber(0);
}

Fibre::~Fibre() {
  if (tsan_inside_) __tsan_destroy_fiber(tsan_inside_);
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Fibre::set(std::function<void()> body) {
  body_ = std::move(body);
  returned_ = false;
  fake_stack_inside_ = nullptr;
  // Unpoisons the frames of an abandoned body.
  if (__asan_unpoison_memory_region) {
    __asan_unpoison_memory_region(memory_ + kGuardBytes, kStackBytes);
  }
  suspended_ = boost::context::detail::make_fcontext(memory_ + kGuardBytes + kStackBytes,
                                                     kStackBytes, &Fibre::enter);
}

void Fibre::enter(boost::context::detail::transfer_t from) {
  auto* const self = static_cast<Fibre*>(from.data);
  self->suspended_ = from.fctx;
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(nullptr, &self->stack_outside_, &self->stack_outside_bytes_);
  }
  self->body_();
  self->returned_ = true;
  self->yield();
}

bool Fibre::resume() {
  switch_stacks(true);
  return returned_;
}

void Fibre::yield() { switch_stacks(false); }

void Fibre::switch_stacks(bool into) {
  void** const fake_stack = into ? &fake_stack_outside_ : &fake_stack_inside_;
  if (__sanitizer_start_switch_fiber) {
    // A finished fibre keeps no fake stack.
    __sanitizer_start_switch_fiber(!into && returned_ ? nullptr : fake_stack,
                                   into ? memory_ + kGuardBytes : stack_outside_,
                                   into ? kStackBytes : stack_outside_bytes_);
  }
  if (__tsan_switch_to_fiber) {
    if (into) tsan_outside_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(into ? tsan_inside_ : tsan_outside_, 0);
  }
  suspended_ = boost::context::detail::jump_fcontext(suspended_, this).fctx;
  if (__sanitizer_finish_switch_fiber) {
    __sanitizer_finish_switch_fiber(*fake_stack, into ? nullptr : &stack_outside_,
                                    into ? nullptr : &stack_outside_bytes_);
  }
}

}  // namespace cuda_emulation
