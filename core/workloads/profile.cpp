#include "core/workloads/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/config/config_error.h"
#include "core/files.h"
#include "core/workloads/profile_parsers.h"

namespace trigram {
namespace {

constexpr std::string_view kPrefix = "profile:";

template <class Number>
Number sum(const std::vector<ProfileTensor>& rows, Number ProfileTensor::*column) {
  Number total{};
  for (const ProfileTensor& row : rows) total += row.*column;
  return total;
}

void check_total(const char* what, std::optional<double> claimed, double sum) {
  // The tolerance accepts files written with six digits, but not a missing or duplicate row.
  if (claimed && std::abs(*claimed - sum) > 1e-6 * std::max(*claimed, sum))
    throw ProfileError(
        fmt::format("expected rows whose {} sum to the stated {}, not to {}", what, *claimed, sum));
}

void check(const ProfileText& text) {
  const Profile& profile = text.profile;
  if (profile.tensors.empty()) throw ProfileError("expected at least one tensor");
  std::set<std::string> names;
  for (const ProfileTensor& row : profile.tensors) {
    if (row.forward_flops.has_value() != profile.has_flops() ||
        row.backward_flops.has_value() != profile.has_flops())
      throw ProfileError(
          fmt::format("expected forward_flops and backward_flops of all tensors or of none, not as "
                      "for \"{}\"",
                      row.tensor));
    if (!names.insert(row.tensor).second)
      throw ProfileError(fmt::format("expected distinct tensors; \"{}\" occurs twice", row.tensor));
  }
  check_total("forward_s", text.forward_s, profile.forward_s());
  check_total("backward_s", text.backward_s, profile.backward_s());
}

}  // namespace

std::size_t Profile::numel() const { return sum(tensors, &ProfileTensor::numel); }
double Profile::forward_s() const { return sum(tensors, &ProfileTensor::forward_s); }
double Profile::backward_s() const { return sum(tensors, &ProfileTensor::backward_s); }
bool Profile::has_flops() const { return tensors.front().forward_flops.has_value(); }

std::vector<std::size_t> Profile::backward_lengths() const {
  std::vector<std::size_t> lengths;
  for (auto row = tensors.rbegin(); row != tensors.rend(); ++row) lengths.push_back(row->numel);
  return lengths;
}

std::vector<std::string_view> Profile::backward_names() const {
  std::vector<std::string_view> names;
  for (auto row = tensors.rbegin(); row != tensors.rend(); ++row) names.push_back(row->tensor);
  return names;
}

Profile load_profile(const std::filesystem::path& file, const std::string& pointer) {
  try {
    const std::string content = read_text_file(file);
    ProfileText text =
        file.extension() == ".json" ? parse_profile_json(content) : parse_profile_csv(content);
    check(text);
    if (text.profile.name.empty()) text.profile.name = file.stem().string();
    return std::move(text.profile);
  } catch (const std::runtime_error& error) {  // ProfileError, or a file that cannot be read
    throw ConfigError(pointer, fmt::format("{}: {}", file.string(), error.what()));
  }
}

const std::vector<std::string>& built_in_profiles() {
  static const std::vector<std::string> names = {
      "vgg16",        "resnet50",    "bert_large", "bert_base", "transformer_base",
      "lstm_alexnet", "gpt2",        "llama_1b",   "llama_8b",  "diloco_1b",
      "diloco_10b",   "diloco_100b", "ddppo"};
  return names;
}

std::string path_in_reference(const std::string& reference) {
  return reference.starts_with(kPrefix) ? reference.substr(kPrefix.size()) : "";
}

void refuse_bare_path(const std::string& name, const std::string& pointer) {
  const bool path =
      name.ends_with(".csv") || name.ends_with(".json") || name.find('/') != std::string::npos;
  if (path && !name.starts_with(kPrefix))
    throw ConfigError(pointer,
                      fmt::format("expected a name, or the path of a profile as \"{}PATH\", "
                                  "not \"{}\"{}",
                                  kPrefix, name, did_you_mean(std::string(kPrefix) + name)));
}

OptionType<std::string> profile_reference() {
  return {[](const Json& j, const std::string& pointer) {
            if (!j.is_string()) wrong_type(pointer, "a profile's name or \"profile:PATH\"", j);
            const auto reference = j.get<std::string>();
            const auto& names = built_in_profiles();
            if (path_in_reference(reference).empty() &&
                std::ranges::find(names, reference) == names.end()) {
              refuse_bare_path(reference, pointer);
              std::vector<std::string> expected = names;
              expected.emplace_back("profile:PATH");
              unknown_name(pointer, "profile", reference, expected);
            }
            return reference;
          },
          [](const std::string& reference) -> Json { return reference; },
          []() -> Json {
            return {{"anyOf",
                     {{{"enum", built_in_profiles()}},
                      {{"type", "string"}, {"pattern", "^" + std::string(kPrefix) + ".+"}}}}};
          }};
}

std::filesystem::path profile_file(const std::string& reference) {
  if (const std::string path = path_in_reference(reference); !path.empty()) return path;
  return data_dir() / "configs" / "profiles" / (reference + ".csv");
}

}  // namespace trigram
