#include "core/workloads/profile_parsers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "core/config/fields.h"
#include "core/config/json_text.h"
#include "core/config/option_type.h"

namespace trigram {
namespace {

constexpr std::string_view kColumns = "tensor,numel,forward_s,backward_s";
constexpr std::string_view kFlops = ",forward_flops,backward_flops";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Parses all of `text` as a finite number of at least `minimum`. `kind` describes such numbers.
template <class Number>
Number parse_number(std::string_view text, std::string_view what, std::string_view kind,
                    Number minimum) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
      value < minimum)
    throw ProfileError(fmt::format("expected {}, {}, not \"{}\"", what, kind, text));
  return value;
}

std::size_t parse_count(std::string_view text, std::string_view what) {
  return parse_number<std::size_t>(text, what, "a positive integer", 1);
}

std::int64_t parse_flops(std::string_view text, std::string_view what) {
  return parse_number<std::int64_t>(text, what, "an integer that is not negative", 0);
}

double parse_seconds(std::string_view text, std::string_view what) {
  return parse_number<double>(text, what, "a number of seconds that is not negative", 0);
}

template <class T>
T parse_with_unit(const OptionType<T>& kind, std::string_view text, std::string_view what) {
  try {
    return kind.parse(std::string(text), "");
  } catch (const ConfigError& error) {
    throw ProfileError(fmt::format("{}: {}", what, error.what()));
  }
}

/// Parses a line "# key: value". Other comments are ignored.
void parse_comment(std::string_view comment, ProfileText& text) {
  const auto colon = comment.find(':');
  if (colon == comment.npos) return;
  const std::string_view key = trimmed(comment.substr(0, colon));
  const std::string_view value = trimmed(comment.substr(colon + 1));
  Profile& profile = text.profile;
  if (key == "name") profile.name = value;
  else if (key == "accelerator") profile.measured_on.name = value;
  else if (key == "flops")
    profile.measured_on.flops_per_s =
        parse_with_unit(quantity(Dimension::flop_rate, true), value, key);
  else if (key == "memory_bandwidth")
    profile.measured_on.memory_Bps =
        parse_with_unit(quantity(Dimension::bandwidth, true), value, key);
  else if (key == "batch") profile.batch = parse_count(value, key);
  else if (key == "buffers") profile.buffer_bytes = parse_with_unit(byte_size(), value, key);
  else if (key == "forward_s") text.forward_s = parse_seconds(value, key);
  else if (key == "backward_s") text.backward_s = parse_seconds(value, key);
  else if (key == "source") profile.sources.emplace_back(value);
  else if (key == "assumed") profile.assumed.emplace_back(value);
}

ProfileTensor parse_row(std::string_view line, std::string_view columns) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  const bool flops = columns.ends_with(kFlops);
  if (cells.size() != (flops ? 6 : 4) || cells[0].empty())
    throw ProfileError(fmt::format("expected the cells {}, not \"{}\"", columns, line));
  ProfileTensor row{std::string(cells[0]),
                    parse_count(cells[1], "numel"),
                    parse_seconds(cells[2], "forward_s"),
                    parse_seconds(cells[3], "backward_s"),
                    {},
                    {}};
  if (flops) {
    row.forward_flops = parse_flops(cells[4], "forward_flops");
    row.backward_flops = parse_flops(cells[5], "backward_flops");
  }
  return row;
}

}  // namespace

ProfileText parse_profile_csv(const std::string& content) {
  ProfileText text;
  std::string columns;  // from the header line
  std::istringstream lines(content);
  std::string raw;
  for (int number = 1; std::getline(lines, raw); ++number) {
    const std::string_view line = trimmed(raw);
    try {
      if (line.empty()) continue;
      if (line.front() == '#') {
        parse_comment(line.substr(1), text);
      } else if (!columns.empty()) {
        text.profile.tensors.push_back(parse_row(line, columns));
      } else {
        columns = line;
        if (columns != kColumns && columns != std::string(kColumns) + std::string(kFlops))
          throw ProfileError(fmt::format("expected the header {}, with or without {}, not \"{}\"",
                                         kColumns, kFlops, line));
      }
    } catch (const ProfileError& error) {
      throw ProfileError(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return text;
}

namespace {

OptionType<double> seconds() { return number(0, 1e9); }
OptionType<std::optional<std::int64_t>> flops() { return optional(integer(0)); }

FieldTable<AcceleratorRates> accelerator_fields() {
  return FieldTable<AcceleratorRates>{}
      .field("accelerator", &AcceleratorRates::name, text(),
             "accelerator on which the times were measured")
      .field("flops", &AcceleratorRates::flops_per_s, quantity(Dimension::flop_rate, true),
             "the accelerator's peak rate of arithmetic at the precision of the measurement")
      .field("memory_bandwidth", &AcceleratorRates::memory_Bps,
             quantity(Dimension::bandwidth, true), "the accelerator's peak memory bandwidth");
}

FieldTable<ProfileText> document_fields() {
  auto row =
      FieldTable<ProfileTensor>{}
          .required("tensor", &ProfileTensor::tensor, text(), "name of the tensor")
          .required("numel", &ProfileTensor::numel, count(1), "number of elements")
          .required("forward_s", &ProfileTensor::forward_s, seconds(),
                    "time of its layer's forward pass, in seconds")
          .required("backward_s", &ProfileTensor::backward_s, seconds(),
                    "time of its layer's backward pass, in seconds")
          .field("forward_flops", &ProfileTensor::forward_flops, flops(),
                 "floating-point operations of the layer's matrix products in the forward pass")
          .field("backward_flops", &ProfileTensor::backward_flops, flops(),
                 "floating-point operations of the layer's matrix products in the backward pass");
  const auto description =
      FieldTable<Profile>{}
          .field("name", &Profile::name, text(), "name of the model")
          .include(&Profile::measured_on, accelerator_fields())
          .field("batch", &Profile::batch, count(1), "samples per worker and step")
          .field("buffers", &Profile::buffer_bytes, byte_size(),
                 "size of the model's state besides its parameters, such as the statistics of "
                 "batch normalisation");
  const auto content =
      FieldTable<Profile>{}
          .field("sources", &Profile::sources, list_of(text()), "where the numbers come from")
          .field("assumed", &Profile::assumed, list_of(text()), "what nobody has measured")
          .required("tensors", &Profile::tensors, list_of(nested(row)),
                    "the tensors in the order of the forward pass");
  return FieldTable<ProfileText>{}
      .include(&ProfileText::profile, description)
      .field("forward_s", &ProfileText::forward_s, optional(seconds()), "sum over the tensors")
      .field("backward_s", &ProfileText::backward_s, optional(seconds()), "sum over the tensors")
      .include(&ProfileText::profile, content);
}

}  // namespace

ProfileText parse_profile_json(const std::string& content) {
  try {
    return document_fields().parse(parse_json(content), "");
  } catch (const JsonTextError& error) {
    throw ProfileError(error.place().empty() ? error.what() : error.place() + ": " + error.what());
  } catch (const ConfigError& error) {
    std::string all;
    for (const Mistake& mistake : error.mistakes())
      all += (all.empty() ? "" : "; ") + mistake.text();
    throw ProfileError(all);
  }
}

}  // namespace trigram
