#include <fmt/format.h>

#include "core/config/option_types.h"
#include "core/workloads/entries.h"
#include "core/workloads/pricing.h"
#include "core/workloads/quadratic.h"

namespace trigram {
namespace {

struct Options {
  QuadraticOptions problem;
  Pricing pricing;
};

FieldTable<Options> make_fields() {
  using Q = QuadraticOptions;
  auto problem =
      FieldTable<Q>{}
          .field("dimension", &Q::dimension, count(1, 4096), "number of weights")
          .field("condition", &Q::condition, number(1, 1e6), "condition number of the Hessian")
          .field("noise", &Q::noise, number(0, 1e6),
                 "standard deviation of the noise that is added to each element of a gradient")
          .field("heterogeneity", &Q::heterogeneity, number(0, 1e6),
                 "standard deviation of the elements of b_r - A w*, in which the objectives |A w - "
                 "b_r|^2 / 2 of the ranks differ; 0: all ranks have the same objective")
          .field("tensors", &Q::tensors, count(1, 4096),
                 "number of tensors that the weights are split into");
  return FieldTable<Options>{}
      .include(&Options::problem, problem)
      .include(&Options::pricing, pricing_fields());
}

const FieldTable<Options>& fields() {
  static const FieldTable<Options> made = make_fields();  // built once; sweeps parse many times
  return made;
}

Options parse(const Json& j, const std::string& pointer) {
  Options options = fields().parse(j, pointer);
  const QuadraticOptions& q = options.problem;
  if (q.tensors > q.dimension)
    throw ConfigError(
        child(pointer, "tensors"),
        fmt::format("expected at most the dimension, {}, not {}", q.dimension, q.tensors));
  return options;
}

}  // namespace

WorkloadEntry quadratic_entry() {
  return {
      "quadratic", "least squares with a known optimum, condition number and gradient noise",
      fields().schema(),
      [](const Json& j, const std::string& pointer) { return fields().dump(parse(j, pointer)); },
      [](const Json& resolved, const std::string& pointer) {
        const Options options = parse(resolved, pointer);
        return make_model_workload_factory(std::make_unique<QuadraticFactory>(options.problem),
                                           options.pricing, pointer);
      }};
}

}  // namespace trigram
