// The operations of HostNnOps that slide a window over images.

#include <algorithm>

#include "core/check.h"
#include "core/nn/host_nn_ops.h"
#include "core/operands.h"

namespace trigram {
namespace {

struct Sizes {
  explicit Sizes(const Window& w)
      : image(w.height * w.width),
        out(w.out_height() * w.out_width()),
        taps(w.channels * w.kernel * w.kernel),
        images(w.batch * w.channels * image),
        pooled(w.batch * w.channels * out),
        columns(w.batch * out * taps) {}
  std::size_t image, out, taps, images, pooled, columns;
};

// Visits the columns in order. For every run of adjacent pixels under a row of the window it calls
// visit(column index, image index, count); for every run outside the image it calls pad(column
// index, count).
template <class Visit, class Pad>
void for_each_run(const Window& w, const Visit& visit, const Pad& pad) {
  const Sizes sizes(w);
  std::size_t column = 0;
  for (std::size_t b = 0; b < w.batch; ++b) {
    for (std::size_t out = 0; out < sizes.out; ++out) {
      // The window's top row, in the padded image.
      const std::size_t top = out / w.out_width() * w.stride;
      const std::size_t left = out % w.out_width() * w.stride;
      // Of this row of the window, the positions [first, last) lie within the image.
      const std::size_t first = std::min(w.padding - std::min(w.padding, left), w.kernel);
      const std::size_t last = std::max(
          first, std::min(w.kernel, w.width + w.padding - std::min(left, w.width + w.padding)));
      for (std::size_t row = 0; row < w.channels * w.kernel; ++row, column += w.kernel) {
        const std::size_t c = row / w.kernel, y = top + row % w.kernel;
        if (y < w.padding || y >= w.height + w.padding || first == last) {
          pad(column, w.kernel);
          continue;
        }
        const std::size_t pixel =
            ((b * w.channels + c) * w.height + y - w.padding) * w.width + left + first - w.padding;
        pad(column, first);
        visit(column + first, pixel, last - first);
        pad(column + last, w.kernel - last);
      }
    }
  }
}

}  // namespace

void HostNnOps::im2col(const Window& window, const Tensor& images, const Tensor& columns) {
  const Sizes sizes(window);
  const float* image = operand(images, sizes.images);
  float* column = operand(columns, sizes.columns);
  for_each_run(
      window,
      [=](std::size_t to, std::size_t from, std::size_t count) {
        std::copy_n(image + from, count, column + to);
      },
      [=](std::size_t to, std::size_t count) { std::fill_n(column + to, count, 0.f); });
}

void HostNnOps::col2im(const Window& window, const Tensor& columns, const Tensor& images) {
  const Sizes sizes(window);
  const float* column = operand(columns, sizes.columns);
  float* image = operand(images, sizes.images);
  std::fill_n(image, sizes.images, 0.f);
  for_each_run(
      window,
      [=](std::size_t from, std::size_t to, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) image[to + i] += column[from + i];
      },
      [](std::size_t, std::size_t) {});
}

void HostNnOps::max_pool(const Window& window, const Tensor& x, const Tensor& y,
                         const Tensor& argmax) {
  TRIGRAM_CHECK(window.padding == 0, "max_pool does not pad, {} asked", window.padding);
  const Sizes sizes(window);
  const float* in = operand(x, sizes.images);
  float* out = operand(y, sizes.pooled);
  float* chosen = operand(argmax, sizes.pooled);
  for (std::size_t i = 0; i < sizes.pooled; ++i) {
    const float* image = in + i / sizes.out * sizes.image;
    const std::size_t at = i % sizes.out;
    const std::size_t corner = at / window.out_width() * window.stride * window.width +
                               at % window.out_width() * window.stride;
    std::size_t best = corner;
    for (std::size_t ky = 0; ky < window.kernel; ++ky) {
      for (std::size_t kx = 0; kx < window.kernel; ++kx) {
        const std::size_t pixel = corner + ky * window.width + kx;
        // Among equal pixels the first wins. A NaN wins over all numbers, so that a diverged run
        // stays visible.
        if (image[pixel] > image[best] || image[pixel] != image[pixel]) best = pixel;
      }
    }
    out[i] = image[best];
    chosen[i] = static_cast<float>(best);
  }
}

void HostNnOps::max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                              const Tensor& dx) {
  const Sizes sizes(window);
  const float* out = operand(dy, sizes.pooled);
  const float* chosen = operand(argmax, sizes.pooled);
  float* in = operand(dx, sizes.images);
  std::fill_n(in, sizes.images, 0.f);
  for (std::size_t i = 0; i < sizes.pooled; ++i) {
    in[i / sizes.out * sizes.image + static_cast<std::size_t>(chosen[i])] += out[i];
  }
}

}  // namespace trigram
