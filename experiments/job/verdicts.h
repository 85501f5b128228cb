#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Throws ConfigError unless all verdicts are empty. `verdicts` has, by rank, the reason why the
/// rank cannot begin, or an empty text. An error of rank 0 alone concerns the configuration, which
/// only rank 0 reads, so its text is unchanged. Otherwise the text names the ranks of each error:
/// "rank 0: one error; rank 1 3: another".
void check_verdicts(const std::vector<std::string>& verdicts);

/// The verdict of a process with these arguments; empty if they are those of rank 0.
std::string compare_arguments(const std::vector<std::string>& mine,
                              const std::vector<std::string>& on_rank_0);

}  // namespace trigram
