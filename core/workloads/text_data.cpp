#include "core/workloads/text_data.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "core/config/config_error.h"
#include "core/files.h"

namespace trigram {
namespace {

/// Calls visit(line) for every line that is not empty.
template <class Visit>
void for_each_line(const std::string& text, const Visit& visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// The verses, each on a line after its reference, such as "Ge1:1 In the beginning".
std::string print_bible() {
  if (std::error_code ignored; !std::filesystem::exists(kBible, ignored))
    throw std::runtime_error("not found; install the packages bible-kjv and bible-kjv-text");
  // Without -p the program would prefer a file in the current folder.
  const std::unique_ptr<FILE, int (*)(FILE*)> program(
      popen("bible -f -p /usr/lib gen1:1-rev22:21 </dev/null 2>/dev/null", "re"), pclose);
  std::string text;
  char piece[1 << 16];
  for (std::size_t got = 1; program && got > 0;) {
    got = fread(piece, 1, sizeof(piece), program.get());
    text.append(piece, got);
  }
  constexpr std::ptrdiff_t kVerses = 31102;
  if (const auto lines = std::ranges::count(text, '\n'); lines != kVerses)
    throw std::runtime_error(
        fmt::format("expected {} verses from the program bible, not {}; install the packages "
                    "bible-kjv and bible-kjv-text",
                    kVerses, lines));
  return text;
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  if (file == kBible)
    for_each_line(print_bible(), [&](const std::string& verse) {
      lines.push_back(verse.substr(verse.find(' ') + 1));
    });
  else
    for_each_line(read_text_file(file),
                  [&](std::string line) { lines.push_back(std::move(line)); });
  return lines;
}

}  // namespace

bool is_held_out(const std::string& line, std::size_t held_out) {
  const auto* bytes = reinterpret_cast<const Bytef*>(line.data());
  return crc32_z(0, bytes, line.size()) % held_out == 0;
}

TextData load_text(const std::filesystem::path& file, std::size_t held_out,
                   const std::string& pointer) {
  try {
    TextData data;
    for (std::string& line : read_lines(file))
      (is_held_out(line, held_out) ? data.held_out : data.train).push_back(std::move(line));
    const std::size_t lines = data.train.size() + data.held_out.size();
    for (const auto& [part, what] :
         {std::pair{&data.train, "to train on"}, std::pair{&data.held_out, "to evaluate on"}})
      if (part->empty())
        throw std::runtime_error(fmt::format(
            "expected lines {}, but none of its {} non-empty line{} is one: \"held_out\" "
            "puts one in {} aside, chosen by its CRC-32; use more lines or another "
            "number",
            what, lines, lines == 1 ? "" : "s", held_out));
    return data;
  } catch (const std::runtime_error& error) {
    throw ConfigError(pointer, fmt::format("{}: {}", file.string(), error.what()));
  }
}

TextBatch pack(std::span<const std::string> lines, std::span<const std::uint32_t> chosen,
               RowOrder order) {
  std::vector<const std::string*> sorted;
  for (const std::uint32_t i : chosen) sorted.push_back(&lines[i]);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::string::size);
  TextBatch batch;
  for (const std::string* line : sorted) batch.lengths.push_back(line->size() + 1);
  const auto add = [&batch](const std::string& line, std::size_t position) {
    const auto byte = [&line](std::size_t i) {
      return static_cast<std::uint8_t>(i < line.size() ? line[i] : '\n');
    };
    batch.inputs.push_back(byte(position == 0 ? line.size() : position - 1));
    batch.labels.push_back(byte(position));
  };
  if (order == RowOrder::by_sequence) {
    for (const std::string* line : sorted)
      for (std::size_t t = 0; t <= line->size(); ++t) add(*line, t);
  } else if (!sorted.empty()) {
    for (std::size_t t = 0; t <= sorted.front()->size(); ++t)
      for (const std::string* line : sorted)
        if (t <= line->size()) add(*line, t);
  }
  return batch;
}

}  // namespace trigram
