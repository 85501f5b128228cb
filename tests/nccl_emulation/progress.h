#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nccl_emulation {

/// A thread that advances queued operations, because NCCL also transfers data without further calls
/// of the host. It advances the emulated GPU slowly, so that queued work still runs late, as in the
/// rest of the emulation.
class Progress {
 public:
  static Progress& get();
  ~Progress();
  void operation_queued();
  void operation_done();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace nccl_emulation
