#include "cuda/kernels/optimizers.h"

#include "cuda/kernels/update_groups.h"

namespace trigram::cuda {
namespace {

template <class Rule>
void launch_update(cudaStream_t stream, const Parameters& p, const Rule& rule) {
  const Cut cut = cut_for(p.n, p.w);
  launch_groups(stream, cut, Update<Rule>(p, cut.head, rule));
}

// Blocks take chunks in turn.
template <class Rule>
__global__ void pieces_kernel(Pieces all, Rule rule) {
  for (std::size_t chunk = blockIdx.x; chunk < all.chunks; chunk += gridDim.x) {
    const Piece& piece = all.pieces[last_before(
        all.count, chunk, [&](unsigned i) { return all.pieces[i].first_chunk; })];
    const Parameters p = chunk_at<Rule>(piece.parameters, (chunk - piece.first_chunk) * kChunk);
    for_each_group(Cut{p.n, 0}, threadIdx.x, blockDim.x, Update<Rule>(p, rule));
  }
}

template <class Rule>
void launch_update(cudaStream_t stream, const Pieces& pieces, const Rule& rule) {
  if (pieces.chunks == 0) return;
  static const unsigned resident = resident_blocks(pieces_kernel<Rule>);
  launch(stream, {.grid = blocks_for(pieces.chunks * kBlock, resident)}, pieces_kernel<Rule>,
         pieces, rule);
}

}  // namespace

void update(cudaStream_t stream, const UpdateRule& rule, const Parameters& parameters) {
  std::visit([&](const auto& r) { launch_update(stream, parameters, r); }, rule);
}
void update(cudaStream_t stream, const UpdateRule& rule, const Pieces& pieces) {
  std::visit([&](const auto& r) { launch_update(stream, pieces, r); }, rule);
}

}  // namespace trigram::cuda
