// Lists of nodes, and how launchers are told them.
#include "experiments/launch/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/config/config_error.h"

namespace trigram::nodes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NodeList nodes_in(const std::string& text) {
  const auto file =
      std::filesystem::temp_directory_path() / ("nodes_test." + std::to_string(getpid()));
  std::ofstream(file) << text;
  const auto remove = [&] { std::filesystem::remove(file); };
  try {
    NodeList nodes = read_nodes(file);
    remove();
    return nodes;
  } catch (...) {
    remove();
    throw;
  }
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Nodes, are_the_lines_of_a_file_without_comments) {
  EXPECT_THAT(nodes_in("a\n# none\n  b.example.org  # the second\n\n10.0.0.3\r\n"),
              ElementsAre("a", "b.example.org", "10.0.0.3"));
  EXPECT_THAT(discovered_nodes("printf 'x\\ny\\n'"), ElementsAre("x", "y"));
}

TEST(Nodes, launchers_get_every_host_once) {
  const NodeList nodes = {"a", "b", "a"};
  EXPECT_EQ(hosts_with_slots(nodes, 4), "a:8,b:4");
  EXPECT_EQ(host_names(nodes), "a,b");
}

TEST(Nodes, ranges) {
  EXPECT_EQ(parse_node_range("2:4").least, 2);
  EXPECT_EQ(parse_node_range("2:4").most, 4);
  EXPECT_EQ(parse_node_range("3").least, 3);
  EXPECT_EQ(parse_node_range("3").most, 3);
  for (const char* wrong : {"", "0", "4:2", "a", "1:", ":2", "1:2:3", "-1", "1:99999999999"})
    EXPECT_THAT(error_of([&] { parse_node_range(wrong); }), HasSubstr("--nodes: ")) << wrong;
}

TEST(Nodes, bad_lines_are_refused) {
  EXPECT_THAT(error_of([] { nodes_in("a\n--oversubscribe\n"); }),
              HasSubstr(":2: --oversubscribe is no host name"));
  EXPECT_THAT(error_of([] { nodes_in("a; rm -rf x\n"); }), HasSubstr("is no host name"));
  EXPECT_THAT(error_of([] { read_nodes("/nonexistent/hosts"); }), HasSubstr("--hosts: "));
  EXPECT_THAT(error_of([] { discovered_nodes("false"); }), HasSubstr("--discover: false failed"));
}

}  // namespace
}  // namespace trigram::nodes_test
