#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace trigram {

/// Answers a shell that completes a command line of `app`. `words` are the words after the
/// program's name, up to the word at the cursor, which comes last and may be empty. Returns a line
/// for each word that could be there: the word, a tab, and what it means. The line ":files" at the
/// end says that names of files could be there, too.
std::string completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace trigram
