#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trigram::test {

/// Language models of the workload "text", in plain loops and f64, one line at a time. Shares no
/// code with core/.
using DoubleRow = std::vector<double>;
using DoubleRows = std::vector<DoubleRow>;

double reference_gelu(double x);
DoubleRow reference_layer_norm(const DoubleRow& x, const DoubleRow& gain, const DoubleRow& bias);
/// Causal attention of one sequence; row i has the queries, keys and values of all heads.
DoubleRows reference_attention(const DoubleRows& qkv, std::size_t heads);
/// The state after (x, h) of a gated recurrent unit, each of (reset, update, candidate).
DoubleRow reference_gru(const DoubleRow& x, const DoubleRow& h, const DoubleRow& previous);

struct ReferenceText {
  bool gru = false;
  std::size_t width = 0, layers = 0, heads = 0;
  bool tied = false;
};
/// The mean cross-entropy of the bytes of `lines` with their ends, in nats. `weights` has, from its
/// beginning: bias and weights of the last layer (unless tied); bias and gain of the last norm; the
/// blocks from the last to the first; the table of embeddings. A block of a transformer has bias
/// and weights of the mlp's second and first layer, bias and gain of its norm, bias and weights of
/// the layers after and before attention, bias and gain of its norm. A recurrent layer has bias and
/// weights of the state's contribution, then of the input's.
double reference_text_loss(const ReferenceText& model, std::span<const std::string> lines,
                           std::span<const double> weights);

/// (f(x + h) - f(x - h)) / 2h for element i of x, with h = 1e-5.
template <class Function>
double central_difference(std::vector<double>& x, std::size_t i, const Function& f) {
  const double h = 1e-5, original = x[i];
  x[i] = original + h;
  const double above = f();
  x[i] = original - h;
  const double below = f();
  x[i] = original;
  return (above - below) / (2 * h);
}

}  // namespace trigram::test
