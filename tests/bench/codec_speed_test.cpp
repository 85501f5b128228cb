// The speed of codecs as a ratio to memcpy of the same floats.

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

/// The shortest of several times.
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

constexpr int kRounds = 20, kMaxRounds = 400;

/// The ratios of encoding and decoding to memcpy, from the shortest times of at most `max_rounds`
/// rounds. The three measurements take turns, so that a slow period of the machine affects them
/// all. After kRounds rounds, the measurement ends when the ratios reach `required`.
std::pair<double, double> ratios_to_memcpy(const Speed& required, int max_rounds) {
  CodecSpeed speed(required.spec);
  Best copy, encode, decode;
  const auto ratio = [&](const Best& best) { return copy.seconds() / best.seconds(); };
  for (int i = 0; i < max_rounds; ++i) {
    copy.time([&] { speed.copy(); });
    encode.time([&] { speed.encode(); });
    decode.time([&] { speed.decode(); });
    if (i >= kRounds && ratio(encode) >= required.encode && ratio(decode) >= required.decode) break;
  }
  return {ratio(encode), ratio(decode)};
}

class CodecSpeedTest : public ::testing::TestWithParam<Speed> {};

TEST_P(CodecSpeedTest, HasTheRequiredRatioToMemcpyWithAvx2OrBetter) {
  const Speed& required = GetParam();
  bool best = true;  // the best instruction set, which codecs use on this machine, comes first
  for_each_vector_target([&](const std::string& target) {
    if (target == "SCALAR") return;  // the fallback for processors older than SSSE3
    const auto [encode, decode] = ratios_to_memcpy(required, best ? kMaxRounds : kRounds);
    std::printf("%-8s encode %.2f, decode %.2f x memcpy\n", target.c_str(), encode, decode);
    if (!std::exchange(best, false) || !target.starts_with("AVX")) return;
    EXPECT_GE(encode, required.encode) << target;
    EXPECT_GE(decode, required.decode) << target;
  });
}

const Speed kSpeeds[] = {
    {{"minmax_uint8"}, 0.6, 0.9}, {{"fp16"}, 0.8, 0.8}, {{"bf16"}, 0.8, 0.8},
    {{"sign"}, 0.8, 0.8},         {{"qsgd"}, 0.2, 0.5}, {{"topk"}, 0.15, 0.25},
};

INSTANTIATE_TEST_SUITE_P(Codecs, CodecSpeedTest, ::testing::ValuesIn(kSpeeds),
                         [](const auto& tested) { return tested.param.spec.name; });

}  // namespace
}  // namespace trigram::test::codec_speed_test
