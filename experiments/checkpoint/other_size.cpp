#include "experiments/checkpoint/other_size.h"

#include <cstring>
#include <set>

namespace trigram {
namespace {

/// Adds the elements of an entry of f32 values to `sum`.
void add(std::vector<double>& sum, const SavedState::Entry& entry) {
  std::vector<float> values(entry.bytes.size() / sizeof(float));
  std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  sum.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += static_cast<double>(values[i]);
}

void set_mean(SavedState::Entry& entry, const std::vector<double>& sum, double count) {
  std::vector<float> mean;
  for (const double x : sum) mean.push_back(static_cast<float>(x / count));
  entry.bytes.assign(reinterpret_cast<const char*>(mean.data()), mean.size() * sizeof(float));
}

bool is_averaged(const std::string& name, const SavedState::Entry& entry) {
  return entry.is_tensor && entry.dtype == DType::f32 &&
         (name == "rank/weights" || name.starts_with("optimizer/"));
}

bool is_of_algorithm(const std::string& name) { return name.starts_with("algorithm/"); }

/// The name of a group of the algorithm's state, up to the last slash; a name without another slash
/// is a group by itself.
std::string group_of(const std::string& name) {
  const std::string own = name.substr(name.find('/') + 1);
  const std::size_t slash = own.rfind('/');
  return slash == own.npos ? own : own.substr(0, slash);
}

long batches_of(const SavedState& state) {
  long batches = 0;
  std::memcpy(&batches, state.at("batches").bytes.data(), sizeof batches);
  return batches;
}

}  // namespace

ReformedState reform(const CheckpointFolder& folder, long step, std::span<const int> workers,
                     int new_workers) {
  const SavedState first = folder.read(step, workers.front());
  std::map<std::string, std::vector<double>> sums;
  std::set<std::string> differ;
  double batches = 0;
  for (const int rank : workers) {
    const SavedState own = folder.read(step, rank);
    batches += static_cast<double>(batches_of(own));
    for (const auto& [name, entry] : own.entries()) {
      const auto same = first.entries().find(name);
      if (is_averaged(name, entry)) add(sums[name], entry);
      else if (is_of_algorithm(name) &&
               (same == first.entries().end() || same->second.bytes != entry.bytes))
        differ.insert(group_of(name));
    }
    for (const auto& [name, entry] : first.entries())
      if (is_of_algorithm(name) && !own.entries().contains(name)) differ.insert(group_of(name));
  }
  ReformedState result;
  for (const auto& [name, entry] : first.entries()) {
    if (is_of_algorithm(name) && differ.contains(group_of(name))) continue;
    SavedState::Entry& own = result.state[name] = entry;
    if (is_averaged(name, entry) && !entry.bytes.empty())
      set_mean(own, sums[name], static_cast<double>(workers.size()));
  }
  const long position = static_cast<long>(batches / static_cast<double>(new_workers));
  result.state["batches"].bytes.assign(reinterpret_cast<const char*>(&position), sizeof position);
  result.left_out.assign(differ.begin(), differ.end());
  return result;
}

}  // namespace trigram
