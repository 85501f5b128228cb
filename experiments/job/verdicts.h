#pragma once

#include <string>
#include <vector>

namespace trigram {

/// A verdict is the reason why a rank cannot begin, or an empty text if it can. Throws ConfigError
/// unless all verdicts, which are indexed by rank, are empty. If only rank 0 has an error, the text
/// of ConfigError is its verdict, because the error concerns the configuration, which only rank 0
/// reads. Otherwise the text names the ranks of each error: "rank 0: one error; rank 1 3: another".
void check_verdicts(const std::vector<std::string>& verdicts);

/// The verdict of a rank with the arguments `own`; empty if rank 0 has the same arguments.
std::string compare_arguments(const std::vector<std::string>& own,
                              const std::vector<std::string>& on_rank_0);

}  // namespace trigram
