#pragma once

#include <array>
#include <cstddef>

#include "core/update_rules.h"

/// Update rules on plain arrays of n elements, compiled for several vector instruction sets. The
/// best available set is chosen at run time; the results are the same with all of them.
namespace trigram::update_kernels {

/// The addresses of a rule's states; null beyond the number of its states.
using States = std::array<float*, kMostStates>;

void update(std::size_t n, const UpdateRule& rule, float* w, const float* g, const States& states);
/// Updates one tensor, whose norms are summed in the order of norm_order.h.
void update_tensor(std::size_t n, const TensorRule& rule, float* w, const float* g,
                   const States& states);

}  // namespace trigram::update_kernels
