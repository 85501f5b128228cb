#include "experiments/text/shell_word.h"

#include <fmt/format.h>

#include <string_view>

namespace trigram {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text)
    if (c == '\'') word += R"('\'')";
    else word += c;
  return word + "'";
}

std::string results_lines(const std::string& folder) {
  return fmt::format("results: {}\nreport:  trigram report {}\n", folder, shell_word(folder));
}

}  // namespace trigram
