#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "core/device/host_device.h"
#include "core/workloads/quadratic.h"
#include "tests/support/training.h"

// The distance from the optimum of least squares that centralised and wait-avoiding methods reach.
// A method whose loss of information vanishes with the gradients finds the optimum; any other
// method ends at a distance that depends on the learning rate.

namespace trigram::test::quadratic_convergence_test {
namespace {

constexpr int kRanks = 8;
const QuadraticOptions kProblem{.dimension = 40, .condition = 3};

/// A run, without its seed.
struct Case {
  std::string name;
  Json algorithm;
  double lr = 0.1;
  double heterogeneity = 0, noise = 0;
  Json optimizer = {{"name", "sgd"}};
  long steps = 400;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// The distance of the worker that is farthest from the optimum, if all start at a distance of 1.
double distance(const Case& c, std::uint64_t seed = 7) {
  Training training;
  training.algorithm = c.algorithm;
  training.workload = {{"name", "quadratic"},
                       {"dimension", kProblem.dimension},
                       {"condition", kProblem.condition},
                       {"heterogeneity", c.heterogeneity},
                       {"noise", c.noise}};
  training.cluster = small_cluster(kRanks);
  training.cluster.accelerator.flops_per_s = 5e6;  // gradients take longer than messages
  training.optimizer = c.optimizer;
  training.optimizer["lr"] = c.lr;
  training.steps = c.steps;
  training.seed = seed;
  const Trained trained = train(training);
  HostDevice host;
  const Quadratic model(host, kProblem, {0, kRanks, seed});
  double start = 0, farthest = 0;
  for (const float x : model.optimum()) start += double{x} * double{x};
  for (const auto& weights : trained.weights) {
    double squares = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      squares += std::pow(double{weights[i]} - double{model.optimum()[i]}, 2);
    farthest = std::max(farthest, std::sqrt(squares / start));
  }
  return trained.weights.size() == kRanks ? farthest : INFINITY;
}

/// The root mean square over some seeds.
double mean_distance(const Case& c) {
  constexpr std::uint64_t kSeeds = 4;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    squares += std::pow(distance(c, seed), 2) / kSeeds;
  return std::sqrt(squares);
}

/// The ratio of the final distance with a quarter of the learning rate to that with the whole rate.
double ratio_with_quarter_lr(Case c) {
  const double before = mean_distance(c);
  c.lr /= 4;
  c.steps *= 3;
  return mean_distance(c) / before;
}

const Json kLocalSgd = {{"name", "local_sgd"}, {"sync_every", 4}};
const Json kWagma = {{"name", "wagma"}, {"tau", 4}, {"group_size", 2}};
const Json kWagmaCoded = {{"name", "wagma"}, {"tau", 4}, {"codec", "minmax_uint8"}};
const Json kSolo = {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 4}};
const Json kMajority = {{"name", "eager_sgd"}, {"mode", "majority"}, {"sync_every", 4}};
const Json kPowerSgd = {{"name", "powersgd"}, {"rank", 1}};
const Json kTopK = {{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 0.1}}}};
const Json kEf21 = {{"name", "ef21"}, {"codec", {{"name", "topk"}, {"density", 0.25}}}};
const Json kZeroPlusPlus = {{"name", "zeropp"}, {"error_decay", 0.8}};
const Json kGTopK = {{"name", "gtopk"}, {"density", 0.25}};
const Json kOkTopK = {{"name", "oktopk"}, {"density", 0.25}};
// Ten elements lie in eight regions, unevenly. With a smaller slack, errors would be up to twice as
// large and less regular.
const Json kOkTopKWithSlack = {{"name", "oktopk"}, {"density", 0.25}, {"slack", 8}};
const Json kSigns = {{"name", "bytegrad"}, {"codec", "sign"}, {"error_feedback", true}};
const Json kServer = {{"name", "async_parameter_server"}};
const Json kServerTopK = {{"name", "async_parameter_server"},
                          {"codec", {{"name", "topk"}, {"density", 0.25}}}};
const Json kSsp = {{"name", "ssp"}, {"staleness", 2}};
const Json kElastic = {{"name", "easgd"}, {"sync_every", 4}};
const Json kOneBit = {{"name", "onebit_adam"}, {"warmup_steps", 20}};
const Json kZeroOne = {
    {"name", "zeroone_adam"}, {"freeze_step", 60}, {"local_doubling", 40}, {"max_local_steps", 4}};
const Json kQAdam = {{"name", "qadam"}, {"warmup_steps", 20}};
const Json kOneBitSgd = {{"name", "onebit_sgd"}};
const Json kEfSign = {{"name", "ef_signsgd"}};
const Json kTern = {{"name", "terngrad"}};
const Json kDgc = {{"name", "dgc"}, {"density", 0.1}, {"momentum", 0.5}};
const Json kPostLocal = {{"name", "post_local_sgd"}, {"switch_step", 12}, {"sync_every", 4}};
const Json kBmuf = {{"name", "bmuf"}, {"sync_every", 4}};
const Json kDiLoCo = {{"name", "diloco"}, {"sync_every", 4}};
const Json kStreaming = {{"name", "streaming_diloco"}, {"sync_every", 4}, {"outer_lr", 0.7}};
const Json kEager = {{"name", "eager_diloco"}, {"sync_every", 4}};
const Json kCo2 = {{"name", "co2"}, {"sync_every", 4}};
const Json kDiLoCoX = {{"name", "dilocox"},
                       {"sync_every", 4},
                       {"rank", 1},
                       {"outer_momentum", 0.5},
                       {"outer_lr", 0.2}};
const Json kDecoupled = {{"name", "decoupled_diloco"}, {"sync_every", 4}, {"quorum", 0}};
const Json kAsyncDiLoCo = {{"name", "async_diloco"}, {"sync_every", 4}, {"outer_momentum", 0.5}};
const Json kSparse = {
    {"name", "sparseloco"}, {"sync_every", 4}, {"codec", {{"name", "chunk_topk"}, {"keep", 1024}}}};
const Json kNoLoCo = {{"name", "noloco"}, {"sync_every", 4}};
const Json kMomentum = {{"name", "sgd"}, {"momentum", 0.5}};
constexpr double kSumLr = 0.1 / kRanks;  // for methods that add up updates

const auto name_of = [](const auto& tested) { return tested.param.name; };

/// The loss of a code is proportional to the encoded vector, so it vanishes with the gradients.
/// Late contributions equal contributions in time once the models have converged. If the objectives
/// of ranks differ, their gradients do not vanish, but the mean gradient does.
class Exact : public ::testing::TestWithParam<Case> {};
TEST_P(Exact, FindsTheOptimum) { EXPECT_LT(distance(GetParam()), 1e-3); }
INSTANTIATE_TEST_SUITE_P(
    Agreeing, Exact,
    ::testing::Values(Case{"bytegrad", {{"name", "bytegrad"}}}, Case{"qsgd", {{"name", "qsgd"}}},
                      Case{"zeropp", kZeroPlusPlus}, Case{"ef21", kEf21}, Case{"topk", kTopK},
                      Case{"gtopk", kGTopK}, Case{"oktopk", kOkTopK}, Case{"sign", kSigns},
                      Case{"terngrad", kTern}, Case{"onebit_sgd", kOneBitSgd},
                      Case{"ef_signsgd", kEfSign}, Case{"dgc", kDgc, 0.05},
                      Case{"gossipgrad", {{"name", "gossipgrad"}}},
                      Case{"streaming_diloco", kStreaming, 0.1, 0, 0, {{"name", "sgd"}}, 800},
                      Case{"eager_diloco", kEager, 0.1, 0, 0, {{"name", "sgd"}}, 800},
                      Case{"co2", kCo2, 0.1, 0, 0, {{"name", "sgd"}}, 800},
                      Case{"dilocox", kDiLoCoX, 0.1, 0, 0, {{"name", "sgd"}}, 800},
                      Case{"decoupled_diloco", kDecoupled}, Case{"async_diloco", kAsyncDiLoCo},
                      Case{"sparseloco", kSparse}, Case{"noloco", kNoLoCo},
                      Case{"sparta", {{"name", "sparta"}}}, Case{"async_server", kServer, kSumLr},
                      Case{"dsgd_aau", {{"name", "dsgd_aau"}}},
                      Case{"swarm_sgd", {{"name", "swarm_sgd"}}},
                      Case{"async_server_topk", kServerTopK, kSumLr}, Case{"ssp", kSsp, kSumLr},
                      Case{"onebit_adam", kOneBit, 0.02, 0, 0, {{"name", "adam"}}, 800},
                      Case{"qadam", kQAdam, 0.02, 0, 0, {{"name", "adam"}}, 800},
                      Case{"zeroone_adam", kZeroOne, 0.02, 0, 0, {{"name", "adam"}}, 800},
                      Case{"onebit_momentum", kOneBit, 0.05, 0, 0, kMomentum}),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Disagreeing, Exact,
    ::testing::Values(Case{"gradient_allreduce", {{"name", "gradient_allreduce"}}, 0.1, 1},
                      Case{"dropcompute", {{"name", "dropcompute"}, {"profile_steps", 0}}, 0.1, 1},
                      Case{"powersgd", kPowerSgd, 0.1, 1}, Case{"ef21", kEf21, 0.1, 1},
                      Case{"local_sgd", kLocalSgd, 0.1, 1},
                      Case{"slowmo", {{"name", "slowmo"}, {"sync_every", 4}}, 0.1, 1},
                      Case{"post_local_sgd", kPostLocal, 0.1, 1},
                      Case{"bmuf", kBmuf, 0.02, 1, 0, {{"name", "sgd"}}, 800},
                      Case{"diloco", kDiLoCo, 0.1, 1, 0, {{"name", "sgd"}}, 800},
                      Case{"easgd", kElastic, 0.1, 1}, Case{"wagma", kWagma, 0.1, 1},
                      Case{"wagma_coded", kWagmaCoded, 0.1, 1}, Case{"eager_solo", kSolo, 0.1, 1},
                      Case{"eager_majority", kMajority, 0.1, 1}),
    name_of);

/// Optimizers whose steps do not vanish with the gradients need a learning rate that does.
class ExactWithDecay : public ::testing::TestWithParam<Case> {};
TEST_P(ExactWithDecay, FindsTheOptimum) {
  Case c = GetParam();
  c.optimizer["decay"] = "cosine";
  c.optimizer["weight_decay"] = 0;
  EXPECT_LT(distance(c), 1e-2);
}
INSTANTIATE_TEST_SUITE_P(
    Optimizers, ExactWithDecay,
    ::testing::Values(
        Case{"rmsprop", {{"name", "gradient_allreduce"}}, 0.05, 1, 0, {{"name", "rmsprop"}}},
        Case{"adagrad", {{"name", "gradient_allreduce"}}, 0.3, 1, 0, {{"name", "adagrad"}}},
        Case{"lion", {{"name", "gradient_allreduce"}}, 0.05, 1, 0, {{"name", "lion"}}},
        Case{"lamb", {{"name", "gradient_allreduce"}}, 0.05, 1, 0, {{"name", "lamb"}}},
        Case{"lars", {{"name", "gradient_allreduce"}}, 5, 1, 0, {{"name", "lars"}}}),
    name_of);

/// If gradients do not vanish, error feedback returns the amounts that codes have held back: the
/// models are off by the learning rate times these amounts.
class FedBack : public ::testing::TestWithParam<Case> {};
TEST_P(FedBack, StaysAwayInProportionToTheLearningRate) {
  EXPECT_LT(mean_distance(GetParam()), 0.15);
  EXPECT_NEAR(ratio_with_quarter_lr(GetParam()), 0.3, 0.1);
}
INSTANTIATE_TEST_SUITE_P(Disagreeing, FedBack,
                         ::testing::Values(Case{"topk", kTopK, 0.1, 1},
                                           Case{"oktopk", kOkTopKWithSlack, 0.1, 1},
                                           Case{"gtopk", kGTopK, 0.1, 1},
                                           Case{"sign", kSigns, 0.1, 1},
                                           Case{"onebit_momentum", kOneBit, 0.05, 1, 0, kMomentum}),
                         name_of);

/// Votes move every element by lr, however small the gradient is. If workers agree, the models end
/// within a few steps of the optimum.
TEST(Majority, StaysAwayByTheLearningRate) {
  const Case votes{"signsgd_majority", {{"name", "signsgd_majority"}}, 0.02};
  EXPECT_LT(mean_distance(votes), 0.03);
  EXPECT_NEAR(ratio_with_quarter_lr(votes), 0.25, 0.1);
}

/// A random loss that is unbiased is averaged over the last 1/lr steps.
TEST(Unbiased, QsgdStaysAwayInProportionToTheRootOfTheLearningRate) {
  const Case qsgd{"qsgd", {{"name", "qsgd"}}, 0.1, 1};
  EXPECT_LT(mean_distance(qsgd), 2e-3);
  EXPECT_NEAR(ratio_with_quarter_lr(qsgd), 0.5, 0.1);
}

/// A loss that is the same in every step is not averaged away.
TEST(Biased, ByteGradStaysAwayByTheStepOfItsCode) {
  const Case bytegrad{"bytegrad", {{"name", "bytegrad"}}, 0.1, 1};
  EXPECT_LT(mean_distance(bytegrad), 2e-3);
  EXPECT_GT(mean_distance(bytegrad), 2e-4);
  EXPECT_GT(ratio_with_quarter_lr(bytegrad), 0.8);
}

/// The final distance of SGD, if each of P gradients has noise of variance 1 in every element.
/// Along a direction of curvature h the variance converges to lr / (P h (2 - lr h)).
double settled(double lr) {
  double variance = 0, start = 0;
  for (std::size_t i = 0; i < kProblem.dimension; ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(kProblem.dimension - 1);
    const double h = 1 / kProblem.condition + (1 - 1 / kProblem.condition) * along;
    variance += lr / (kRanks * h * (2 - lr * h));
    start += 1;  // expected square of an element of the optimum
  }
  return std::sqrt(variance / start);
}

/// However averages are made, and whether workers wait or not, the noise of every gradient enters
/// the mean model once.
class Noisy : public ::testing::TestWithParam<Case> {};
TEST_P(Noisy, SettlesWhereSgdDoes) {
  Case c = GetParam();
  for (const int smaller : {1, 4}) {
    c.lr = GetParam().lr / smaller;
    c.steps = 200 * smaller;
    const bool adds_up =
        c.algorithm.at("name") == "async_parameter_server" || c.algorithm.at("name") == "ssp";
    const double sum_of_lr = adds_up ? kRanks * c.lr : c.lr;
    EXPECT_NEAR(mean_distance(c) / settled(sum_of_lr), 1, 0.2) << "lr " << c.lr;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Agreeing, Noisy,
    ::testing::Values(Case{"gradient_allreduce", {{"name", "gradient_allreduce"}}, 0.1, 0, 1},
                      Case{"qsgd", {{"name", "qsgd"}}, 0.1, 0, 1},
                      Case{"bytegrad", {{"name", "bytegrad"}}, 0.1, 0, 1},
                      Case{"local_sgd", kLocalSgd, 0.1, 0, 1},
                      Case{"post_local_sgd", kPostLocal, 0.1, 0, 1},
                      Case{"wagma", kWagma, 0.1, 0, 1}, Case{"powersgd", kPowerSgd, 0.1, 0, 1},
                      Case{"eager_solo", kSolo, 0.1, 0, 1},
                      Case{"eager_majority", kMajority, 0.1, 0, 1},
                      Case{"async_server", kServer, kSumLr, 0, 1}, Case{"ssp", kSsp, kSumLr, 0, 1}),
    name_of);

}  // namespace
}  // namespace trigram::test::quadratic_convergence_test
