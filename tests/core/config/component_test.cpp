#include "core/config/component.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/config_errors.h"

namespace trigram::component_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Shape {
  double area = 0;
};
struct SquareOptions {
  std::int64_t side = 2;
};

/// Shapes whose factories take a scale that is not part of the configuration.
std::vector<Component<Shape, int>> shapes() {
  return {
      component<Shape, int>("point", "no area", FieldTable<SquareOptions>{},
                            [](const SquareOptions&, int) { return std::make_unique<Shape>(); }),
      component<Shape, int>(
          "square", "four sides",
          FieldTable<SquareOptions>{}.field("side", &SquareOptions::side, integer(0), "length"),
          [](const SquareOptions& o, int scale) {
            return std::make_unique<Shape>(Shape{static_cast<double>(o.side * o.side * scale)});
          })};
}

Json resolve(const Json& j) { return resolve_component(shapes(), "shape", j, "/shape"); }

std::string complaint(const Json& j) {
  return test::config_error_text([&] { resolve(j); });
}

TEST(Component, ANameIsShortForAnObject) {
  EXPECT_EQ(resolve("square"), (Json{{"name", "square"}, {"side", 2}}));
  EXPECT_EQ(resolve({{"name", "square"}, {"side", 3}}), (Json{{"name", "square"}, {"side", 3}}));
}

TEST(Component, IsCreatedFromResolvedOptionsAndArguments) {
  const Json resolved = resolve({{"name", "square"}, {"side", 3}});
  const auto list = shapes();
  const auto& entry = find_component(list, "shape", resolved, "/shape");
  EXPECT_EQ(entry.make(component_options(resolved), 10)->area, 90);
}

TEST(Component, AnUnknownNameSuggestsTheNearest) {
  EXPECT_THAT(complaint("sqare"),
              AllOf(StartsWith("/shape: unknown shape \"sqare\""), HasSubstr("point, square"),
                    HasSubstr("did you mean \"square\"?")));
  EXPECT_THAT(complaint({{"name", "sqare"}}), StartsWith("/shape/name: "));
}

TEST(Component, WrongFormsAreErrors) {
  EXPECT_THAT(complaint(3), StartsWith("/shape: "));
  EXPECT_THAT(complaint(Json::object()), StartsWith("/shape/name: missing"));
  EXPECT_THAT(complaint({{"name", 3}}), StartsWith("/shape/name: "));
  EXPECT_THAT(complaint({{"name", "point"}, {"side", 3}}), StartsWith("/shape/side: "));
}

TEST(Component, TheSchemaOffersNameOrObject) {
  const Json schema = schema_of_components(shapes());
  ASSERT_EQ(schema.at("anyOf").size(), 3u);
  EXPECT_EQ(schema.at("anyOf")[0].at("enum"), Json::array({"point", "square"}));
  EXPECT_EQ(schema.at("anyOf")[2].at("properties").at("name").at("const"), "square");
}

}  // namespace
}  // namespace trigram::component_test
