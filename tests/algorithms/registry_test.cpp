#include "algorithms/registry.h"

#include <gtest/gtest.h>

#include "core/check.h"

namespace trigram::registry_test {
namespace {

AlgorithmEntry named(const std::string& name) {
  AlgorithmEntry entry = algorithms().front();
  entry.name = name;
  return entry;
}

TEST(AlgorithmRegistry, AnAddedAlgorithmComesLastAndIsFound) {
  const std::size_t before = algorithms().size();
  EXPECT_FALSE(has_added_algorithms());
  add_algorithm(named("mine"));
  EXPECT_TRUE(has_added_algorithms());
  ASSERT_EQ(algorithms().size(), before + 1);
  EXPECT_EQ(algorithms().back().name, "mine");
  EXPECT_EQ(resolve_component(algorithms(), "algorithm", "mine", "/algorithm")["name"], "mine");
}

/// There are four partners in turn, each for one exchange, and an exchange in every third step.
TEST(AlgorithmRegistry, CyclesIncludeTheStepsWithoutExchange) {
  const auto cycle = [](const Json& spec) {
    const AlgorithmEntry& entry = find_component(algorithms(), "algorithm", spec, "");
    const Json resolved = resolve_component(algorithms(), "algorithm", spec, "");
    return entry.make(component_options(resolved))->schedule(Layout(8, 2)).cycle.value().steps;
  };
  EXPECT_EQ(cycle({{"name", "decentralized"}, {"mode", "shift_one"}}), 4);
  EXPECT_EQ(
      cycle({{"name", "decentralized"}, {"mode", "shift_one"}, {"communication_interval", 3}}), 12);
  EXPECT_EQ(cycle({{"name", "decentralized"}, {"communication_interval", 5}}), 5);
  EXPECT_EQ(cycle({{"name", "dcd_psgd"}, {"communication_interval", 2}}), 2);
}

TEST(AlgorithmRegistry, TwoAlgorithmsWithOneNameAreRefused) {
  const std::size_t before = algorithms().size();
  EXPECT_THROW(add_algorithm(named(algorithms().back().name)), InvariantError);
  add_algorithm(named("yours"));
  EXPECT_THROW(add_algorithm(named("yours")), InvariantError);
  EXPECT_EQ(algorithms().size(), before + 1);
}

}  // namespace
}  // namespace trigram::registry_test
