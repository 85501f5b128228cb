#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nccl_emulation {

/// NCCL moves data on its own. So does a thread here, as long as operations wait: it makes the
/// emulated GPU go on, slowly, so that the emulation remains as lazy as it can be.
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
