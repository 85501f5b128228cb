#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// One field of an options struct. The struct is passed as a void pointer.
struct Field {
  std::string name, doc;
  bool required;
  Schema schema;
  std::function<void(void* options, const Json&, const std::string& pointer)> set;
  std::function<Json(const void* options)> get;
  std::function<bool(const void* options)> applies = {};  // empty: always
  std::string why_not = {};  // the error if the field is given but does not apply
};

/// The part of FieldTable that does not depend on the struct. It is compiled once, because every
/// algorithm, codec and network has a table.
class FieldList {
 public:
  void add(Field field);
  /// Adds the fields of `inner`. `member_of` returns the address of the inner struct within the
  /// outer struct at the given address.
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

  std::vector<std::shared_ptr<const Field>> fields_;  // shared by copies of the list
  std::vector<Refused> refused_;
};

/// The fields of an options struct S: one table that defines parsing, canonical output, defaults
/// and JSON Schema. S{} holds the defaults. Unknown keys are errors.
///
///   FieldTable<Options>{}.field("interval", &Options::interval, quantity(Dimension::duration),
///   "...")
template <class S>
class FieldTable {
 public:
  template <class T>
  FieldTable& field(std::string name, T S::*member, OptionType<T> kind, std::string doc) {
    return add(std::move(name), member, std::move(kind), std::move(doc), false);
  }
  template <class T>
  FieldTable& required(std::string name, T S::*member, OptionType<T> kind, std::string doc) {
    return add(std::move(name), member, std::move(kind), std::move(doc), true);
  }
  /// Adds the fields of a member that is itself an options struct, as if they were fields of S.
  template <class T>
  FieldTable& include(T S::*member, const FieldTable<T>& inner) {
    list_.include(inner.list_,
                  [member](void* s) -> void* { return &(static_cast<S*>(s)->*member); });
    return *this;
  }
  /// Makes the last field conditional: unless `applies`, it is not dumped, and giving it is a
  /// mistake of the kind without_effect with the message `why_not`.
  FieldTable& only_where(std::function<bool(const S&)> applies, const std::string& why_not) {
    list_.last_only_where([applies = std::move(applies)](
                              const void* s) { return applies(*static_cast<const S*>(s)); },
                          why_not);
    return *this;
  }
  /// Makes `parse` call `finish(s, pointer)` at its end. `finish` may set defaults that depend on
  /// other fields, and throw ConfigError. A table that includes this one does not call it.
  FieldTable& finish_with(std::function<void(S&, const std::string& pointer)> finish) {
    finish_ = std::move(finish);
    return *this;
  }
  /// Declares a key that users are likely to try, with the reason why it is not accepted.
  FieldTable& refuse(std::string key, std::string reason) {
    list_.refuse(std::move(key), std::move(reason));
    return *this;
  }

  S parse(const Json& j, const std::string& pointer) const {
    S result{};
    list_.parse(j, pointer, &result);
    if (finish_) finish_(result, pointer);
    return result;
  }
  Json dump(const S& s) const { return list_.dump(&s); }
  Json schema() const {
    const S defaults{};
    return list_.schema(&defaults);
  }

 private:
  template <class>
  friend class FieldTable;

  template <class T>
  FieldTable& add(std::string name, T S::*member, OptionType<T> kind, std::string doc,
                  bool required) {
    list_.add({std::move(name), std::move(doc), required, std::move(kind.schema),
               [member, parse = std::move(kind.parse)](void* s, const Json& j,
                                                       const std::string& pointer) {
                 static_cast<S*>(s)->*member = parse(j, pointer);
               },
               [member, dump = std::move(kind.dump)](const void* s) {
                 return dump(static_cast<const S*>(s)->*member);
               }});
    return *this;
  }

  FieldList list_;
  std::function<void(S&, const std::string& pointer)> finish_;
};

/// A struct with its own table, written as a nested object.
template <class S>
OptionType<S> nested(FieldTable<S> table) {
  return {[table](const Json& j, const std::string& pointer) { return table.parse(j, pointer); },
          [table](const S& s) { return table.dump(s); }, [table] { return table.schema(); }};
}

}  // namespace trigram
