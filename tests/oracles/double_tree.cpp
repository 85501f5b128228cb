#include "tests/oracles/double_tree.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "tests/oracles/clocks.h"

namespace trigram::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Makes a tree of the nodes [first, last] below `parent`. Its root is the node that is divisible
/// by the largest power of two.
void build_tree(std::vector<int>& parents, int parent, int first, int last) {
  if (first > last) return;
  int root = first;
  for (int power = 1; power <= last; power *= 2)
    if (last / power * power >= first) root = last / power * power;
  parents[static_cast<std::size_t>(root)] = parent;
  build_tree(parents, root, first, root - 1);
  build_tree(parents, root, root + 1, last);
}

int height(const std::vector<int>& parents, int node) {
  int height_so_far = 0;
  for (std::size_t v = 0; v < parents.size(); ++v)
    if (parents[v] == node)
      height_so_far = std::max(height_so_far, 1 + height(parents, static_cast<int>(v)));
  return height_so_far;
}

/// The send or the receive of a message in a rank's program.
struct Half {
  std::int64_t stage;
  bool sends;
  int peer;
  std::size_t length;
  double seconds = 0;  // time that the rank computes after it has received the message
};

/// The operations of each rank, in the order of stages. All halves of a stage form one batch.
using Programs = std::vector<std::vector<Half>>;

struct Edge {
  int from, to;
  std::int64_t level;  // number of edges that a chunk passes before this one
};

/// Creates the programs of an allreduce: chunks go up both trees and down again.
class Schedule {
 public:
  Schedule(const CostModel& c, int P, std::size_t n, bool average, std::size_t chunks,
           std::int64_t ahead)
      : c_(c), n_(n), average_(average), chunks_(chunks), ahead_(ahead), programs_(at(P)) {
    for (int tree = 0; tree < 2; ++tree) add_up(tree, double_tree_parents(tree, P));
    for (int tree = 0; tree < 2; ++tree) add_down(tree, double_tree_parents(tree, P));
    for (auto& program : programs_)
      std::stable_sort(program.begin(), program.end(),
                       [](const Half& a, const Half& b) { return a.stage < b.stage; });
  }
  const Programs& programs() const { return programs_; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::size_t length(int tree, std::size_t chunk) const {
    return part_length(part_length(n_, at(tree), 2), chunk, chunks_);
  }
  void add_up(int tree, const std::vector<int>& parents) {
    for (std::size_t v = 0; v < parents.size(); ++v) {
      if (parents[v] < 0) continue;
      const int level = height(parents, static_cast<int>(v));
      const bool root = parents[at(parents[v])] < 0;  // the root has one child
      for (std::size_t k = 0; k < chunks_; ++k) {
        const std::size_t n = length(tree, k);
        const double seconds = c_.accumulate(n) + (root && average_ ? c_.scale(n) : 0);
        add({static_cast<int>(v), parents[v], level}, k, n, seconds);
      }
    }
  }
  void add_down(int tree, const std::vector<int>& parents) {
    const auto root = std::find(parents.begin(), parents.end(), -1) - parents.begin();
    const int top = height(parents, static_cast<int>(root));
    for (std::size_t v = 0; v < parents.size(); ++v) {
      if (parents[v] < 0) continue;
      int depth = 0;
      for (int up = parents[v]; parents[at(up)] >= 0; up = parents[at(up)]) ++depth;
      for (std::size_t k = 0; k < chunks_; ++k)
        add({parents[v], static_cast<int>(v), top + depth}, k, length(tree, k), 0);
    }
  }
  void add(const Edge& edge, std::size_t chunk, std::size_t n, double seconds) {
    const std::int64_t stage = static_cast<std::int64_t>(chunk) + edge.level * (ahead_ + 1);
    programs_[at(edge.from)].push_back({stage, true, edge.to, n});
    programs_[at(edge.to)].push_back({stage + ahead_, false, edge.from, n, seconds});
  }

  const CostModel& c_;
  std::size_t n_;
  bool average_;
  std::size_t chunks_;
  std::int64_t ahead_;
  Programs programs_;
};

/// Runs programs on a flat network, event by event.
class Execution {
 public:
  Execution(const CostModel& c, const Programs& programs, const TreeTransport& transport)
      : c_(c), programs_(programs), transport_(transport), ranks_(programs.size()) {}

  double run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) begin_batch(r);
    for (std::size_t r = 0; r < ranks_.size(); ++r) proceed(r);
    while (step()) continue;
    double last_s = 0;
    for (const Rank& rank : ranks_) last_s = std::max(last_s, rank.ended_s);
    return last_s;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Message {
    std::size_t from, to;
    double left;                 // bytes
    std::size_t before = kNone;  // the message before it on the same connection
    bool sent = false, posted = false, ended = false;  // `posted`: the receive is posted
    double flows_from_s = kNever;
    double rate = 0;
  };
  struct Rank {
    std::size_t begin = 0, end = 0;  // halves of the batch
    std::vector<std::size_t> pending;
    double computes_until_s = kNever;
    double ended_s = kNever;
  };
  using Queue = std::deque<std::size_t>;
  using Pair = std::pair<std::size_t, std::size_t>;

  void begin_batch(std::size_t r) {
    Rank& rank = ranks_[r];
    const auto& program = programs_[r];
    rank.begin = rank.end;
    rank.computes_until_s = kNever;
    if (rank.begin == program.size()) {
      rank.ended_s = now_s_;
      return;
    }
    while (rank.end < program.size() && program[rank.end].stage == program[rank.begin].stage)
      post(r, program[rank.end++]);
  }
  /// Matches a half with the earliest waiting half of the peer, or queues it.
  void post(std::size_t r, const Half& half) {
    const auto peer = static_cast<std::size_t>(half.peer);
    const Pair pair = half.sends ? Pair{r, peer} : Pair{peer, r};
    Queue& waiting = (half.sends ? posted_ : sent_)[pair];
    std::size_t id;
    if (waiting.empty()) {
      id = messages_.size();
      messages_.push_back({pair.first, pair.second, 4.0 * static_cast<double>(half.length)});
      if (transport_.in_order && last_.contains(pair)) messages_.back().before = last_[pair];
      last_[pair] = id;
      (half.sends ? sent_ : posted_)[pair].push_back(id);
    } else {
      id = waiting.front();
      waiting.pop_front();
    }
    Message& message = messages_[id];
    (half.sends ? message.sent : message.posted) = true;
    if (message.sent && (message.posted || transport_.eager) && message.flows_from_s == kNever)
      message.flows_from_s = now_s_ + c_.alpha_s;
    if (!half.sends || transport_.waits_sent || !transport_.eager) ranks_[r].pending.push_back(id);
  }
  bool is_first(const Message& m) const { return m.before == kNone || messages_[m.before].ended; }
  bool flows(const Message& m) const { return !m.ended && m.flows_from_s <= now_s_ && is_first(m); }

  /// Computes max-min fair rates. Every rank has a port for outgoing and a port for incoming
  /// messages.
  void set_rates() {
    std::vector<double> left(2 * ranks_.size(), 1 / c_.beta_s);
    std::vector<Message*> growing;
    for (Message& m : messages_)
      if (flows(m)) growing.push_back(&m);
    while (!growing.empty()) {
      std::vector<int> load(left.size(), 0);
      for (const Message* m : growing) ++load[2 * m->from], ++load[2 * m->to + 1];
      double least = kNever;
      for (std::size_t port = 0; port < left.size(); ++port)
        if (load[port] > 0) least = std::min(least, left[port] / load[port]);
      const auto full = [&](std::size_t port) {
        return left[port] / load[port] <= least * (1 + 1e-12);
      };
      std::vector<Message*> rest, fixed;
      for (Message* m : growing)
        (full(2 * m->from) || full(2 * m->to + 1) ? fixed : rest).push_back(m);
      for (Message* m : fixed) {
        m->rate = least;
        left[2 * m->from] -= least;
        left[2 * m->to + 1] -= least;
      }
      growing = rest;
    }
  }

  /// Advances to the next event. Returns false if there is none.
  bool step() {
    set_rates();
    double next_s = kNever;
    for (const Message& m : messages_) {
      if (flows(m)) next_s = std::min(next_s, now_s_ + m.left / m.rate);
      else if (m.flows_from_s > now_s_) next_s = std::min(next_s, m.flows_from_s);
    }
    for (const Rank& rank : ranks_) next_s = std::min(next_s, rank.computes_until_s);
    if (next_s == kNever) return false;
    for (Message& m : messages_) {
      if (!flows(m)) continue;
      const double ends_s = now_s_ + m.left / m.rate;
      m.left -= m.rate * (next_s - now_s_);
      m.ended = ends_s <= next_s;
    }
    now_s_ = next_s;
    for (Message& m : messages_)
      if (flows(m) && m.left <= 0) m.ended = true;
    for (std::size_t r = 0; r < ranks_.size(); ++r) proceed(r);
    return true;
  }
  void proceed(std::size_t r) {
    Rank& rank = ranks_[r];
    for (;;) {
      if (rank.ended_s != kNever) return;
      std::erase_if(rank.pending, [&](std::size_t id) { return messages_[id].ended; });
      if (!rank.pending.empty()) return;
      if (rank.computes_until_s == kNever) {
        rank.computes_until_s = now_s_;
        for (std::size_t i = rank.begin; i < rank.end; ++i)
          rank.computes_until_s += programs_[r][i].seconds;
      }
      if (rank.computes_until_s > now_s_) return;
      begin_batch(r);
    }
  }

  const CostModel& c_;
  const Programs& programs_;
  TreeTransport transport_;
  std::vector<Rank> ranks_;
  std::vector<Message> messages_;
  std::map<Pair, Queue> sent_, posted_;  // halves that wait for their other half
  std::map<Pair, std::size_t> last_;     // each connection's last message
  double now_s_ = 0;
};

}  // namespace

std::vector<int> double_tree_parents(int tree, int nodes) {
  std::vector<int> plain(static_cast<std::size_t>(nodes), -1);
  build_tree(plain, 0, 1, nodes - 1);
  if (tree == 0) return plain;
  const auto renumbered = [&](int v) { return nodes % 2 == 0 ? nodes - 1 - v : (v + 1) % nodes; };
  std::vector<int> parents(plain.size(), -1);
  for (int v = 0; v < nodes; ++v)
    if (const int parent = plain[static_cast<std::size_t>(v)]; parent >= 0)
      parents[static_cast<std::size_t>(renumbered(v))] = renumbered(parent);
  return parents;
}

std::size_t double_tree_chunks(std::size_t nbytes, int nodes, int workers) {
  std::size_t levels = static_cast<std::size_t>(workers) - 1;
  for (int half = nodes / 2; half > 0; half /= 2) ++levels;
  struct Step {
    std::size_t kib, chunks;  // used if there are at least `chunks` chunks of `kib` KiB
  };
  std::size_t kib = 32;
  for (const Step step :
       {Step{512, 8 * levels}, {256, 8 * levels}, {128, 4 * levels}, {64, levels}})
    if (nbytes / (2 * step.kib * 1024) >= step.chunks) {
      kib = step.kib;
      break;
    }
  // A vector of f32; its second half is the longer one.
  const std::size_t longest = 4 * ((nbytes / 4 + 1) / 2), chunk = kib * 1024;
  return std::max<std::size_t>((longest + chunk - 1) / chunk, 1);
}

double double_tree_allreduce_s(const CostModel& c, int P, std::size_t n, bool average,
                               std::size_t chunks, const TreeTransport& transport) {
  const Schedule schedule(c, P, n, average, chunks, transport.ahead);
  return Execution(c, schedule.programs(), transport).run();
}

}  // namespace trigram::test
