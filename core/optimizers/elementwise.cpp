#include "core/optimizers/rule_optimizer.h"

namespace trigram {
namespace {

struct RmsPropOptions {
  double lr = 1e-3;
  double alpha = 0.9;
  double eps = 1e-8;
  double weight_decay = 0;
  Schedule schedule;
  RmsPropStep rule(float rate, long /*steps*/) const {
    return {.lr = rate,
            .decay = static_cast<float>(alpha),
            .eps = static_cast<float>(eps),
            .weight_decay = static_cast<float>(weight_decay)};
  }
};

struct AdagradOptions {
  double lr = 1e-2;
  double eps = 1e-10;
  double weight_decay = 0;
  Schedule schedule;
  AdagradStep rule(float rate, long /*steps*/) const {
    return {.lr = rate,
            .eps = static_cast<float>(eps),
            .weight_decay = static_cast<float>(weight_decay)};
  }
};

struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  Schedule schedule;
  LionStep rule(float rate, long /*steps*/) const {
    return {.lr = rate,
            .beta1 = static_cast<float>(beta1),
            .beta2 = static_cast<float>(beta2),
            .weight_decay = static_cast<float>(weight_decay)};
  }
};

constexpr double kDecayBelowOne = 0.9999999;
constexpr const char* kDecayInGradient = "weight_decay times the weight is added to its gradient";

}  // namespace

OptimizerEntry rmsprop_entry() {
  using O = RmsPropOptions;
  auto fields =
      FieldTable<O>{}
          .field("lr", &O::lr, number(0, 1e6), "learning rate")
          .field("alpha", &O::alpha, number(0, kDecayBelowOne), "decay of the mean of squares")
          .field("eps", &O::eps, number(0, 1), "added to the root of the mean square")
          .field("weight_decay", &O::weight_decay, number(0, 1e6), kDecayInGradient)
          .include(&O::schedule, schedule_fields());
  return rule_optimizer_entry(
      "rmsprop", "RMSprop (Tieleman and Hinton, Neural Networks for Machine Learning, lecture 6.5)",
      std::move(fields), true, OptimizerEntry::Needs::elements);
}

OptimizerEntry adagrad_entry() {
  using O = AdagradOptions;
  auto fields = FieldTable<O>{}
                    .field("lr", &O::lr, number(0, 1e6), "learning rate")
                    .field("eps", &O::eps, number(0, 1), "added to the root of the sum of squares")
                    .field("weight_decay", &O::weight_decay, number(0, 1e6), kDecayInGradient)
                    .include(&O::schedule, schedule_fields());
  return rule_optimizer_entry("adagrad", "Adagrad (Duchi et al., JMLR 12, 2011)", std::move(fields),
                              true, OptimizerEntry::Needs::elements);
}

OptimizerEntry lion_entry() {
  using O = LionOptions;
  auto fields = FieldTable<O>{}
                    .field("lr", &O::lr, number(0, 1e6),
                           "learning rate; every weight moves by it in every step")
                    .field("beta1", &O::beta1, number(0, kDecayBelowOne),
                           "weight of the momentum in the direction of a step")
                    .field("beta2", &O::beta2, number(0, kDecayBelowOne), "decay of the momentum")
                    .field("weight_decay", &O::weight_decay, number(0, 1e6),
                           "each step also shrinks the weight by lr * weight_decay of its value")
                    .include(&O::schedule, schedule_fields());
  return rule_optimizer_entry("lion", "Lion (arXiv 2302.06675)", std::move(fields), false,
                              OptimizerEntry::Needs::elements);
}

}  // namespace trigram
