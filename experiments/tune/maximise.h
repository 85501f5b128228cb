#pragma once

#include <functional>

#include "experiments/tune/search_space.h"

namespace trigram {

/// A function on the unit cube.
using CubeFunction = std::function<double(const Position&)>;

// Maximisation without derivatives by NLopt (https://nlopt.readthedocs.io). Both functions are
// deterministic.

/// A local maximum near `start`, by the subplex algorithm (nlopt::LN_SBPLX).
Position climb(const CubeFunction& function, const Position& start, int evaluations);

/// The largest value that the dividing-rectangles algorithm (nlopt::GN_DIRECT_L) finds, improved by
/// `climb`.
Position search_cube(const CubeFunction& function, std::size_t dimensions, int evaluations);

}  // namespace trigram
