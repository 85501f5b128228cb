#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// One field of an options struct. The struct is passed as a void pointer.
struct Field {
  std::string name, doc;
  bool required;
  Json schema;
  std::function<void(void* options, const Json&, const std::string& pointer)> set;
  std::function<Json(const void* options)> get;
  std::function<bool(const void* options)> applies = {};  // empty: always
  std::string why_not = {};
};

/// The part of FieldTable that does not depend on the struct. It is compiled once, because every
/// algorithm, codec and network has a table.
class FieldList {
 public:
  void add(Field field);
  /// Adds the fields of `inner`. `member_of` maps the address of the outer struct to that of the
  /// inner.
  void include(const FieldList& inner, const std::function<void*(void*)>& member_of);
  void last_only_where(std::function<bool(const void*)> applies, std::string why_not);
  void refuse(std::string key, std::string reason);

  /// Sets the fields of *options, which hold their defaults, from the object `j`. Throws a
  /// ConfigError with all mistakes in `j`. Options without effect are reported only if there is no
  /// other mistake.
  void parse(const Json& j, const std::string& pointer, void* options) const;
  Json dump(const void* options) const;
  Json schema(const void* defaults) const;

 private:
  struct Refused {
    std::string key, why;
  };
  void check_known(const std::string& key, const std::string& pointer) const;

  std::vector<Field> fields_;
  std::vector<Refused> refused_;
};

}  // namespace trigram
