// Codecs keep up with memory: their speed as a ratio to memcpy of the same floats.

#include "tests/bench/codec_speed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "tests/support/vector_targets.h"

namespace trigram::test::codec_speed_test {
namespace {

/// The required speed of a codec as a ratio to memcpy, with the best vector instructions of a
/// machine with AVX2 or better.
struct Speed {
  CodecSpec spec;
  double encode, decode;
};
void PrintTo(const Speed& speed, std::ostream* out) { *out << speed.spec.name; }

class Best {
 public:
  template <class Operation>
  void time(const Operation& operation) {
    const auto begin = std::chrono::steady_clock::now();
    operation();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    seconds_ = std::min(seconds_, taken.count());
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = std::numeric_limits<double>::infinity();
};

// The measurements are interleaved, so that a slow period of the machine affects all three. The
// shortest time of each shows the speed of the code. A busy machine gets more rounds.
constexpr int kRounds = 20, kMoreRounds = 400;

std::pair<double, double> ratios_to_memcpy(const Speed& wanted, int most_rounds) {
  CodecSpeed speed(wanted.spec);
  Best copy, encode, decode;
  const auto ratio = [&](const Best& best) { return copy.seconds() / best.seconds(); };
  for (int i = 0; i < most_rounds; ++i) {
    copy.time([&] { speed.copy(); });
    encode.time([&] { speed.encode(); });
    decode.time([&] { speed.decode(); });
    if (i >= kRounds && ratio(encode) >= wanted.encode && ratio(decode) >= wanted.decode) break;
  }
  return {ratio(encode), ratio(decode)};
}

class CodecSpeedTest : public ::testing::TestWithParam<Speed> {};

TEST_P(CodecSpeedTest, KeepsUpWithMemcpyFromAvx2On) {
  const Speed& wanted = GetParam();
  bool best = true;  // the instructions that codecs use on this machine come first in the list
  for_each_vector_target([&](const std::string& target) {
    if (target == "SCALAR") return;  // the fallback for processors older than SSSE3
    const auto [encode, decode] = ratios_to_memcpy(wanted, best ? kMoreRounds : kRounds);
    std::printf("%-8s encode %.2f, decode %.2f x memcpy\n", target.c_str(), encode, decode);
    if (!std::exchange(best, false) || !target.starts_with("AVX")) return;
    EXPECT_GE(encode, wanted.encode) << target;
    EXPECT_GE(decode, wanted.decode) << target;
  });
}

const Speed kSpeeds[] = {
    {{"minmax_uint8"}, 0.6, 0.9}, {{"fp16"}, 0.8, 0.8}, {{"bf16"}, 0.8, 0.8},
    {{"sign"}, 0.8, 0.8},         {{"qsgd"}, 0.2, 0.5}, {{"topk"}, 0.15, 0.3},
};

INSTANTIATE_TEST_SUITE_P(Codecs, CodecSpeedTest, ::testing::ValuesIn(kSpeeds),
                         [](const auto& tested) { return tested.param.spec.name; });

}  // namespace
}  // namespace trigram::test::codec_speed_test
