#include "experiments/launch/nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/config/config_error.h"
#include "core/files.h"
#include "core/printable.h"

namespace trigram {
namespace {

constexpr int kMostNodes = 65536;

/// A name or an IPv4 address. (mpirun would take a colon for the end of the name.)
bool is_host(const std::string& text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

std::string trimmed(std::string line) {
  line = line.substr(0, line.find('#'));
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// How many nodes each host is, in the order of the list.
std::vector<std::pair<std::string, int>> counted(const NodeList& nodes) {
  std::vector<std::pair<std::string, int>> hosts;
  for (const std::string& name : nodes) {
    const auto same = std::ranges::find(hosts, name, &std::pair<std::string, int>::first);
    if (same != hosts.end()) ++same->second;
    else hosts.emplace_back(name, 1);
  }
  return hosts;
}

/// The output of a command of the shell. Throws std::runtime_error if it fails.
std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error(fmt::format("cannot run {}", command));
  std::string output;
  std::array<char, 4096> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe))
    output.append(chunk.data(), n);
  if (const int status = pclose(pipe); !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("{} failed", command));
  return output;
}

/// The nodes in a text with one host per line. `source` names the text in errors.
NodeList parse_nodes(const std::string& text, const std::string& option,
                     const std::string& source) {
  NodeList nodes;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string name = trimmed(line);
    if (name.empty()) continue;
    if (!is_host(name))
      throw ConfigError(option, fmt::format("{}:{}: {} is no host name; expected one in each line",
                                            printable(source), number, printable(name)));
    nodes.push_back(name);
  }
  return nodes;
}

std::optional<int> parse_count(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

NodeList read_nodes(const std::filesystem::path& file) {
  try {
    return parse_nodes(read_text_file(file), "--hosts", file.string());
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("--hosts", fmt::format("{}: {}", printable(file.string()), error.what()));
  }
}

NodeList discovered_nodes(const std::string& command) {
  try {
    return parse_nodes(output_of(command), "--discover", command);
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("--discover", printable(error.what()));
  }
}

NodeList slurm_nodes() {
  if (!std::getenv("SLURM_JOB_NODELIST")) return {};
  return parse_nodes(output_of("scontrol show hostnames"), "SLURM_JOB_NODELIST",
                     "scontrol show hostnames");
}

std::string hosts_with_slots(const NodeList& nodes, int workers_per_node) {
  std::vector<std::string> words;
  for (const auto& [name, times] : counted(nodes))
    words.push_back(fmt::format("{}:{}", name, times * workers_per_node));
  return fmt::format("{}", fmt::join(words, ","));
}

std::string host_names(const NodeList& nodes) {
  std::vector<std::string> words;
  for (const auto& [name, times] : counted(nodes)) words.push_back(name);
  return fmt::format("{}", fmt::join(words, ","));
}

NodeRange parse_node_range(const std::string& text) {
  const auto colon = text.find(':');
  const auto least = parse_count(std::string_view(text).substr(0, colon));
  const auto most =
      colon == std::string::npos ? least : parse_count(std::string_view(text).substr(colon + 1));
  if (!least || !most || *least < 1 || *most < *least || *most > kMostNodes)
    throw ConfigError("--nodes",
                      fmt::format("{}: expected MIN:MAX with 1 <= MIN <= MAX <= {}, or one number",
                                  printable(text), kMostNodes));
  return {*least, *most};
}

}  // namespace trigram
