#include "core/config/option_types.h"

namespace trigram {

OptionType<std::size_t> count(std::int64_t minimum, std::int64_t maximum) {
  auto inner = integer(minimum, maximum);
  return {
      [inner](const Json& j, const std::string& pointer) {
        return static_cast<std::size_t>(inner.parse(j, pointer));
      },
      [inner](const std::size_t& value) { return inner.dump(static_cast<std::int64_t>(value)); },
      inner.schema};
}

OptionType<std::vector<std::size_t>> counts(std::int64_t minimum, std::int64_t maximum) {
  auto one = count(minimum, maximum);
  auto many = list_of(one);
  return {[one, many](const Json& j, const std::string& pointer) {
            return j.is_array() ? many.parse(j, pointer) : std::vector{one.parse(j, pointer)};
          },
          many.dump,
          {{"anyOf", {one.schema, many.schema}}}};
}

}  // namespace trigram
