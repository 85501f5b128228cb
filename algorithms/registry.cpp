#include "algorithms/registry.h"

#include "algorithms/entries.h"
#include "core/check.h"

namespace trigram {

std::string to_string(const Trigram& t) {
  return fmt::format(
      "{}, {}, {}", t.synchrony == Trigram::Synchrony::sync ? "sync" : "async",
      t.precision == Trigram::Precision::full ? "full" : "low",
      t.centralisation == Trigram::Centralisation::centralised ? "centralised" : "decentralised");
}

#define TRIGRAM_ALGORITHM(name)  \
  namespace algorithm::name {    \
  AlgorithmEntry name##_entry(); \
  }
#include "algorithms/list.def"
#undef TRIGRAM_ALGORITHM

namespace {

std::vector<AlgorithmEntry> own_algorithms() {
  std::vector<AlgorithmEntry> entries;
#define TRIGRAM_ALGORITHM(name) entries.push_back(algorithm::name::name##_entry());
#include "algorithms/list.def"
#undef TRIGRAM_ALGORITHM
  return entries;
}

struct Table {
  std::vector<AlgorithmEntry> entries = own_algorithms();
  bool has_added = false;
};

Table& table() {
  static Table only;
  return only;
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithms() { return table().entries; }

std::vector<UsedAlgorithm> used_algorithms(const Json& resolved, const std::string& pointer) {
  const AlgorithmEntry& entry = find_component(algorithms(), "algorithm", resolved, pointer);
  if (entry.name != "stages") return {{&entry, resolved, pointer}};
  std::vector<UsedAlgorithm> used;
  const Json& stages = resolved.at("stages");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Json& algorithm = stages[i].at("algorithm");
    const std::string place = fmt::format("{}/stages/{}/algorithm", pointer, i);
    used.push_back(
        {&find_component(algorithms(), "algorithm", algorithm, place), algorithm, place});
  }
  return used;
}

void add_algorithm(AlgorithmEntry entry) {
  for (const AlgorithmEntry& known : table().entries)
    TRIGRAM_CHECK(known.name != entry.name, "two algorithms are called {}", entry.name);
  table().entries.push_back(std::move(entry));
  table().has_added = true;
}

bool has_added_algorithms() { return table().has_added; }

}  // namespace trigram
