#pragma once

#include "tests/oracles/cost_model.h"

// Seconds from the common start of a collective to the end of its last rank, for P ranks and n f32
// elements, on the network and the accelerator of a CostModel. The forms are derived from the
// literature (named in closed_forms.cpp), not from the code under test. `average` adds the final
// division by P.
//
// A vector is cut at floor(n i / P), so the longest part has ceil(n / P) elements. Parts may differ
// in length. But if a part of the greatest length is in every step of a dependency chain, the sum
// along that chain is both a lower and an upper bound, and the form is exact.

namespace trigram::test {

/// The exponent of the largest power of two that is not larger than P.
int floor_log2(int P);
int ceil_log2(int P);

double ring_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average);
double ring_allgather_s(const CostModel& c, int P, std::size_t n);
/// Allgather of one tensor per rank, of which the longest has `longest` elements.
double ring_allgather_of_s(const CostModel& c, int P, std::size_t longest);
/// Allgather in which each rank sends its tensor to all other ranks at once.
double direct_allgather_of_s(const CostModel& c, int P, std::size_t longest);
double ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average);

/// Rings over `channels` parts of the vector, if all pairs of ranks are equally far apart. Computed
/// stage by stage.
double channelled_ring_allreduce_s(const CostModel& c, int P, std::size_t n, bool average,
                                   int channels);

double recursive_doubling_allreduce_s(const CostModel& c, int P, std::size_t n, bool average);
double rabenseifner_allreduce_s(const CostModel& c, int P, std::size_t n, bool average);
double recursive_halving_reduce_scatter_s(const CostModel& c, int P, std::size_t n, bool average);
double recursive_doubling_allgather_s(const CostModel& c, int P, std::size_t n);

double binomial_broadcast_s(const CostModel& c, int P, std::size_t n);
double binomial_reduce_s(const CostModel& c, int P, std::size_t n, bool average);
double pipelined_broadcast_s(const CostModel& c, int P, std::size_t n, int segments);
double pipelined_reduce_s(const CostModel& c, int P, std::size_t n, int segments, bool average);

/// Every rank sends ceil(n / P) elements to each other rank.
double direct_alltoall_s(const CostModel& c, int P, std::size_t n);

}  // namespace trigram::test
