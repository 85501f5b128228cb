// Coded averages against their equations, in plain loops, for a few steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "algorithms/execution/averages.h"
#include "core/device/host_device.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kBuckets = 2;
constexpr long kSteps = 3;
constexpr std::size_t kNumel = 43;  // parts differ in length

using Vector = std::vector<float>;

Vector input(int rank, Slot slot) {
  Philox random(1, rank, slot.step * kBuckets + slot.bucket, Purpose::gradient_noise);
  Vector x(kNumel);
  for (float& v : x) v = random.normal();
  return x;
}

/// A vector as its code has it. One coder serves a rank for one bucket in one step.
using Coder = std::function<Vector(const Vector&)>;

/// One bit per element, and the root mean square of all.
Vector plain_sign(const Vector& x) {
  double squares = 0;
  for (const float v : x) squares += double{v} * v;
  const auto scale = static_cast<float>(std::sqrt(squares / static_cast<double>(x.size())));
  Vector decoded;
  for (const float v : x) decoded.push_back(v < 0 ? -scale : scale);
  return decoded;
}

/// The fifth of the elements that is largest in magnitude.
Vector plain_topk(const Vector& x) {
  Vector magnitudes;
  for (const float v : x) magnitudes.push_back(std::abs(v));
  std::sort(magnitudes.rbegin(), magnitudes.rend());
  const float least = magnitudes.at((x.size() + 4) / 5 - 1);
  Vector decoded;
  for (const float v : x) decoded.push_back(std::abs(v) < least ? 0 : v);
  return decoded;
}

/// The codec itself, whose random numbers every rank, bucket and step have of their own. What it
/// does with them is tested with the codecs.
Coder keyed_qsgd(int rank, Slot slot) {
  const auto device = std::make_shared<HostDevice>();
  const std::shared_ptr<Codec> codec =
      device->codec({"qsgd", {{"levels", 7}}}, {kSeed, rank, slot.step * 65536 + slot.bucket});
  return [device, codec](const Vector& x) {
    const Tensor values = device->empty(x.size());
    std::copy(x.begin(), x.end(), values.floats().begin());
    const Tensor wire = codec->empty_wire(*device, values);
    codec->encode(wire, values);
    codec->decode(values, wire);
    return Vector(values.floats().begin(), values.floats().end());
  };
}

struct Method {
  CodecSpec codec;
  std::function<Coder(int rank, Slot slot)> coder;
};
const Method kMethods[] = {
    {{"sign"}, [](int, Slot) { return plain_sign; }},
    {{"topk", {{"density", 0.2}}}, [](int, Slot) { return plain_topk; }},
    {{"qsgd", {{"levels", 7}}}, keyed_qsgd},
};

/// The equations of the two exchanges, with the residuals that they keep.
class Reference {
 public:
  Reference(const Method& method, int ranks, bool feedback)
      : method_(method), ranks_(ranks), feedback_(feedback) {}

  /// mean = sum_r C(x_r + e_r) / P.
  Vector gathered(Slot slot) {
    Vector sum(kNumel, 0);
    for (int rank = 0; rank < ranks_; ++rank)
      add(coded(method_.coder(rank, slot), input(rank, slot), worker_[{rank, slot.bucket, 0}]),
          sum);
    return scaled(sum);
  }

  /// The same for each of P parts, then C(mean + e) by the part's owner, whose coder has coded all
  /// parts of its own vector before.
  Vector scattered(Slot slot) {
    std::vector<Coder> coders;
    std::vector<Vector> means(count());
    for (int part = 0; part < ranks_; ++part)
      means[index(part)].resize(end(part) - end(part - 1), 0);
    for (int rank = 0; rank < ranks_; ++rank) {
      coders.push_back(method_.coder(rank, slot));
      const Vector x = input(rank, slot);
      for (int part = 0; part < ranks_; ++part) {
        const Vector own(x.begin() + end(part - 1), x.begin() + end(part));
        add(coded(coders.back(), own, worker_[{rank, slot.bucket, part}]), means[index(part)]);
      }
    }
    Vector result;
    for (int part = 0; part < ranks_; ++part) {
      const Vector merged =
          coded(coders[index(part)], scaled(means[index(part)]), owner_[{part, slot.bucket, part}]);
      result.insert(result.end(), merged.begin(), merged.end());
    }
    return result;
  }

 private:
  using Residuals = std::map<std::array<int, 3>, Vector>;  // by rank, bucket, part

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::size_t count() const { return index(ranks_); }
  /// Where a part ends.
  std::ptrdiff_t end(int part) const {
    return static_cast<std::ptrdiff_t>(kNumel) * (part + 1) / ranks_;
  }
  Vector coded(const Coder& code, Vector x, Vector& e) const {
    if (!feedback_) return code(x);
    e.resize(x.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += e[i];
    const Vector decoded = code(x);
    for (std::size_t i = 0; i < x.size(); ++i) e[i] = x[i] - decoded[i];
    return decoded;
  }
  static void add(const Vector& x, Vector& sum) {
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
  }
  Vector scaled(Vector sum) const {
    for (float& v : sum) v *= 1.0f / static_cast<float>(ranks_);
    return sum;
  }

  const Method& method_;
  int ranks_;
  bool feedback_;
  Residuals worker_, owner_;
};

class CodedEquations : public WorldTest {
 protected:
  /// Rank 0's results, bucket by bucket in every step, joined.
  Vector results(const std::function<Exchange()>& make) {
    const auto bytes = results_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = make();
      const Tensor x = ctx.device->empty(kNumel);
      std::string all;
      for (long step = 0; step < kSteps; ++step)
        for (int bucket = 0; bucket < kBuckets; ++bucket) {
          const Slot slot{bucket, step};
          const Vector mine = input(ctx.world_rank, slot);
          std::copy(mine.begin(), mine.end(), x.floats().begin());
          average(ctx, x, slot);
          all.append(reinterpret_cast<const char*>(x.data()), x.nbytes());
        }
      return all;
    });
    for (const std::string& other : bytes) EXPECT_EQ(other, bytes.at(0)) << "ranks differ";
    Vector values(kSteps * kBuckets * kNumel);
    std::memcpy(values.data(), bytes.at(0).data(), bytes.at(0).size());
    return values;
  }
};

TEST_P(CodedEquations, HoldStepByStep) {
  for (const Method& method : kMethods)
    for (const bool gathered : {false, true})
      for (const bool feedback : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << method.codec.name << (gathered ? " gathered" : " scattered")
                     << (feedback ? ", feedback" : ""));
        const Coding coding{method.codec, feedback, kSeed};
        const Vector got =
            results([&] { return gathered ? gathered_average(coding) : coded_average(coding); });
        Reference reference(method, ranks(), feedback);
        std::size_t at = 0;
        for (long step = 0; step < kSteps; ++step)
          for (int bucket = 0; bucket < kBuckets; ++bucket)
            for (const float wanted : gathered ? reference.gathered({bucket, step})
                                               : reference.scattered({bucket, step})) {
              EXPECT_NEAR(got[at], wanted, 1e-5) << "step " << step << ", element " << at % kNumel;
              ++at;
            }
      }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedEquations, every_world(4, 8), world_test_name);

}  // namespace
}  // namespace trigram::test
