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
    missing,         // a required value is absent
    without_effect,  // the option has no effect with the other options
  };
  std::string pointer;  // a JSON pointer ("" is the whole input), or an option of a command line
  std::string message;
  Kind kind = Kind::wrong;
  std::string file = {};  // empty if unknown, or if the input is not a file
  /// One printable line: the file, the pointer, the message.
  std::string text() const;
};

/// Bad input. `what()` has one printable line per mistake: the file, the JSON pointer, what was
/// wrong and what was expected, and the nearest valid name. Programs exit with code 2 on this
/// error.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(std::string pointer, std::string message, Mistake::Kind kind = Mistake::Kind::wrong);
  /// Needs at least one mistake.
  explicit ConfigError(std::vector<Mistake> mistakes);

  /// The pointer of the first mistake.
  const std::string& pointer() const { return mistakes_.front().pointer; }
  const std::vector<Mistake>& mistakes() const { return mistakes_; }
  /// The same error; mistakes that have a JSON pointer and no file yet get `file`.
  ConfigError in_file(const std::string& file) const;

 private:
  std::vector<Mistake> mistakes_;
};

/// Collects the mistakes of several checks, so that one error lists them all. A mistake that is
/// found again, for example at the next point of a sweep, counts once.
class Mistakes {
 public:
  /// Runs a check. Returns false if it threw a ConfigError, whose mistakes are then kept.
  template <class Check>
  bool passes(Check check) {
    try {
      check();
      return true;
    } catch (const ConfigError& error) {
      add(error);
      return false;
    }
  }
  void add(const ConfigError& error);
  /// Drops all mistakes for which `kept` is false.
  void keep(const std::function<bool(const Mistake&)>& kept);
  std::size_t size() const { return found_.size(); }
  /// Throws a ConfigError with all collected mistakes, if there are any.
  void raise() const;

 private:
  std::vector<Mistake> found_;
};

/// Returns `; did you mean "ring"?` with the candidate nearest to `name` by edit distance, in which
/// a change of case counts half. If no candidate is near, takes one that contains `name` or is a
/// prefix of `name`. If there is no such candidate either, returns an empty string.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
/// The same sentence for a known candidate.
std::string did_you_mean(std::string_view candidate);

}  // namespace trigram
