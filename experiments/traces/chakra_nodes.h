#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A node of a Chakra execution trace (mlcommons/chakra, et_def.proto).
struct ChakraNode {
  enum class Kind { other, compute, collective };
  std::string name;
  Kind kind = Kind::other;
  bool on_cpu = false;
  std::string collective = {};            // such as ALL_REDUCE; empty if the trace does not say
  std::size_t bytes = 0;                  // of a collective
  std::vector<std::size_t> needs = {};    // indices of the nodes that come before this one
  std::vector<std::size_t> data_of = {};  // those of them whose data it takes
  double begin_us = 0, end_us = 0;        // of computation
  double ready_us = 0;                    // end of all computation that the node depends on
  std::string pointer = {};

  bool is_backward() const;
};

/// The nodes of a trace, each after the nodes that it depends on. If the trace has no start times,
/// computation is laid out one node after another. The values are those of a file: nodes after a
/// header, a list of nodes, or an object with a list `nodes`. Throws ConfigError.
std::vector<ChakraNode> read_chakra_nodes(const std::vector<Json>& values);

}  // namespace trigram
