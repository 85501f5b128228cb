#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nccl_emulation {

/// NCCL moves data on its own. Here a thread does this while operations wait. It advances the
/// emulated GPU slowly, so that the emulation remains as lazy as possible.
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
