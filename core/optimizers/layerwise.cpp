#include "core/optimizers/rule_optimizer.h"

namespace trigram {
namespace {

struct LambOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 0.01;
  Schedule schedule;
  LambStep rule(float rate, long steps) const {
    return {.lr = rate,
            .beta1 = static_cast<float>(beta1),
            .beta2 = static_cast<float>(beta2),
            .eps = static_cast<float>(eps),
            .correction1 = static_cast<float>(bias_correction(beta1, steps)),
            .correction2 = static_cast<float>(bias_correction(beta2, steps)),
            .weight_decay = static_cast<float>(weight_decay)};
  }
};

struct LarsOptions {
  double lr = 1;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  double coefficient = 1e-3;
  Schedule schedule;
  LarsStep rule(float rate, long /*steps*/) const {
    return {.lr = rate,
            .momentum = static_cast<float>(momentum),
            .weight_decay = static_cast<float>(weight_decay),
            .coefficient = static_cast<float>(coefficient)};
  }
};

constexpr double kBetaBelowOne = 0.9999999;

}  // namespace

OptimizerEntry lamb_entry() {
  using O = LambOptions;
  auto fields =
      FieldTable<O>{}
          .field("lr", &O::lr, number(0, 1e6), "learning rate")
          .field("beta1", &O::beta1, number(0, kBetaBelowOne), "decay of the mean of gradients")
          .field("beta2", &O::beta2, number(0, kBetaBelowOne), "decay of the mean of squares")
          .field("eps", &O::eps, number(0, 1), "added to the root of the mean square")
          .field("weight_decay", &O::weight_decay, number(0, 1e6),
                 "weight_decay times the weight is added to its update, before the norm is taken")
          .include(&O::schedule, schedule_fields());
  return rule_optimizer_entry(
      "lamb", "Adam whose update of a tensor is as long as the tensor, times lr (arXiv 1904.00962)",
      std::move(fields), true, OptimizerEntry::Needs::tensors);
}

OptimizerEntry lars_entry() {
  using O = LarsOptions;
  auto fields =
      FieldTable<O>{}
          .field("lr", &O::lr, number(0, 1e6), "learning rate of all tensors together")
          .field("momentum", &O::momentum, number(0, 1),
                 "share of the previous update that is kept")
          .field("weight_decay", &O::weight_decay, number(0, 1e6),
                 "weight_decay times the weight is added to its gradient; not for biases")
          .field("coefficient", &O::coefficient, number(0, 1e6),
                 "length of a tensor's update over that of the tensor, before lr and momentum; "
                 "biases are updated as by sgd")
          .include(&O::schedule, schedule_fields());
  return rule_optimizer_entry(
      "lars", "SGD with momentum and a learning rate for each tensor by norms (arXiv 1708.03888)",
      std::move(fields), false, OptimizerEntry::Needs::tensors);
}

}  // namespace trigram
