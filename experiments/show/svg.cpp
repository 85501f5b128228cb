#include "experiments/show/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

std::string escaped(const std::string& words) {
  std::string text;
  for (const char c : words) {
    if (c == '&') text += "&amp;";
    else if (c == '<') text += "&lt;";
    else if (c == '>') text += "&gt;";
    else text += c;
  }
  return text;
}

std::string stroke(double width) {
  return fmt::format("fill=\"none\" stroke=\"black\" stroke-width=\"{:.2f}\"", width);
}

}  // namespace

void Svg::reach(Point p) {
  least_ = {std::min(least_.x, p.x), std::min(least_.y, p.y)};
  most_ = {std::max(most_.x, p.x), std::max(most_.y, p.y)};
}

void Svg::line(Point from, Point to, double width) {
  reach(from);
  reach(to);
  body_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", from.x, from.y, to.x,
                       to.y, stroke(width));
}

void Svg::curve(Point from, Point to, double bend, double width) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  const Point middle{(from.x + to.x) / 2 + dy / length * bend,
                     (from.y + to.y) / 2 - dx / length * bend};
  for (const Point p : {from, to, middle}) reach(p);
  const Point control{2 * middle.x - (from.x + to.x) / 2, 2 * middle.y - (from.y + to.y) / 2};
  body_ += fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" {}/>\n", from.x,
                       from.y, control.x, control.y, to.x, to.y, stroke(width));
}

void Svg::box(Point centre, double width, double height, const std::string& fill, double rounding,
              double border) {
  const Point corner{centre.x - width / 2, centre.y - height / 2};
  reach(corner);
  reach({corner.x + width, corner.y + height});
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
      "stroke=\"black\" stroke-width=\"{}\"/>\n",
      corner.x, corner.y, width, height, rounding, fill, border);
}

void Svg::text(Point at, const std::string& words, double size, Anchor anchor) {
  const double width = text_width(words, size);
  reach({anchor == Anchor::middle ? at.x - width / 2 : at.x, at.y - size});
  reach({anchor == Anchor::middle ? at.x + width / 2 : at.x + width, at.y});
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}>{}</text>\n", at.x, at.y,
                  size, anchor == Anchor::middle ? " text-anchor=\"middle\"" : "", escaped(words));
}

std::string Svg::document() const {
  constexpr double kMargin = 10;
  const double width = most_.x - least_.x + 2 * kMargin, height = most_.y - least_.y + 2 * kMargin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"{2:.1f} {3:.1f} {0:.1f} {1:.1f}\" font-family=\"sans-serif\">\n"
      "<rect x=\"{2:.1f}\" y=\"{3:.1f}\" width=\"{0:.1f}\" height=\"{1:.1f}\" fill=\"white\"/>\n"
      "{4}</svg>\n",
      width, height, least_.x - kMargin, least_.y - kMargin, body_);
}

double text_width(const std::string& words, double size) {
  return 0.62 * size * static_cast<double>(words.size());
}

}  // namespace trigram
