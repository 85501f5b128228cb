#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trigram {

/// Formats lines, all with the same number of cells, as aligned columns. The first `text_columns`
/// columns are aligned to the left; the others, which hold numbers, to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t text_columns);

}  // namespace trigram
