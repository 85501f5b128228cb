#pragma once

#include <string>

namespace trigram {

/// A point of a drawing. x grows to the right, y grows downwards.
struct Point {
  double x = 0, y = 0;
};

/// A black-and-white drawing; coordinates are in pixels.
class Svg {
 public:
  void line(Point from, Point to, double width);
  /// A curve whose middle is `bend` pixels away from the middle of the straight line.
  void curve(Point from, Point to, double bend, double width);
  /// A rectangle around `centre` with rounded corners.
  void box(Point centre, double width, double height, const std::string& fill, double rounding,
           double border = 1);
  enum class Anchor { start, middle };
  void text(Point at, const std::string& words, double size, Anchor anchor);
  /// The whole document; its size fits everything drawn so far.
  std::string document() const;

 private:
  void reach(Point p);
  std::string body_;
  Point least_{1e300, 1e300}, most_{-1e300, -1e300};
};

/// An upper estimate of the width of a text in pixels.
double text_width(const std::string& words, double size);

}  // namespace trigram
