// The simulator against SimGrid's own MPI: the same collective on the same network, in one run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bench/ring_speed.h"

namespace trigram::test {
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
    // A route passes two links.
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

  /// Processor time of the whole program, and what it says that it simulated.
  RingRun allreduces(int times) const {
    // The network model that runtime/sim calls alpha_beta, every message a rendezvous, and nothing
    // charged for computation; SMPI's ring is called lr.
    const std::vector<std::string> settings = {
        "network/model:CM02",           "network/TCP-gamma:1e20",
        "network/crosstraffic:0",       "network/weight-S:0",
        "network/latency-factor:1",     "network/bandwidth-factor:1",
        "smpi/async-small-thresh:0",    "smpi/send-is-detached-thresh:0",
        "smpi/simulate-computation:no", "smpi/allreduce:lr",
        "contexts/factory:raw"};
    const std::string command = fmt::format(
        "{} -np {} -hostfile {}/hosts -platform {}/platform.xml --cfg={} --log=root.thresh:error "
        "{} {} {} 2>&1",
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

TEST(SmpiSpeed, RingAllreducesAreFasterAndTakeTheSameSimulatedTime) {
  constexpr int kFew = 2, kMany = 12;
  const Cluster cluster = ring_cluster(kRanks);
  const SmpiPlatform platform(cluster);
  // What starting takes is in both, and not in their difference.
  const RingRun few = platform.allreduces(kFew), many = platform.allreduces(kMany);
  const double smpi_s = (many.cpu_s - few.cpu_s) / (kMany - kFew);
  const double smpi_simulated_s = (many.simulated_s - few.simulated_s) / (kMany - kFew);

  const auto measured = [&](SimOptions::Fidelity fidelity) {
    RingRun run = run_ring(cluster, {kNumel, true, kMany}, {.fidelity = fidelity});
    run.cpu_s /= kMany;
    run.simulated_s /= kMany;
    return run;
  };
  const RingRun message = measured(SimOptions::Fidelity::message);
  const RingRun fluid = measured(SimOptions::Fidelity::fluid);
  fmt::print(stderr, "SMPI {:.1f} ms, messages {:.1f} ms ({:.1f} x), flows {:.3f} ms ({:.0f} x)\n",
             1e3 * smpi_s, 1e3 * message.cpu_s, smpi_s / message.cpu_s, 1e3 * fluid.cpu_s,
             smpi_s / fluid.cpu_s);
  EXPECT_GE(smpi_s, 2 * message.cpu_s);
  EXPECT_GE(smpi_s, 50 * fluid.cpu_s);
  EXPECT_NEAR(message.simulated_s, smpi_simulated_s, 0.005 * smpi_simulated_s);
  EXPECT_NEAR(fluid.simulated_s, smpi_simulated_s, 0.005 * smpi_simulated_s);
}

}  // namespace
}  // namespace trigram::test
