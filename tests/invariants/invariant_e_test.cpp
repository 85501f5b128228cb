#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/support/training.h"

// Invariant E: repeated runs of an experiment give bitwise the same simulated times and traces,
// which are recorded in tests/golden/. After a change that is meant to change times, record them
// again:
//   TRIGRAM_RECORD_GOLDEN=1 ctest -R Golden

namespace trigram::test::invariant_e_test {
namespace {

/// FNV-1a over the reported events, bit by bit.
class Digest {
 public:
  void add(const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      hash_ = (hash_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  }
  template <class T>
  void add(T value) {
    add(&value, sizeof value);
  }
  void add(const Event& e) {
    add(e.kind);
    add(e.rank);
    add(e.stream.data(), e.stream.size());
    add(e.begin_s);
    add(e.end_s);
    add(e.peer);
    add(e.bytes);
    add(e.batch);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// A line of a golden file: the time in seconds at which the last rank ended, and a digest of all
/// events, bitwise.
std::string golden_line(const std::string& name, const Trained& trained) {
  Digest digest;
  for (const auto& events : trained.events)
    for (const Event& event : events) digest.add(event);
  return fmt::format("{} {:a} {:016x}", name, trained.seconds(), digest.value());
}

struct Config {
  std::string name;
  Json workload;
  int nodes, workers;
};

void PrintTo(const Config& config, std::ostream* out) { *out << config.name; }

std::vector<Config> configs() {
  return {
      {"quadratic_6x1",
       {{"name", "quadratic"}, {"dimension", 101}, {"tensors", 5}, {"noise", 0.5}},
       6,
       1},
      {"tiny_profile_2x2", std::string("profile:") + TRIGRAM_TEST_DATA + "/tiny_profile.csv", 2, 2},
      {"vgg16_4x4", "vgg16", 4, 4},
  };
}

Training training_of(const Config& config, const NamedAlgorithm& algorithm) {
  Training training;
  training.algorithm = algorithm.spec;
  training.workload = config.workload;
  training.cluster = small_cluster(config.nodes, config.workers);
  training.cluster.slow_workers = {{1, 1.25}};
  training.events = true;
  return training;
}

class Golden : public ::testing::TestWithParam<Config> {
 protected:
  std::string path() const { return std::string(TRIGRAM_GOLDEN) + "/" + GetParam().name + ".txt"; }
  std::string simulated() const {
    std::string lines;
    for (const NamedAlgorithm& algorithm : every_algorithm()) {
      const Training training = training_of(GetParam(), algorithm);
      if (fits(algorithm, training.cluster))
        lines += golden_line(algorithm.name, train(training)) + "\n";
    }
    return lines;
  }
};

TEST_P(Golden, TimesAndTracesEqualTheRecordedOnes) {
  const std::string lines = simulated();
  if (std::getenv("TRIGRAM_RECORD_GOLDEN")) {
    std::ofstream(path()) << lines;
    GTEST_SKIP() << "recorded " << path();
  }
  std::ifstream file(path());
  ASSERT_TRUE(file) << path();
  std::istringstream now(lines);
  std::string expected, actual;
  while (std::getline(now, actual)) {
    std::getline(file, expected);
    EXPECT_EQ(actual, expected);
  }
  EXPECT_FALSE(std::getline(file, expected)) << "recorded, but no longer run: " << expected;
}

INSTANTIATE_TEST_SUITE_P(Configs, Golden, ::testing::ValuesIn(configs()), TestName{});

class InvariantE : public ::testing::TestWithParam<NamedAlgorithm> {
 protected:
  static Training training() {
    Training training = training_of(configs()[0], GetParam());
    if (!fits(GetParam(), training.cluster)) training.cluster.nodes = 8;
    return training;
  }
};

TEST_P(InvariantE, RepeatedRunsAreBitwiseEqual) {
  const Training training = InvariantE::training();
  const Trained first = train(training), second = train(training);
  EXPECT_EQ(golden_line("", first), golden_line("", second));
  ASSERT_EQ(first.weights.size(), second.weights.size());
  for (std::size_t r = 0; r < first.weights.size(); ++r) {
    ASSERT_EQ(first.weights[r].size(), 101u);
    EXPECT_EQ(std::memcmp(first.weights[r].data(), second.weights[r].data(), 101 * sizeof(float)),
              0);
  }
}

TEST_P(InvariantE, TheSeedChangesTheWeights) {
  Training training = InvariantE::training();
  const Trained first = train(training);
  training.seed += 1;
  EXPECT_NE(first.weights, train(training).weights);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, InvariantE, ::testing::ValuesIn(every_algorithm()),
                         TestName{});

}  // namespace
}  // namespace trigram::test::invariant_e_test
