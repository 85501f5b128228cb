#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "core/device/host_device.h"
#include "core/device/null_device.h"

namespace trigram::test {

/// A stream without a world. It adds up the seconds of computation, which are its clock, and
/// records all charges.
class RecordingStream : public Stream {
 public:
  std::string_view name() const override { return "recording"; }
  double now() const override { return computed_s; }
  void sleep_for(double) override {}
  void charge(const Cost& cost) override { charged.push_back(cost); }
  void compute(double seconds) override {
    computed_s += seconds;
    ++computations;
  }
  std::unique_ptr<Stream> fork(const std::string&) override { return nullptr; }
  OneWay fork_one_way(const std::string&) override { return {}; }
  std::shared_ptr<Work> submit(const Context&, Task) override { return nullptr; }
  void wait(Work&) override {}
  void synchronize() override {}
  std::unique_ptr<Mutex> make_mutex() override { return nullptr; }

  double computed_s = 0;
  int computations = 0;
  std::vector<Cost> charged;
};

/// A rank without a world, sufficient for a workload, which computes but does not communicate.
struct LoneRank {
  explicit LoneRank(Device& d, int rank = 0, int ranks = 1) {
    ctx.stream = &stream;
    ctx.device = &d;
    ctx.world_rank = rank;
    ctx.world_size = ranks;
  }
  LoneRank(const LoneRank&) = delete;
  LoneRank& operator=(const LoneRank&) = delete;

  RecordingStream stream;
  Context ctx;
};

}  // namespace trigram::test
