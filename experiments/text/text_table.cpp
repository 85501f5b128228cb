#include "experiments/text/text_table.h"

#include <algorithm>

namespace trigram {
namespace {

/// The width in characters rather than bytes: UTF-8 continuation bytes have no width.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t text_columns) {
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - width(line[i]), ' ');
      row += (i > 0 ? "  " : "") + (i < text_columns ? line[i] + padding : padding + line[i]);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace trigram
