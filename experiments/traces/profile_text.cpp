#include <fmt/format.h>

#include "core/config/option_type.h"
#include "experiments/traces/trace_import.h"

namespace trigram {
namespace {

std::string csv_of(const Profile& profile) {
  std::string text = fmt::format("# name: {}\n", profile.name);
  if (!profile.measured_on.name.empty())
    text += fmt::format("# accelerator: {}\n", profile.measured_on.name);
  text += fmt::format("# batch: {}\n", profile.batch);
  for (const std::string& source : profile.sources) text += fmt::format("# source: {}\n", source);
  for (const std::string& line : profile.assumed) text += fmt::format("# assumed: {}\n", line);
  text += "tensor,numel,forward_s,backward_s\n";
  for (const ProfileTensor& row : profile.tensors)
    text +=
        fmt::format("{},{},{:.9g},{:.9g}\n", row.tensor, row.numel, row.forward_s, row.backward_s);
  return text;
}

std::string json_of(const Profile& profile) {
  Json json = {{"name", profile.name}, {"batch", profile.batch}};
  if (!profile.measured_on.name.empty()) json["accelerator"] = profile.measured_on.name;
  json["sources"] = profile.sources;
  json["assumed"] = profile.assumed;
  json["tensors"] = Json::array();
  for (const ProfileTensor& row : profile.tensors)
    json["tensors"].push_back({{"tensor", row.tensor},
                               {"numel", row.numel},
                               {"forward_s", row.forward_s},
                               {"backward_s", row.backward_s}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string profile_text(const Profile& profile, const std::filesystem::path& file) {
  return file.extension() == ".json" ? json_of(profile) : csv_of(profile);
}

}  // namespace trigram
