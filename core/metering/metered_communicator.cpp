#include "core/metering/metered_communicator.h"

#include "core/metering/metered_rank.h"

namespace trigram {
namespace {

/// A hash of a hash and a number: the finalizer of SplitMix64.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace

void nominal_messages(const Collective& collective, int rank, int size,
                      const std::function<void(int peer, std::uint64_t bytes)>& sent) {
  const int right = (rank + 1) % size;
  const auto part_bytes = [&](int i) {
    return collective.x
        .part(static_cast<std::size_t>((i + size) % size), static_cast<std::size_t>(size))
        .priced_nbytes();
  };
  const auto send_all_but = [&](int part) {  // in descending order
    for (int i = 1; i < size; ++i) sent(right, part_bytes(part - i));
  };
  switch (collective.kind) {
    case Collective::allreduce: send_all_but(rank); return send_all_but(rank + 1);
    case Collective::reduce_scatter: return send_all_but(rank);
    case Collective::allgather: return send_all_but(rank + 1);
    case Collective::broadcast:
      if (right != collective.root) sent(right, collective.x.priced_nbytes());
      return;
    case Collective::all_to_all:
      for (int i = 1; i < size; ++i) sent((rank + i) % size, part_bytes(rank + i));
  }
}

/// Returns a function that reports `events` when their times are known. If `transferred`, it also
/// counts the time as transfer time. By then the communicator may be destroyed, but not the rank,
/// which owns the tally.
std::function<void(double, double)> MeteredCommunicator::reporter(std::vector<Event> events,
                                                                  bool transferred) {
  if (events.empty())  // fits into a std::function without an allocation
    return [&tally = tally_, transferred](double begin_s, double end_s) {
      if (transferred) tally.transfer_s.add(end_s - begin_s);
    };
  return [&rank = rank_, &tally = tally_, events = std::move(events), transferred](
             double begin_s, double end_s) mutable {
    if (transferred) tally.transfer_s.add(end_s - begin_s);
    for (Event& event : events) {
      event.begin_s = begin_s;
      event.end_s = end_s;
      rank.sink()(event);
    }
  };
}

/// A number that all members of the next priced collective among `members` have in common: a hash
/// of the stream's name, the members, and the number of earlier collectives among them.
std::uint64_t MeteredCommunicator::collective_id(std::span<const int> members) {
  std::uint64_t group = std::hash<std::string_view>{}(clock_.name());
  for (const int member : members) group = mixed(group, static_cast<std::uint64_t>(member));
  return mixed(group, ++priced_[group]);
}

/// Returns a function for a collective that is priced as a whole. It counts the messages that the
/// rank sends, when the collective ends.
std::function<void(double, double)> MeteredCommunicator::priced_reporter(
    const CollectivePattern& pattern) {
  std::vector<ArrivedTraffic::Messages> sent;
  sent.reserve(pattern.sent.size());
  std::uint64_t bytes = 0;
  for (const CollectivePattern::Sent& part : pattern.sent) {
    sent.push_back(
        {rank(), part.to, rank_.message_count(rank(), part.to, part.messages, part.bytes)});
    bytes += part.bytes;
  }
  const std::size_t members =
      pattern.members.empty() ? static_cast<std::size_t>(size()) : pattern.members.size();
  auto count = [&rank = rank_, &tally = tally_, sent = std::move(sent), members,
                id = collective_id(pattern.members)](double begin_s, double end_s) {
    tally.transfer_s.add(end_s - begin_s);
    rank.record_sent(tally, id, members, end_s, sent);
  };
  if (!rank_.sink()) return count;
  Event event = next_event();
  event.bytes = bytes;
  return [count = std::move(count), &rank = rank_, event = std::move(event)](double begin_s,
                                                                             double end_s) mutable {
    count(begin_s, end_s);
    event.begin_s = begin_s;
    event.end_s = end_s;
    rank.sink()(event);
  };
}

void MeteredCommunicator::transfer(std::span<const Transfer> batch) {
  if (inside_priced_) return raw_.transfer(batch);
  timed(
      clock_, rank_, [&] { raw_.transfer(batch); },
      [&] { return reporter(rank_.sink() ? events_of(batch) : std::vector<Event>{}); });
  for (const Transfer& t : batch) {
    const std::uint64_t bytes = t.tensor.priced_nbytes();
    if (t.kind == Transfer::send) count(t.peer, bytes);
    else rank_.record_received(t.peer, bytes);
  }
}

bool MeteredCommunicator::native(const Collective& collective) {
  Event event = next_event();
  std::vector<std::pair<int, std::uint64_t>> messages;
  nominal_messages(collective, rank(), size(), [&](int peer, std::uint64_t bytes) {
    messages.emplace_back(peer, bytes);
    event.bytes += bytes;
  });
  const bool reported = static_cast<bool>(rank_.sink());
  bool supported = false;
  timed(
      clock_, rank_, [&] { supported = raw_.native(collective); },
      [&] {
        return reporter(std::vector<Event>(reported && supported ? 1 : 0, event), supported);
      });
  if (!supported) return false;
  for (const auto& [peer, bytes] : messages) count(peer, bytes);
  if (reported) ++batches_;
  return true;
}

void MeteredCommunicator::Pricer::price(const CollectivePattern& pattern,
                                        const Messages& messages) {
  MeteredCommunicator& c = metered_;
  if (c.inside_priced_) return messages(false);
  CollectivePattern slowed = pattern;  // by the machine model
  const double factor = c.rank_.compute_factor();
  for (CollectivePattern::Phase& phase : slowed.phases)
    for (Cost* cost : {&phase.per_round, &phase.at_end}) *cost = factor * *cost;
  bool priced = true;
  const auto run = [&] {
    c.raw_.pricer()->price(slowed, [&](bool take_time) {
      priced = c.inside_priced_ = !take_time;
      messages(take_time);
      c.inside_priced_ = false;
    });
  };
  timed(c.clock_, c.rank_, run, [&] {
    return priced ? c.priced_reporter(pattern) : c.reporter({}, /*transferred=*/false);
  });
  if (priced) ++c.batches_;
}

/// The event of the next call; its times and bytes are filled in later.
Event MeteredCommunicator::next_event() const {
  Event event{Event::transfer, rank_.rank(), std::string(clock_.name()), 0, 0};
  event.batch = batches_;
  event.label = label_;
  return event;
}

void MeteredCommunicator::count(int peer, std::uint64_t bytes) {
  tally_.count(rank_.message_count(rank(), peer, 1, bytes));
}

/// The events of the batch and of its messages; their times are filled in later.
std::vector<Event> MeteredCommunicator::events_of(std::span<const Transfer> batch) {
  Event event = next_event();
  ++batches_;
  for (const Transfer& t : batch)
    if (t.kind == Transfer::send) event.bytes += t.tensor.priced_nbytes();
  std::vector<Event> events = {event};
  for (const Transfer& t : batch) {
    event.kind = t.kind == Transfer::send ? Event::send : Event::recv;
    event.peer = t.peer;
    event.bytes = t.tensor.priced_nbytes();
    events.push_back(event);
  }
  return events;
}

}  // namespace trigram
