#include "core/config/config_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/printable.h"

namespace trigram {
namespace {

constexpr std::size_t kEdit = 2;  // cost of an edit; a change of case costs half

bool same_but_for_case(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::size_t substitution(char a, char b) {
  if (a == b) return 0;
  return same_but_for_case(a, b) ? kEdit / 2 : kEdit;
}

/// Swapping two adjacent characters counts as one edit: "rnu" is as near to "run" as "ru" is.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j * kEdit;
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] += kEdit;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] =
          std::min({last[j] + substitution(a[i], b[j]), row[j] + kEdit, last[j + 1] + kEdit});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + kEdit);
    }
  }
  return row.back();
}

/// Finds the candidate that contains `part`, such as "fashion" or "async". If there is none, finds
/// the longest candidate with which `part` begins, as for "simulation" or "seconds".
const std::string* find_containing(std::string_view part, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.find(part) != std::string::npos) return &candidate;
    if (part.starts_with(candidate) && (!best || best->size() < candidate.size()))
      best = &candidate;
  }
  return best;
}

std::string lines_of(const std::vector<Mistake>& mistakes) {
  std::string lines;
  for (const Mistake& mistake : mistakes) lines += (lines.empty() ? "" : "\n") + mistake.text();
  return lines;
}

}  // namespace

std::string Mistake::text() const {
  const std::string place = pointer.empty() && file.empty() ? "/" : pointer;
  std::string text = file;
  for (const std::string& part : {place, message})
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  return printable(text);
}

ConfigError::ConfigError(std::string pointer, std::string message, Mistake::Kind kind)
    : ConfigError(std::vector<Mistake>{{std::move(pointer), std::move(message), kind}}) {}

ConfigError::ConfigError(std::vector<Mistake> mistakes)
    : std::runtime_error(lines_of(mistakes)), mistakes_(std::move(mistakes)) {}

ConfigError ConfigError::in_file(const std::string& file) const {
  std::vector<Mistake> placed = mistakes_;
  for (Mistake& mistake : placed)
    if (mistake.file.empty() && (mistake.pointer.empty() || mistake.pointer[0] == '/'))
      mistake.file = file;
  return ConfigError(std::move(placed));
}

void Mistakes::add(const ConfigError& error) {
  for (const Mistake& mistake : error.mistakes())
    if (std::none_of(found_.begin(), found_.end(), [&mistake](const Mistake& known) {
          return known.pointer == mistake.pointer && known.message == mistake.message;
        }))
      found_.push_back(mistake);
}

void Mistakes::keep(const std::function<bool(const Mistake&)>& kept) {
  std::erase_if(found_, [&kept](const Mistake& mistake) { return !kept(mistake); });
}

void Mistakes::raise() const {
  if (!found_.empty()) throw ConfigError(found_);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max(kEdit, name.size() / 2 * kEdit) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) best = &candidate, best_distance = distance;
  }
  if (!best && name.size() > 2) best = find_containing(name, candidates);
  return best ? did_you_mean(*best) : "";
}

std::string did_you_mean(std::string_view candidate) {
  return fmt::format("; did you mean \"{}\"?", candidate);
}

}  // namespace trigram
