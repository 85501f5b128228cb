#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nccl_emulation {

/// The thread that moves data while operations wait; NCCL also needs no call to do so. It advances
/// the emulated GPU slowly, so that queued work still runs late, as in the rest of the emulation.
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
