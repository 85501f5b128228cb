#pragma once

#include "core/workloads/layer.h"

namespace trigram {

/// The lengths of the sequences of a mini-batch, longest first. The mini-batch has one row for each
/// position of each sequence, and no padding.
using SequenceLengths = std::vector<std::size_t>;
std::size_t rows_of(const SequenceLengths& lengths);

/// Order of the rows of a mini-batch.
enum class RowOrder {
  by_sequence,  // one sequence after the other
  by_position,  // the first rows of all sequences, then their second rows, and so on
};

/// Normalises each row (NnOps::layer_norm). The parameters are bias and gain.
std::unique_ptr<Layer> layer_norm_layer(Device& device, std::size_t rows, std::size_t width);

/// Causal attention (NnOps::attention) from rows of 3 width to rows of width, by_sequence. It has
/// no parameters.
std::unique_ptr<Layer> attention_layer(Device& device, const SequenceLengths& lengths,
                                       std::size_t heads, std::size_t width);

/// The recurrence of gated recurrent units (NnOps::gru) from rows of 3 width, the contribution of
/// the input, to rows of width, the state, by_position. Every sequence begins with the state 0. The
/// parameters are the bias and the weights [3 width, width] of the contribution of the state.
std::unique_ptr<Layer> recurrence_layer(Device& device, const SequenceLengths& lengths,
                                        std::size_t width);

}  // namespace trigram
