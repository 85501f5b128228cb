// Compares the simulator with SimGrid's own MPI: the same collective on the same network, in one
// run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bench/sim/ring_speed.h"

namespace trigram::test::smpi_speed_test {
namespace {

constexpr int kRanks = 128;
constexpr std::size_t kNumel = (1u << 20) / sizeof(float);

double cpu_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The platform of a flat cluster, and its hosts, as files.
class SmpiPlatform {
 public:
  explicit SmpiPlatform(const Cluster& cluster)
      : folder_(std::filesystem::temp_directory_path() / fmt::format("trigram-smpi-{}", getpid())) {
    std::filesystem::create_directories(folder_);
    // A route uses two links.
    std::ofstream(folder_ / "platform.xml") << fmt::format(
        R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="flat" prefix="h" suffix="" radical="0-{}" speed="1Gf" bw="{}Bps" lat="{}s"/>
  </zone>
</platform>
)",
        cluster.ranks() - 1, cluster.inter.bandwidth_Bps, cluster.inter.latency_s / 2);
    std::ofstream hosts(folder_ / "hosts");
    for (int rank = 0; rank < cluster.ranks(); ++rank) hosts << 'h' << rank << '\n';
  }
  ~SmpiPlatform() { std::filesystem::remove_all(folder_); }
  SmpiPlatform(const SmpiPlatform&) = delete;
  SmpiPlatform& operator=(const SmpiPlatform&) = delete;

  /// Runs `times` allreduces. Returns the processor time of the whole program, and the simulated
  /// time that it reports.
  RingRun allreduces(int times) const {
    // The settings of the network model that runtime/sim calls alpha_beta, with rendezvous messages
    // only, and without charges for computation. SMPI calls its ring lr.
    const std::vector<std::string> settings = {
        "network/model:CM02",           "network/TCP-gamma:1e20",
        "network/crosstraffic:0",       "network/weight-S:0",
        "network/latency-factor:1",     "network/bandwidth-factor:1",
        "smpi/async-small-thresh:0",    "smpi/send-is-detached-thresh:0",
        "smpi/simulate-computation:no", "smpi/allreduce:lr",
        "contexts/factory:raw"};
    const std::string command = fmt::format(
        "{} -no-privatize -np {} -hostfile {}/hosts -platform {}/platform.xml --cfg={} "
        "--log=root.thresh:error {} {} {} 2>&1",
        TRIGRAM_SMPIRUN, kRanks, folder_.string(), folder_.string(), fmt::join(settings, " --cfg="),
        TRIGRAM_SMPI_ALLREDUCE, kNumel, times);
    const double before_s = cpu_of_children();
    std::FILE* output = popen(command.c_str(), "r");
    std::array<char, 4096> text{};
    const std::size_t length = std::fread(text.data(), 1, text.size() - 1, output);
    EXPECT_EQ(pclose(output), 0) << std::string(text.data(), length);
    return {cpu_of_children() - before_s, std::strtod(text.data(), nullptr), 0};
  }

 private:
  std::filesystem::path folder_;
};

/// Processor time and simulated time of one allreduce, in SMPI and in this project at both
/// fidelities.
struct Measured {
  RingRun smpi, message, fluid;
};

Measured measure() {
  constexpr int kFew = 2, kMany = 12;
  const Cluster cluster = ring_cluster(kRanks);
  const SmpiPlatform platform(cluster);
  const auto per_allreduce = [](RingRun run, int times) {
    return RingRun{run.cpu_s / times, run.simulated_s / times, run.messages / times};
  };
  // Both runs include the start-up, so their difference does not include it.
  const RingRun few = platform.allreduces(kFew), many = platform.allreduces(kMany);
  const auto ours = [&](SimOptions::Fidelity fidelity) {
    return per_allreduce(run_ring(cluster, {kNumel, true, kMany}, {.fidelity = fidelity}), kMany);
  };
  return {
      per_allreduce({many.cpu_s - few.cpu_s, many.simulated_s - few.simulated_s, 0}, kMany - kFew),
      ours(SimOptions::Fidelity::message), ours(SimOptions::Fidelity::fluid)};
}

TEST(SmpiAgreement, RingAllreducesTakeTheSameSimulatedTime) {
  const Measured run = measure();
  EXPECT_NEAR(run.message.simulated_s, run.smpi.simulated_s, 0.005 * run.smpi.simulated_s);
  EXPECT_NEAR(run.fluid.simulated_s, run.smpi.simulated_s, 0.005 * run.smpi.simulated_s);
}

TEST(SmpiSpeed, RingAllreducesAreFaster) {
  // There are several attempts, because other programs that use the caches slow the simulator more
  // than SMPI.
  constexpr int kAttempts = 5;
  double messages_faster = 0, flows_faster = 0;
  for (int i = 0; i < kAttempts && (messages_faster < 2 || flows_faster < 50); ++i) {
    const Measured run = measure();
    const double messages = run.smpi.cpu_s / run.message.cpu_s;
    const double flows = run.smpi.cpu_s / run.fluid.cpu_s;
    fmt::print(
        stderr, "SMPI {:.1f} ms, messages {:.1f} ms ({:.1f} x), flows {:.3f} ms ({:.0f} x)\n",
        1e3 * run.smpi.cpu_s, 1e3 * run.message.cpu_s, messages, 1e3 * run.fluid.cpu_s, flows);
    messages_faster = std::max(messages_faster, messages);
    flows_faster = std::max(flows_faster, flows);
  }
  EXPECT_GE(messages_faster, 2);
  EXPECT_GE(flows_faster, 50);
}

}  // namespace
}  // namespace trigram::test::smpi_speed_test
