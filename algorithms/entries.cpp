#include "algorithms/entries.h"

namespace trigram {
namespace {

bool has(const AlgorithmCard& card, char option) {
  return card.execution_options.find(option) != std::string::npos;
}

}  // namespace

FieldTable<Execution> execution_fields(const AlgorithmCard& card) {
  FieldTable<Execution> fields;
  auto refusal = [&](const char* what, char letter) {
    return fmt::format("{} has no {} ({}); its execution options are \"{}\"", card.name, what,
                       letter, card.execution_options);
  };
  if (has(card, 'O'))
    fields.field("overlap", &Execution::overlap, boolean(),
                 "O: exchange as early as the data is ready, not after the backward pass");
  else fields.refuse("overlap", refusal("overlap to switch", 'O'));
  if (has(card, 'F'))
    fields.field("bucket", &Execution::bucket_bytes, byte_size(),
                 "F: fuse tensors into buckets of this size; 0B sends every tensor by itself");
  else fields.refuse("bucket", refusal("buckets", 'F'));
  if (has(card, 'H'))
    fields.field("hierarchical", &Execution::hierarchical, boolean(),
                 "H: average inside the node, exchange between node leaders");
  else fields.refuse("hierarchical", refusal("hierarchy", 'H'));
  return fields;
}

Execution applicable(Execution execution, const AlgorithmCard& card) {
  if (!has(card, 'H')) execution.hierarchical = false;
  return execution;
}

}  // namespace trigram
