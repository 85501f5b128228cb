#pragma once

#include <string>

namespace trigram {

/// A place in a drawing: x to the right, y down.
struct Point {
  double x = 0, y = 0;
};

/// A drawing, in pixels, in black on white.
class Svg {
 public:
  /// `dashes` as in SVG, such as "4 2"; empty for a solid line.
  void line(Point from, Point to, double width, const std::string& dashes = "");
  /// A curve that leaves the straight line by `bend` pixels in its middle.
  void curve(Point from, Point to, double bend, double width, const std::string& dashes = "");
  /// A rectangle around `centre`, with rounded corners.
  void box(Point centre, double width, double height, const std::string& fill, double rounding,
           double border = 1);
  enum class Anchor { start, middle };
  void text(Point at, const std::string& words, double size, Anchor anchor);
  /// The document, whose extent is that of what has been drawn.
  std::string document() const;

 private:
  void reach(Point p);
  std::string body_;
  Point least_{1e300, 1e300}, most_{-1e300, -1e300};
};

/// Pixels that words take, generously.
double text_width(const std::string& words, double size);

}  // namespace trigram
