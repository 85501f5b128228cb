#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trigram {

/// Lines of cells, as many in each, as columns of equal width: the first `text_columns` to the
/// left, numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t text_columns);

}  // namespace trigram
