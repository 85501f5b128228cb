#include "core/config/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/config_errors.h"

namespace trigram::fields_test {
namespace {

using test::config_error_text;
using ::testing::HasSubstr;
using ::testing::StartsWith;

enum class Colour { red, green };

struct Inner {
  double latency_s = 50e-6;
};

struct Options {
  bool overlap = true;
  std::int64_t count = 4;
  double rate = 0.5;
  std::size_t bucket_bytes = 10 << 20;
  Colour colour = Colour::green;
  std::string note;
  std::vector<std::int64_t> list;
  Inner inner;
};

FieldTable<Inner> inner_fields() {
  return FieldTable<Inner>{}.field("latency", &Inner::latency_s,
                                   quantity(Dimension::duration, true), "how late");
}

FieldTable<Options> fields() {
  return FieldTable<Options>{}
      .field("overlap", &Options::overlap, boolean(), "exchange early")
      .field("count", &Options::count, integer(1, 8), "how many")
      .field("rate", &Options::rate, number(0, 1), "how often")
      .field("bucket", &Options::bucket_bytes, byte_size(), "how large")
      .field("colour", &Options::colour,
             one_of<Colour>({{"red", Colour::red}, {"green", Colour::green}}), "which")
      .field("note", &Options::note, text(), "whatever")
      .field("list", &Options::list, list_of(integer(0)), "which ones")
      .field("inner", &Options::inner, nested(inner_fields()), "what is inside")
      .refuse("hierarchical", "hub and spokes have no hierarchy");
}

std::string complaint(const char* json) {
  return config_error_text([&] { fields().parse(Json::parse(json), "/algorithm"); });
}

TEST(Fields, AbsentFieldsKeepTheirDefaults) {
  const Options options = fields().parse(Json::object(), "");
  EXPECT_TRUE(options.overlap);
  EXPECT_EQ(options.count, 4);
  EXPECT_EQ(options.bucket_bytes, 10u << 20);
  EXPECT_EQ(options.inner.latency_s, 50e-6);
}

TEST(Fields, AreParsedByTheirTypes) {
  const Options options = fields().parse(
      Json::parse(R"({"overlap": false, "count": 8, "rate": 1, "bucket": "1MiB", "colour": "red",
                      "note": "n", "list": [3, 1], "inner": {"latency": "2ms"}})"),
      "");
  EXPECT_FALSE(options.overlap);
  EXPECT_EQ(options.count, 8);
  EXPECT_EQ(options.rate, 1.0);
  EXPECT_EQ(options.bucket_bytes, 1u << 20);
  EXPECT_EQ(options.colour, Colour::red);
  EXPECT_EQ(options.note, "n");
  EXPECT_EQ(options.list, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(options.inner.latency_s, 2e-3);
}

struct Rounding {
  bool exact = true;
  std::int64_t levels = 4;
};
struct Holder {
  Rounding inner;
};

TEST(Fields, WithoutEffectAreNotDumpedAndAreRefused) {
  const auto inner = FieldTable<Rounding>{}
                         .field("levels", &Rounding::levels, integer(1), "how fine")
                         .only_where([](const Rounding& s) { return !s.exact; }, "is exact")
                         .field("exact", &Rounding::exact, boolean(), "whether");
  const auto table = FieldTable<Holder>{}.include(&Holder::inner, inner);
  const Json coarse = {{"exact", false}, {"levels", 2}};
  EXPECT_EQ(table.parse(coarse, "").inner.levels, 2);
  EXPECT_EQ(table.dump(table.parse(coarse, "")), coarse);
  EXPECT_EQ(table.dump(Holder{}), (Json{{"exact", true}}));
  EXPECT_EQ(table.schema().at("properties").size(), 2u);
  EXPECT_EQ(config_error_text([&] {
              table.parse({{"levels", 4}}, "/algorithm");
            }),
            "/algorithm/levels: is exact");
}

TEST(Fields, AreCompletedAndCheckedTogether) {
  const auto table = FieldTable<Rounding>{}
                         .field("levels", &Rounding::levels, integer(1), "how fine")
                         .finish_with([](Rounding& r, const std::string& pointer) {
                           if (r.levels > 9) throw ConfigError(child(pointer, "levels"), "fine");
                           r.exact = r.levels > 4;
                         });
  EXPECT_FALSE(table.parse(Json::object(), "").exact);
  EXPECT_TRUE(table.parse({{"levels", 5}}, "").exact);
  EXPECT_EQ(config_error_text([&] { table.parse({{"levels", 10}}, "/a"); }), "/a/levels: fine");
}

TEST(Fields, NumbersMayExcludeAnEnd) {
  const auto above = number(0, 1, Open::below), below = number(0, 1, Open::above);
  EXPECT_EQ(above.parse(1, ""), 1);
  EXPECT_EQ(below.parse(0, ""), 0);
  EXPECT_THROW(above.parse(0, ""), ConfigError);
  EXPECT_THROW(below.parse(1, ""), ConfigError);
  EXPECT_EQ(above.schema().at("exclusiveMinimum"), 0);
  EXPECT_EQ(below.schema().at("exclusiveMaximum"), 1);
}

TEST(Fields, NumbersWithoutALargestAreFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto above = number(0, kInfinity, Open::below);
  EXPECT_EQ(above.parse(1e300, ""), 1e300);
  EXPECT_EQ(above.schema(), Json({{"type", "number"}, {"exclusiveMinimum", 0.0}}));
  EXPECT_EQ(config_error_text([&] { above.parse(-1, "/a"); }),
            "/a: expected a number above 0, not -1");
  for (const double bad : {kInfinity, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(above.parse(bad, ""), ConfigError) << bad;
}

TEST(Fields, DumpedOptionsParseBackToTheSame) {
  Options options;
  options.rate = 0.1;
  options.colour = Colour::red;
  options.inner.latency_s = 1.0 / 3;
  const Json dumped = fields().dump(options);
  EXPECT_EQ(dumped, fields().dump(fields().parse(dumped, "")));
  EXPECT_EQ(dumped.at("colour"), "red");
  EXPECT_EQ(dumped.at("bucket"), "10MiB");
}

TEST(Fields, AnUnknownKeySuggestsTheNearest) {
  EXPECT_THAT(complaint(R"({"buckett": "1MiB"})"),
              AllOf(StartsWith("/algorithm/buckett: "), HasSubstr("did you mean \"bucket\"?")));
  EXPECT_THAT(complaint(R"({"zzzzzzzz": 1})"), ::testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(complaint(R"({"a/b~c": 1})"), StartsWith("/algorithm/a~1b~0c: "));
}

TEST(Fields, RefusedKeysSayWhy) {
  EXPECT_EQ(complaint(R"({"hierarchical": true})"),
            "/algorithm/hierarchical: hub and spokes have no hierarchy");
}

TEST(Fields, WrongTypesNamePointerExpectationAndValue) {
  EXPECT_THAT(complaint(R"({"overlap": 1})"),
              AllOf(StartsWith("/algorithm/overlap: "), HasSubstr("not 1")));
  EXPECT_THAT(complaint(R"({"count": 2.5})"), HasSubstr("an integer from 1 to 8"));
  EXPECT_THAT(complaint(R"({"count": 9})"), HasSubstr("an integer from 1 to 8"));
  EXPECT_THAT(complaint(R"({"count": 18446744073709551615})"), HasSubstr("an integer"));
  EXPECT_THAT(complaint(R"({"rate": -0.1})"), HasSubstr("a number from 0 to 1"));
  EXPECT_THAT(complaint(R"({"note": 3})"), HasSubstr("a text"));
  EXPECT_THAT(complaint(R"({"colour": "gren"})"), HasSubstr("did you mean \"green\"?"));
  EXPECT_THAT(complaint(R"({"list": 3})"), HasSubstr("a list"));
  EXPECT_THAT(complaint(R"({"list": [1, -2]})"), StartsWith("/algorithm/list/1: "));
  EXPECT_THAT(complaint(R"({"inner": {"latency": "0s"}})"),
              StartsWith("/algorithm/inner/latency: "));
  EXPECT_THAT(complaint("[]"), AllOf(StartsWith("/algorithm: "), HasSubstr("an object")));
}

TEST(Fields, SizesAreWholeNumbersOfBytesWithAUnit) {
  EXPECT_THAT(complaint(R"({"bucket": 1048576})"), HasSubstr("lacks a unit"));
  EXPECT_THAT(complaint(R"({"bucket": "0.5B"})"), HasSubstr("whole number of bytes"));
  EXPECT_THAT(complaint(R"({"bucket": "-1MiB"})"), HasSubstr("not negative"));
  EXPECT_EQ(complaint(R"({"bucket": "0.5KiB"})"), "no error");
}

TEST(Fields, RequiredFieldsMustBeGiven) {
  const auto table = FieldTable<Options>{}.required("note", &Options::note, text(), "a reason");
  EXPECT_THROW(table.parse(Json::object(), ""), ConfigError);
  EXPECT_EQ(table.schema().at("required"), Json::array({"note"}));
}

TEST(Fields, OfIncludedTablesAreReadAsOwnFields) {
  const auto table = FieldTable<Options>{}.include(&Options::inner, inner_fields());
  EXPECT_EQ(table.parse({{"latency", "1ms"}}, "").inner.latency_s, 1e-3);
  EXPECT_EQ(table.dump(Options{}).at("latency"), "50us");
}

TEST(Fields, TheSchemaAgreesWithTheParser) {
  const Json schema = fields().schema();
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const Json& properties = schema.at("properties");
  EXPECT_EQ(properties.at("count").at("minimum"), 1);
  EXPECT_EQ(properties.at("count").at("maximum"), 8);
  EXPECT_EQ(properties.at("count").at("default"), 4);
  EXPECT_EQ(properties.at("colour").at("enum"), Json::array({"red", "green"}));
  EXPECT_EQ(properties.at("bucket").at("default"), "10MiB");
  EXPECT_EQ(properties.at("overlap").at("description"), "exchange early");
}

}  // namespace
}  // namespace trigram::fields_test
