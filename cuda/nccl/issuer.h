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

/// The one thread of a rank that calls NCCL: to issue to one device from several threads is not
/// safe, and the order in which a rank's streams issue is one order. Between calls, and from time
/// to time while there are none, it looks for errors that communicators report on their own.
class Issuer {
 public:
  using Call = std::function<void()>;
  /// `poll` is called on the issuing thread; what it throws ends every later call.
  Issuer(int device, Call poll);
  /// Ends the thread. The process ends if a call does not return within `kPatience`: such a thread
  /// cannot be ended, and what it holds cannot be freed.
  ~Issuer();
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  /// Has the thread make `call`, which must own what it uses, and waits; rethrows what it threw.
  void run(Waiter& waiter, const Wait& why, Call call);
  /// The same for what may take its time, as it waits for other ranks to start. Throws HangError,
  /// naming `what`, when it has not ended after two minutes.
  void run_slowly(Waiter& waiter, const Wait& why, const std::string& what, Call call,
                  const std::function<bool()>& ended);
  /// The same without waiting; what it throws is lost.
  void post(Call call) noexcept;
  /// Throws what the last poll found, if anything.
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
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::exception_ptr failure_;
  bool closing_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace trigram::cuda
