#include "core/config/json_text.h"

#include <gtest/gtest.h>

namespace trigram::test::json_text_test {
namespace {

TEST(JsonText, ATextIsEmptyUnlessTheKeyHasAString) {
  const Json object = {{"name", "ring"}, {"size", 8}, {"none", nullptr}};
  EXPECT_EQ(text_or_empty(object, "name"), "ring");
  EXPECT_EQ(text_or_empty(object, "size"), "");
  EXPECT_EQ(text_or_empty(object, "none"), "");
  EXPECT_EQ(text_or_empty(object, "absent"), "");
}

}  // namespace
}  // namespace trigram::test::json_text_test
