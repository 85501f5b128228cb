#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trigram {

/// Formats lines with equally many cells as aligned columns: the first `text_columns` columns to
/// the left, the others, which hold numbers, to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t text_columns);

}  // namespace trigram
