#pragma once

#include <cstdio>
#include <string>

namespace trigram {

/// Prints progress. On a terminal, status lines overwrite one another; elsewhere only permanent
/// lines are printed. Modelled on ninja's class of the same name.
class LinePrinter {
 public:
  explicit LinePrinter(std::FILE* out);
  /// Prints a line that the next line overwrites; does nothing if `out` is not a terminal.
  void status(const std::string& line);
  /// Prints a permanent line.
  void line(const std::string& line);
  /// Erases the status line.
  void clear();

 private:
  std::FILE* out_;
  bool terminal_;
  bool has_status_ = false;
};

}  // namespace trigram
