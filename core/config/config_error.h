#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// One mistake in an input.
struct Mistake {
  enum class Kind {
    wrong,
    missing,         // a required value is not there
    without_effect,  // the option changes nothing beside the other options
  };
  std::string pointer;  // a JSON pointer, "" being the whole input, or an option of a command
  std::string message;
  Kind kind = Kind::wrong;
  std::string file = {};  // empty where it is not known, or the input is not a file
  /// One printable line: the file, the pointer, the message.
  std::string text() const;
};

/// Bad input. `what()` is a printable line for each mistake: the file, the JSON pointer, what was
/// wrong and expected, the nearest valid name. Programs that meet one exit with code 2.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(std::string pointer, std::string message, Mistake::Kind kind = Mistake::Kind::wrong);
  /// At least one mistake.
  explicit ConfigError(std::vector<Mistake> mistakes);

  /// Of the first mistake.
  const std::string& pointer() const { return mistakes_.front().pointer; }
  const std::vector<Mistake>& mistakes() const { return mistakes_; }
  /// The same error, whose pointers lead into `file` where no other file is named.
  ConfigError in_file(const std::string& file) const;

 private:
  std::vector<Mistake> mistakes_;
};

/// Collects the mistakes of several checks, so that one error lists them all. A mistake that is
/// found again, as at the next point of a sweep, counts once.
class Mistakes {
 public:
  /// Runs a check; false when it threw a ConfigError, whose mistakes are kept.
  template <class Check>
  bool none_in(Check check) {
    try {
      check();
      return true;
    } catch (const ConfigError& error) {
      add(error);
      return false;
    }
  }
  void add(const ConfigError& error);
  void keep(const std::function<bool(const Mistake&)>& kept);
  std::size_t size() const { return found_.size(); }
  /// Throws a ConfigError of all of them, if there are any.
  void raise() const;

 private:
  std::vector<Mistake> found_;
};

/// `; did you mean "ring"?` for the candidate nearest to `name` by edit distance, in which a change
/// of case counts half, or else for one that contains `name` or is its beginning; an empty string
/// when none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
/// The same sentence for a candidate that is known.
std::string did_you_mean(std::string_view candidate);

}  // namespace trigram
