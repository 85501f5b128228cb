#include "algorithms/entries.h"

#include <numeric>

#include "core/config/option_type.h"

namespace trigram {
namespace {

bool allows(const AlgorithmCard& card, char option) {
  return card.execution_options.find(option) != std::string::npos;
}

}  // namespace

FieldTable<Execution> execution_fields(const AlgorithmCard& card) {
  FieldTable<Execution> fields;
  auto refusal = [&](const char* missing, char letter) {
    const std::string& options = card.execution_options;
    return fmt::format("{} has no {} ({}); expected {}", card.name, missing, letter,
                       options.empty() ? "no execution option" : "one of its options, " + options);
  };
  if (allows(card, 'O'))
    fields.field("overlap", &Execution::overlap, boolean(),
                 "O: exchange as early as the data is ready, not after the backward pass");
  else fields.refuse("overlap", refusal("overlap to switch", 'O'));
  if (allows(card, 'F') && card.exchanges_weights)
    fields
        .field(
            "bucket", &Execution::model_bucket_bytes, optional(byte_size()),
            "F: exchange weights in buckets of this size, one after another; 0B: every tensor by "
            "itself; null: the whole model at once")
        .refuse(
            "first_bucket",
            fmt::format("{} has no separate first bucket; expected \"bucket\" alone", card.name));
  else if (allows(card, 'F'))
    fields
        .field("bucket", &Execution::bucket_bytes, byte_size(),
               "F: fuse tensors into buckets of this size; 0B sends every tensor by itself")
        .field("first_bucket", &Execution::first_bucket_bytes, optional(byte_size()),
               "F: size of the first bucket; null: the same as `bucket`");
  else
    for (const char* field : {"bucket", "first_bucket"})
      fields.refuse(field, refusal("buckets", 'F'));
  const auto in_nodes = [](const Execution& e) { return e.hierarchical; };
  if (allows(card, 'H'))
    fields
        .field("hierarchical", &Execution::hierarchical, boolean(),
               "H: average inside the node, exchange between node leaders")
        .field("segment", &Execution::segment_bytes, byte_size(),
               "Inside a node, longer tensors are reduced and broadcast in pieces of this size "
               "along a chain of workers, as in NCCL; 0B: all tensors use binomial trees")
        .only_where(in_nodes, "has no effect here; expected \"hierarchical\": true beside it");
  else fields.refuse("hierarchical", refusal("hierarchy", 'H'));
  if (allows(card, 'H') && card.synchronizes)
    fields.field("synchronize", &Execution::synchronize, boolean(),
                 "Make the host wait for every exchange before it launches the next, as BAGUA's "
                 "communication worker does");
  else
    fields.refuse(
        "synchronize",
        fmt::format("the host never waits for exchanges of {}; remove this option", card.name));
  return fields;
}

Workers all_ranks(const Layout& layout) {
  Workers all{std::vector<int>(static_cast<std::size_t>(layout.ranks()))};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  return all;
}

Execution applicable(Execution execution, const AlgorithmCard& card) {
  if (!allows(card, 'H')) execution.hierarchical = false;
  return execution;
}

}  // namespace trigram
