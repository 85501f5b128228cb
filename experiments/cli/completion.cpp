#include "experiments/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "algorithms/registry.h"
#include "core/files.h"
#include "core/workloads/registry.h"
#include "experiments/cli/option_texts.h"
#include "experiments/worlds.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// A word that could be at the cursor, and what it means.
struct ShellWord {
  std::string word, meaning = {};
};

/// The words that could be at the cursor, and whether it could be the name of a file.
struct ShellWords {
  std::vector<ShellWord> words = {};
  bool files = false;
};

/// The names of the files in a folder of configs/ with this extension, without the extension.
std::set<std::string> names_in(const char* folder, const char* extension) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator file(data_dir() / "configs" / folder, error), end;
       !error && file != end; file.increment(error))
    if (file->path().extension() == extension) names.insert(file->path().stem().string());
  return names;
}

ShellWords presets_of_clusters() {
  ShellWords found{.files = true};
  for (const std::string& name : names_in("clusters", ".json"))
    found.words.push_back({name, "cluster"});
  return found;
}

/// The workloads that are profiles in configs/profiles.
ShellWords profiles() {
  const std::set<std::string> files = names_in("profiles", ".csv");
  ShellWords found;
  for (const WorkloadEntry& workload : workloads())
    if (files.contains(workload.name)) found.words.push_back({workload.name, workload.doc});
  return found;
}

ShellWords names_of(const auto& entries) {
  ShellWords found;
  for (const auto& entry : entries) found.words.push_back({entry.name, entry.doc});
  return found;
}

ShellWords relaxations() {
  return {{{"sync"}, {"async"}, {"full"}, {"low"}, {"centralised"}, {"decentralised"}}};
}

/// The values of an option or positional argument of `command`.
ShellWords values_of(const CLI::App& command, const CLI::Option& option) {
  using Values = ShellWords (*)();
  const Values algorithm_names = [] { return names_of(algorithms()); };
  const Values world_names = [] { return names_of(worlds()); };
  static const std::map<std::string, Values> known = {{"--cluster", presets_of_clusters},
                                                      {"network config", presets_of_clusters},
                                                      {"--profile", profiles},
                                                      {"--algorithms", algorithm_names},
                                                      {"--algorithm", algorithm_names},
                                                      {"--world", world_names},
                                                      {"--worlds", world_names},
                                                      {"--runtime", world_names},
                                                      {"advise --only", relaxations}};
  const std::string name = name_of(option);
  for (const std::string& key : {command.get_name() + " " + name, name})
    if (const auto found = known.find(key); found != known.end()) return found->second();
  ShellWords found;
  for (const std::string& word : choices_of(option)) found.words.push_back({word});
  found.files = found.words.empty() && placeholder_of(option) == "TEXT";
  return found;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Reads the words before the cursor as CLI11 would, without checking them.
class LineReader {
 public:
  explicit LineReader(const CLI::App& app) : app_(app), command_(&app) {}

  void read(const std::string& word) {
    // Bash splits --option=value into three words.
    if (word == "=" && pending_) return;
    if (pending_) {
      pending_ = nullptr;
    } else if (word == "--") {
      only_arguments_ = true;
    } else if (word.starts_with('-') && !only_arguments_) {
      const CLI::Option* option = find(word.substr(0, word.find('=')));
      if (option && takes_value(*option) && word.find('=') == std::string::npos) pending_ = option;
    } else if (const CLI::App* next = command_named(word)) {
      command_ = next;
    } else {
      ++count_;
    }
  }

  /// The candidates for the word at the cursor, which begins with `word`.
  ShellWords at_cursor(std::string& word, std::string& prefix) const {
    if (pending_) return value_candidates(*pending_, word == "=" ? word = "" : word, prefix);
    if (word.starts_with('-') && !only_arguments_) {
      const std::size_t equal = word.find('=');
      if (equal == std::string::npos) return option_names();
      const CLI::Option* option = find(word.substr(0, equal));
      prefix = word.substr(0, equal + 1);
      word.erase(0, equal + 1);
      return option && takes_value(*option) ? value_candidates(*option, word, prefix)
                                            : ShellWords{};
    }
    ShellWords found;
    for (const CLI::App* next : commands_in(*command_))
      found.words.push_back({next->get_name(), next->get_description()});
    if (!found.words.empty()) return found;
    const auto arguments = positionals_of(*command_);
    if (arguments.empty()) return {};
    const CLI::Option* argument = arguments[std::min(count_, arguments.size() - 1)];
    if (count_ >= arguments.size() && argument->get_items_expected_max() <= 1) return {};
    return values_of(*command_, *argument);
  }

 private:
  /// The subcommand with this name, if a subcommand may come here; null otherwise.
  const CLI::App* command_named(const std::string& name) const {
    for (const CLI::App* next : commands_in(*command_))
      if (next->get_name() == name && count_ == 0) return next;
    return nullptr;
  }

  /// Values after the last delimiter of a list; what precedes them becomes part of `prefix`.
  ShellWords value_candidates(const CLI::Option& option, std::string& word,
                              std::string& prefix) const {
    const std::size_t last =
        option.get_delimiter() ? word.rfind(option.get_delimiter()) : word.npos;
    if (last != word.npos) {
      prefix += word.substr(0, last + 1);
      word.erase(0, last + 1);
    }
    return values_of(*command_, option);
  }

  const CLI::Option* find(const std::string& name) const {
    for (const CLI::App* scope : {command_, &app_})
      if (const CLI::Option* option = scope->get_option_no_throw(name)) return option;
    return nullptr;
  }

  ShellWords option_names() const {
    ShellWords found;
    std::set<std::string> seen;
    for (const CLI::App* scope : {command_, &app_})
      for (const CLI::Option* option : options_of(*scope))
        if (seen.insert(name_of(*option)).second)
          found.words.push_back({name_of(*option), option->get_description()});
    return found;
  }

  const CLI::App& app_;
  const CLI::App* command_;
  const CLI::Option* pending_ = nullptr;  // the option whose value comes next
  bool only_arguments_ = false;           // true after the word --
  std::size_t count_ = 0;                 // number of positional arguments so far
};

}  // namespace

std::string completions(const CLI::App& app, const std::vector<std::string>& words) {
  LineReader reader(app);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) reader.read(words[i]);
  std::string word = words.empty() ? "" : words.back(), prefix, text;
  const ShellWords found = reader.at_cursor(word, prefix);
  for (const ShellWord& candidate : found.words)
    if (candidate.word.starts_with(word))
      text += fmt::format("{}{}\t{}\n", prefix, candidate.word, candidate.meaning);
  return found.files ? text + ":files\n" : text;
}

}  // namespace trigram
