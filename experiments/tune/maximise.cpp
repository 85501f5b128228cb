#include "experiments/tune/maximise.h"

#include <nlopt.hpp>

namespace trigram {
namespace {

double call(const std::vector<double>& position, std::vector<double>&, void* function) {
  return (*static_cast<const CubeFunction*>(function))(position);
}

Position run_nlopt(nlopt::algorithm algorithm, const CubeFunction& function, Position start,
                   int evaluations) {
  nlopt::opt optimiser(algorithm, static_cast<unsigned>(start.size()));
  optimiser.set_lower_bounds(0);
  optimiser.set_upper_bounds(1);
  optimiser.set_max_objective(call, const_cast<CubeFunction*>(&function));
  optimiser.set_maxeval(evaluations);
  optimiser.set_xtol_abs(1e-4);
  double value = 0;
  try {
    optimiser.optimize(start, value);
  } catch (const nlopt::roundoff_limited&) {
    // `start` holds the best position so far.
  }
  return start;
}

}  // namespace

Position climb(const CubeFunction& function, const Position& start, int evaluations) {
  return run_nlopt(nlopt::LN_SBPLX, function, start, evaluations);
}

Position search_cube(const CubeFunction& function, std::size_t dimensions, int evaluations) {
  const Position coarse =
      run_nlopt(nlopt::GN_DIRECT_L, function, Position(dimensions, 0.5), evaluations);
  const Position fine = climb(function, coarse, evaluations / 4);
  return function(fine) > function(coarse) ? fine : coarse;
}

}  // namespace trigram
