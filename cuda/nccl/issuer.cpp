#include "cuda/nccl/issuer.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cuda/support/error.h"

namespace trigram::cuda {
namespace {

constexpr std::chrono::milliseconds kPollEvery{100};
constexpr std::chrono::seconds kShutdownTimeout{20};
constexpr std::chrono::seconds kStartUpTimeout{120};
constexpr int kWatchdogExit = 124;

}  // namespace

Issuer::Issuer(int device, Call poll) : poll_(std::move(poll)) {
  thread_ = std::thread([this, device] { work(device); });
}

Issuer::~Issuer() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  if (!changed_.wait_for(lock, kShutdownTimeout, [this] { return ended_; })) {
    std::fputs("trigram: a call of NCCL does not return; this process ends\n", stderr);
    std::_Exit(kWatchdogExit);
  }
  lock.unlock();
  thread_.join();
}

std::shared_ptr<Issuer::Job> Issuer::enqueue(Call call) {
  auto job = std::make_shared<Job>();
  job->call = std::move(call);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  changed_.notify_all();
  return job;
}

void Issuer::run(Waiter& waiter, const Wait& why, Call call) {
  check();
  const auto job = enqueue(std::move(call));
  waiter.await(why, [&] { return job->done.load(std::memory_order_acquire); });
  if (job->error) std::rethrow_exception(job->error);
}

void Issuer::run_with_timeout(Waiter& waiter, const Wait& why, const std::string& what, Call call,
                              const std::function<bool()>& ended) {
  check();
  const auto job = enqueue(std::move(call));
  const auto deadline = std::chrono::steady_clock::now() + kStartUpTimeout;
  waiter.await(why, [&] {
    if (std::chrono::steady_clock::now() > deadline)
      throw HangError(fmt::format("{} has not ended after {} s", what, kStartUpTimeout.count()));
    if (!job->done.load(std::memory_order_acquire)) return false;
    if (job->error) std::rethrow_exception(job->error);
    return ended();
  });
}

void Issuer::post(Call call) noexcept { enqueue(std::move(call)); }

void Issuer::check() {
  std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void Issuer::work(int device) noexcept {
  std::unique_lock lock(mutex_);
  try {
    cuda::check(cudaSetDevice(device), "cudaSetDevice");
  } catch (...) {
    failure_ = std::current_exception();
  }
  auto next_poll = std::chrono::steady_clock::now() + kPollEvery;
  for (;;) {
    const bool woken =
        changed_.wait_until(lock, next_poll, [this] { return closing_ || !jobs_.empty(); });
    if (woken && jobs_.empty()) break;
    if (const auto now = std::chrono::steady_clock::now(); now >= next_poll) {
      next_poll = now + kPollEvery;
      lock.unlock();
      poll_now();
      lock.lock();
    }
    if (jobs_.empty()) continue;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      job->call();
    } catch (...) {
      job->error = std::current_exception();
    }
    job->call = nullptr;  // destroys everything that the call owns before the job is done
    job->done.store(true, std::memory_order_release);
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
}

void Issuer::poll_now() noexcept {
  try {
    poll_();
  } catch (...) {
    std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

}  // namespace trigram::cuda
