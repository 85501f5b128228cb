#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/oracles/codec_references.h"
#include "tests/support/weight_vectors.h"

// Averages of sparse vectors whose elements all ranks select together, in plain loops.
namespace trigram::test::sparse {

/// The mean of one bucket's vectors, computed by ranks that keep residuals.
using Reference = std::function<Vector(const Vectors& inputs, int bucket, long step)>;

inline Vector only(const Vector& x, const std::vector<std::uint32_t>& indices) {
  Vector result(x.size(), 0);
  for (const std::uint32_t i : indices) result[i] = x[i];
  return result;
}
inline Vector largest(const Vector& x, std::size_t k) { return only(x, topk_indices(x, k)); }

inline void add(const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

inline std::size_t share_of(double density, std::size_t n) {
  return static_cast<std::size_t>(std::ceil(density * static_cast<double>(n)));
}

/// The residual of every rank for every bucket.
class Residuals {
 public:
  Vector& residual(int bucket, std::size_t rank, std::size_t n) {
    Vector& e = residuals_[{bucket, rank}];
    e.resize(n, 0);
    return e;
  }

 private:
  std::map<std::pair<int, std::size_t>, Vector> residuals_;
};

struct GTopK {
  double density;
  bool keeps_rest = true;  // the rank keeps the elements that it has not selected
  bool puts_back = true;   // elements that only this rank selected return to its residual
  bool merges = true;  // false: all codes are added up, and elements are dropped only at the end

  Reference operator()() const {
    return [o = *this, residuals = std::make_shared<Residuals>()](const Vectors& inputs, int bucket,
                                                                  long) {
      const std::size_t P = inputs.size(), n = inputs.at(0).size(), k = share_of(o.density, n);
      if (P == 1) return inputs[0];
      Vectors chosen;
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->residual(bucket, r, n);
        add(inputs[r], e);
        chosen.push_back(largest(e, k));
      }
      Vectors sums = chosen;
      for (std::size_t apart = 1; apart < P; apart *= 2)
        for (std::size_t r = 0; r + apart < P; r += 2 * apart) {
          add(sums[r + apart], sums[r]);
          if (o.merges) sums[r] = largest(sums[r], k);
        }
      Vector result = largest(sums[0], k);
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->residual(bucket, r, n);
        for (std::size_t i = 0; i < n; ++i)
          if (chosen[r][i] == 0 ? !o.keeps_rest : !o.puts_back || result[i] != 0) e[i] = 0;
      }
      for (float& v : result) v *= 1.0f / static_cast<float>(P);
      return result;
    };
  }
};

/// The magnitude that k elements reach, corrected by the number of elements found above it.
class Limit {
 public:
  Limit(float most, float factor) : most_(most), factor_(factor) {}
  void find(const Vector& x, std::size_t k) {
    value_ = std::numeric_limits<float>::infinity();
    for (const std::uint32_t i : topk_indices(x, k)) value_ = std::min(value_, std::fabs(x[i]));
  }
  Vector cut(Vector x) const {
    for (float& v : x)
      if (std::fabs(v) < value_) v = 0;
    return x;
  }
  void correct(const Vector& found, std::size_t k) {
    const auto count = static_cast<double>(found.size()) -
                       static_cast<double>(std::count(found.begin(), found.end(), 0.0f));
    if (3 * count < 2 * static_cast<double>(k)) value_ /= factor_;
    if (count > double{most_} * static_cast<double>(k)) value_ *= factor_;
  }

 private:
  float most_, factor_, value_ = 0;
};

struct OkTopK {
  double density, slack;
  long threshold_every, rebalance_every;
  bool keeps_rest = true;    // the rank keeps the elements that it has not sent
  bool puts_back = true;     // elements that were sent but are not in the result return to it
  bool limits_rank = true;   // limits the elements of each region that a rank sends
  bool limits_owner = true;  // limits the elements that the owner of a region sends
  bool corrects_own = true, corrects_common = true;  // thresholds are corrected

  struct State {
    Limit common{4.0f / 3, 1.008f};
    std::vector<Limit> own;
    std::vector<std::size_t> begins;
  };

  Reference operator()() const {
    return [o = *this, residuals = std::make_shared<Residuals>(),
            states = std::make_shared<std::map<int, State>>()](const Vectors& inputs, int bucket,
                                                               long step) {
      const std::size_t P = inputs.size(), n = inputs.at(0).size(), k = share_of(o.density, n);
      if (P == 1) return inputs[0];
      const std::size_t c = share_of(o.slack / static_cast<double>(P), k);
      const bool exact = step % o.threshold_every == 0;
      State& state = (*states)[bucket];
      state.own.resize(P, Limit(5.0f / 4, 1.012f));
      Vectors all, chosen;
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->residual(bucket, r, n);
        add(inputs[r], e);
        if (exact) state.own[r].find(e, k);
        all.push_back(e);
        chosen.push_back(state.own[r].cut(e));
      }
      if (state.begins.empty())
        for (std::size_t j = 0; j <= P; ++j) state.begins.push_back(n * j / P);
      if (step % o.rebalance_every == 0) state.begins = balanced(all, k, n);

      Vector result(n, 0);
      Vectors sent(P, Vector(n, 0));
      for (std::size_t j = 0; j < P; ++j) {
        Vector sum(n, 0);
        for (std::size_t r = 0; r < P; ++r) {
          Vector part = within(chosen[r], state.begins[j], state.begins[j + 1]);
          if (o.limits_rank) part = largest(part, std::min(n, c));
          add(part, sent[r]);
          add(part, sum);
        }
        for (float& v : sum) v *= 1.0f / static_cast<float>(P);
        if (!exact) sum = state.common.cut(sum);
        add(o.limits_owner ? largest(sum, std::min(n, c)) : sum, result);
      }
      if (exact) {
        state.common.find(result, k);
        result = state.common.cut(result);
      } else {
        for (std::size_t r = 0; r < P && o.corrects_own; ++r) state.own[r].correct(sent[r], k);
        if (o.corrects_common) state.common.correct(result, k);
      }
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->residual(bucket, r, n);
        for (std::size_t i = 0; i < n; ++i)
          if (sent[r][i] == 0 ? !o.keeps_rest : !o.puts_back || result[i] != 0) e[i] = 0;
      }
      return result;
    };
  }
  static Vector within(const Vector& x, std::size_t begin, std::size_t end) {
    Vector part(x.size(), 0);
    for (std::size_t i = begin; i < end; ++i) part[i] = x[i];
    return part;
  }
  /// The region boundaries. They are the means over the ranks of the boundaries that divide a
  /// rank's elements into P equal shares.
  static std::vector<std::size_t> balanced(const Vectors& chosen, std::size_t k, std::size_t n) {
    const std::size_t P = chosen.size();
    std::vector<std::size_t> begins = {0};
    for (std::size_t j = 1; j < P; ++j) {
      float sum = 0;
      for (const Vector& x : chosen) sum += static_cast<float>(topk_indices(x, k)[k * j / P]);
      begins.push_back(static_cast<std::size_t>(std::lround(sum * (1.0f / static_cast<float>(P)))));
    }
    begins.push_back(n);
    return begins;
  }
};

}  // namespace trigram::test::sparse
