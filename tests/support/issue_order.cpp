#include "tests/support/issue_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

namespace trigram::test {
namespace {

/// One transfer() call.
struct Batch {
  int rank;
  std::string stream;
  double begin_s;
};

using Channel = std::tuple<std::string, int, int>;  // stream, source, destination
/// The send or the receive of a message.
struct Half {
  std::size_t batch;
  std::uint64_t bytes;
};

/// All batches, and both halves of all messages, in the order of issue.
struct Trace {
  std::vector<Batch> batches;
  std::vector<std::vector<std::size_t>> issued;  // batches by rank
  std::map<Channel, std::vector<Half>> sent, received;
};

/// Reads the events of one rank. The messages of a batch are reported right after it.
void read(Trace& trace, const std::vector<Event>& events) {
  std::map<std::string, std::size_t> current;  // batch of each stream
  std::map<std::string, double> begun_s;       // the beginning of that batch
  std::vector<std::size_t> issued;
  for (const Event& e : events) {
    if (e.kind == Event::transfer) {
      current[e.stream] = trace.batches.size();
      issued.push_back(trace.batches.size());
      // Because of rounding, a batch without duration may end slightly before it begins, and the
      // next batch may begin there.
      double& begin_s = begun_s[e.stream];
      begin_s = std::max(begin_s, e.begin_s);
      trace.batches.push_back({e.rank, e.stream, begin_s});
    } else if (e.kind == Event::send) {
      trace.sent[{e.stream, e.rank, e.peer}].push_back({current.at(e.stream), e.bytes});
    } else if (e.kind == Event::recv) {
      trace.received[{e.stream, e.peer, e.rank}].push_back({current.at(e.stream), e.bytes});
    }
  }
  std::ranges::stable_sort(issued, {}, [&](std::size_t i) { return trace.batches[i].begin_s; });
  trace.issued.push_back(std::move(issued));
}

/// Groups batches into operations (union-find). An operation is represented by one of its batches.
class Operations {
 public:
  explicit Operations(std::size_t batches) : parent_(batches) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t batch) {
    while (parent_[batch] != batch) batch = parent_[batch] = parent_[parent_[batch]];
    return batch;
  }
  void unite(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

/// Unites the batches of matching halves. Returns an error for a message without a match.
std::string match(const Trace& trace, Operations& operations) {
  auto channels = trace.sent;
  channels.insert(trace.received.begin(), trace.received.end());
  for (const auto& [channel, unused] : channels) {
    const auto& [stream, source, destination] = channel;
    const auto on_channel = [&](const auto& halves) {
      const auto found = halves.find(channel);
      return found == halves.end() ? std::vector<Half>{} : found->second;
    };
    const auto sent = on_channel(trace.sent), received = on_channel(trace.received);
    if (sent.size() != received.size())
      return fmt::format("{} messages sent from {} to {} on {}, {} received", sent.size(), source,
                         destination, stream, received.size());
    for (std::size_t k = 0; k < sent.size(); ++k) {
      if (sent[k].bytes != received[k].bytes)
        return fmt::format("message {} from {} to {} on {}: {} bytes sent, {} received", k, source,
                           destination, stream, sent[k].bytes, received[k].bytes);
      operations.unite(sent[k].batch, received[k].batch);
    }
  }
  return "";
}

/// Repeatedly removes operations that have no predecessors left. The operations that remain contain
/// a cycle.
std::string find_cycle(const Trace& trace, Operations& operations) {
  const std::size_t n = trace.batches.size();
  std::vector<std::vector<std::size_t>> next(n);
  std::vector<std::size_t> before(n, 0);
  for (const auto& order : trace.issued)
    for (std::size_t i = 1; i < order.size(); ++i) {
      next[operations.find(order[i - 1])].push_back(operations.find(order[i]));
      ++before[operations.find(order[i])];
    }
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < n; ++i)
    if (before[i] == 0) ready.push_back(i);
  std::size_t removed = 0;
  for (; !ready.empty(); ready.pop_front(), ++removed)
    for (const std::size_t later : next[ready.front()])
      if (--before[later] == 0) ready.push_back(later);
  if (removed == n) return "";
  std::string text = "a cycle through";
  for (std::size_t i = 0; i < n; ++i)
    if (before[operations.find(i)] > 0)
      text += fmt::format(" [rank {} {} {:.9f}]", trace.batches[i].rank, trace.batches[i].stream,
                          trace.batches[i].begin_s);
  return text.substr(0, 500);
}

}  // namespace

std::string issue_order_error(const std::vector<std::vector<Event>>& events) {
  Trace trace;
  for (const auto& rank_events : events) read(trace, rank_events);
  Operations operations(trace.batches.size());
  const std::string unmatched = match(trace, operations);
  return unmatched.empty() ? find_cycle(trace, operations) : unmatched;
}

}  // namespace trigram::test
