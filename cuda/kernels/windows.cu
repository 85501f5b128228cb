// The operations of NnOps that slide a window over images. Every thread computes one value of the
// result; sums are in the host's order.

#include "cuda/kernels/grid.h"
#include "cuda/kernels/nn.h"
#include "cuda/kernels/rounding.h"

namespace trigram::cuda {
namespace {

// The dimensions of a Window, in 32 bits, because a division by a value that is unknown at compile
// time takes many times as long in 64 bits.
struct Sizes {
  explicit Sizes(const Window& w)
      : batch(count(w.batch)),
        channels(count(w.channels)),
        height(count(w.height)),
        width(count(w.width)),
        kernel(count(w.kernel)),
        stride(count(w.stride)),
        padding(count(w.padding)),
        out_height(count(w.out_height())),
        out_width(count(w.out_width())),
        image(height * width),
        out(out_height * out_width),
        taps(channels * kernel * kernel),
        images(batch * channels * image),
        pooled(batch * channels * out),
        columns(batch * out * taps) {}
  static unsigned count(std::size_t n) { return static_cast<unsigned>(n); }

  unsigned batch, channels, height, width, kernel, stride, padding;
  unsigned out_height, out_width, image, out, taps, images, pooled, columns;
};

__global__ void im2col_kernel(Sizes s, const float* images, float* columns) {
  for (unsigned i = static_cast<unsigned>(grid_thread()); i < s.columns;
       i += static_cast<unsigned>(grid_threads())) {
    const unsigned tap = i % s.taps, place = i / s.taps;
    const unsigned b = place / s.out, out = place % s.out;
    const unsigned kx = tap % s.kernel, ky = tap / s.kernel % s.kernel;
    const unsigned c = tap / (s.kernel * s.kernel);
    // Coordinates in the padded image.
    const unsigned y = out / s.out_width * s.stride + ky;
    const unsigned x = out % s.out_width * s.stride + kx;
    const bool inside =
        y >= s.padding && y < s.height + s.padding && x >= s.padding && x < s.width + s.padding;
    columns[i] =
        inside ? images[((b * s.channels + c) * s.height + y - s.padding) * s.width + x - s.padding]
               : 0.0f;
  }
}

// The outputs [first, last) along one side whose windows cover the padded pixel `at`.
struct Covering {
  __device__ __forceinline__ Covering(unsigned at, unsigned kernel, unsigned stride,
                                      unsigned outputs)
      : first(at < kernel ? 0 : (at - kernel) / stride + 1),
        last(at / stride + 1 < outputs ? at / stride + 1 : outputs) {}
  unsigned first, last;
};

__global__ void col2im_kernel(Sizes s, const float* columns, float* images) {
  for (unsigned i = static_cast<unsigned>(grid_thread()); i < s.images;
       i += static_cast<unsigned>(grid_threads())) {
    const unsigned x = i % s.width + s.padding, y = i / s.width % s.height + s.padding;
    const unsigned c = i / s.image % s.channels, b = i / s.image / s.channels;
    const Covering rows(y, s.kernel, s.stride, s.out_height);
    const Covering cols(x, s.kernel, s.stride, s.out_width);
    float sum = 0;
    for (unsigned oy = rows.first; oy < rows.last; ++oy) {
      for (unsigned ox = cols.first; ox < cols.last; ++ox) {
        const unsigned tap = (c * s.kernel + y - oy * s.stride) * s.kernel + x - ox * s.stride;
        sum = add(sum, columns[(b * s.out + oy * s.out_width + ox) * s.taps + tap]);
      }
    }
    images[i] = sum;
  }
}

__global__ void max_pool_kernel(Sizes s, const float* x, float* y, float* argmax) {
  for (unsigned i = static_cast<unsigned>(grid_thread()); i < s.pooled;
       i += static_cast<unsigned>(grid_threads())) {
    const float* const image = x + i / s.out * s.image;
    const unsigned at = i % s.out;
    const unsigned corner = at / s.out_width * s.stride * s.width + at % s.out_width * s.stride;
    unsigned best = corner;
    for (unsigned ky = 0; ky < s.kernel; ++ky) {
      for (unsigned kx = 0; kx < s.kernel; ++kx) {
        const unsigned pixel = corner + ky * s.width + kx;
        // Among equal pixels the first wins. A NaN wins over all numbers, so that a diverged run
        // stays visible.
        if (image[pixel] > image[best] || image[pixel] != image[pixel]) best = pixel;
      }
    }
    y[i] = image[best];
    argmax[i] = static_cast<float>(best);
  }
}

__global__ void max_pool_grad_kernel(Sizes s, const float* dy, const float* argmax, float* dx) {
  for (unsigned i = static_cast<unsigned>(grid_thread()); i < s.images;
       i += static_cast<unsigned>(grid_threads())) {
    const unsigned pixel = i % s.image, plane = i / s.image;
    const Covering rows(pixel / s.width, s.kernel, s.stride, s.out_height);
    const Covering cols(pixel % s.width, s.kernel, s.stride, s.out_width);
    float sum = 0;
    for (unsigned oy = rows.first; oy < rows.last; ++oy) {
      for (unsigned ox = cols.first; ox < cols.last; ++ox) {
        const unsigned out = plane * s.out + oy * s.out_width + ox;
        if (static_cast<unsigned>(argmax[out]) == pixel) sum = add(sum, dy[out]);
      }
    }
    dx[i] = sum;
  }
}

template <class... Parameters, class... Arguments>
void launch_over(cudaStream_t stream, std::size_t n, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  if (n > 0) launch(stream, {.grid = blocks_for(n)}, kernel, arguments...);
}

}  // namespace

void im2col(cudaStream_t stream, const Window& window, const float* images, float* columns) {
  const Sizes sizes(window);
  launch_over(stream, sizes.columns, im2col_kernel, sizes, images, columns);
}

void col2im(cudaStream_t stream, const Window& window, const float* columns, float* images) {
  const Sizes sizes(window);
  launch_over(stream, sizes.images, col2im_kernel, sizes, columns, images);
}

void max_pool(cudaStream_t stream, const Window& window, const float* x, float* y, float* argmax) {
  const Sizes sizes(window);
  launch_over(stream, sizes.pooled, max_pool_kernel, sizes, x, y, argmax);
}

void max_pool_grad(cudaStream_t stream, const Window& window, const float* dy, const float* argmax,
                   float* dx) {
  const Sizes sizes(window);
  launch_over(stream, sizes.images, max_pool_grad_kernel, sizes, dy, argmax, dx);
}

}  // namespace trigram::cuda
