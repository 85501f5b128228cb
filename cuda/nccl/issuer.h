#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/accelerator_backend.h"

namespace trigram::cuda {

/// The only thread of a rank that calls NCCL. It is needed because several threads cannot safely
/// issue NCCL operations to one device, and because the operations of all streams of a rank must be
/// issued in one order. At regular intervals, the thread also checks the communicators for
/// asynchronous errors.
class Issuer {
 public:
  using Call = std::function<void()>;
  /// `poll` is called periodically on the issuing thread, and checks for errors. If it throws,
  /// every later call of run() throws that error.
  Issuer(int device, Call poll);
  /// Ends the thread. If a call does not return within `kShutdownTimeout`, ends the process: such a
  /// thread cannot be ended, and the memory that it uses cannot be freed.
  ~Issuer();
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  /// Runs `call`, which must own everything it uses, on the issuing thread and waits for it.
  /// Rethrows its exception.
  void run(Waiter& waiter, const Wait& why, Call call);
  /// Runs a call that may take long because other ranks have to start. Throws HangError, which
  /// names `what`, if `ended` is still false after two minutes.
  void run_with_timeout(Waiter& waiter, const Wait& why, const std::string& what, Call call,
                        const std::function<bool()>& ended);
  /// Runs `call` on the issuing thread without waiting. Its exceptions are lost.
  void post(Call call) noexcept;
  /// Throws the error of a failed poll, if there is one.
  void check();

 private:
  struct Job {
    Call call;
    std::exception_ptr error;
    std::atomic<bool> done = false;
  };
  std::shared_ptr<Job> enqueue(Call call);
  void work(int device) noexcept;
  void poll_now() noexcept;

  const Call poll_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::exception_ptr failure_;
  bool closing_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace trigram::cuda
