#include "algorithms/membership/agent.h"

#include <algorithm>
#include <utility>

#include "algorithms/execution/control_tag.h"

namespace trigram {

void MembersAgent::run(Context c) {
  pass_messages(c);
  const Lock lock(*ending);
  ended = true;
}

void MembersAgent::pass_messages(Context c) {
  if (c.world_rank == 0) coordinator.emplace(rounds, begins, answers(c));
  while (!ended) {
    const auto message = c.control->receive(kMembersTag);
    if (!message) return;
    if (kind_of(*message) >= kMembers) deliver(c, *message);
    else if (c.world_rank == 0) decide(*message);
    else c.control->post(0, kMembersTag, message->a, message->b);
  }
}

void MembersAgent::decide(const Message& m) {
  const long argument = argument_of(m), b = static_cast<long>(m.b);
  switch (kind_of(m)) {
    case kArrived: return coordinator->arrive(m.source, argument, b);
    case kPair: return coordinator->pair(m.source, static_cast<int>(argument), b);
    case kStopped: coordinator->stop(m.source); return answer(m.source, kQuiet, 0, 0);
    case kNoticed: answer(m.source, kQuiet, 0, 0); return coordinator->notice(m.source);
    case kJoins: return coordinator->join(m.source, b);
    case kServes: return coordinator->serves(m.source, static_cast<int>(argument));
    case kHealed: return coordinator->healed(m.source);
    case kEnded: return coordinator->end(m.source);
    default: return coordinator->grace_over(b);
  }
}

Coordinator::Answers MembersAgent::answers(Context c) {
  answer = [this, c](int rank, int kind, std::int64_t argument, std::int64_t b) {
    const Message message{0, encoded(kind, argument), b};
    if (rank == 0) deliver(c, message);
    else c.control->post(rank, kMembersTag, message.a, message.b);
  };
  const auto tell_all = [this, c](int kind) {
    for (int rank = c.world_size; rank-- > 0;) answer(rank, kind, 0, 0);
  };
  return {.group =
              [this, c](int rank, long round, const std::vector<int>& members) {
                std::vector<std::uint64_t> words(
                    static_cast<std::size_t>((c.world_size + kBits - 1) / kBits));
                for (const int member : members)
                  words[static_cast<std::size_t>(member / kBits)] |= std::uint64_t{1}
                                                                     << (member % kBits);
                for (std::size_t i = 0; i < words.size(); ++i)
                  if (words[i] != 0)
                    answer(rank, kMembers, static_cast<std::int64_t>(i),
                           static_cast<std::int64_t>(words[i]));
                answer(rank, kGroup, 0, round);
              },
          .late = [this](int rank) { answer(rank, kLate, 0, 0); },
          .serve =
              [this](int donor, int rank, Takes what, long least) {
                answer(donor, kServe, 2 * rank + (what == Takes::everything ? 1 : 0), least);
              },
          .keep = [this](int rank) { answer(rank, kKeep, 0, 0); },
          .start_grace =
              [this, c](long round) {
                const double end_s = c.stream->now() + rounds.grace_s;
                grace->submit(c, [self = shared_from_this(), end_s, round](Context after) {
                  self->wait_for_grace(after, end_s, round);
                });
              },
          .view =
              [this](long epoch, int members) {
                if (membership) membership->view_changed(epoch, members);
              },
          .all_ended = [tell_all] { tell_all(kAllEnded); },
          .lost = [tell_all] { tell_all(kLost); }};
}

void MembersAgent::wait_for_grace(const Context& c, double end_s, long round) {
  // Nothing wakes a sleeper, so that it looks often whether training has ended.
  constexpr double kLongest_s = 0.05;
  double rest_s = 0;
  while (!ended && (rest_s = end_s - c.stream->now()) > 0)
    c.stream->sleep_for(std::min(rest_s, kLongest_s));
  const Lock lock(*ending);
  if (!ended) control->post(c.world_rank, kMembersTag, kGraceOver, round);
}

/// Passes a message on to the worker, or runs the average in the background that it completes.
void MembersAgent::deliver(const Context& c, const Message& message) {
  const int kind = kind_of(message);
  if (kind == kAllEnded || kind == kLost) ended = true;
  if (average && kind == kMembers) return add_members(group, message);
  if (!average || kind != kGroup) {
    main->post(c.world_rank, kMembersTag, message.a, message.b);
    return;
  }
  state->submit(c, [self = shared_from_this(), members = std::exchange(group, {}),
                    round = message.b](Context on) {
    for (const int member : members)
      if (member != on.world_rank) self->average(on, member);
    self->main->post(on.world_rank, kMembersTag, kAveraged, round);
  });
}

}  // namespace trigram
