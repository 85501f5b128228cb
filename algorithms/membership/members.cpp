#include "algorithms/membership/members.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "algorithms/execution/control_tag.h"
#include "algorithms/membership/agent.h"

namespace trigram {

Members::Members(Context ctx, Run& run, Rounds rounds, BackgroundAverages background)
    : run_(run),
      rank_(ctx.world_rank),
      ranks_(ctx.world_size),
      has_rounds_(rounds.group || !(background.average || background.no_rounds)),
      state_(ctx.stream->fork("state")),
      grace_(ctx.stream->fork("grace")),
      stream_(ctx.stream->fork("members")),
      agent_(std::make_shared<MembersAgent>()) {
  agent_->rounds = std::move(rounds);
  for (int rank = 0; rank < ranks_; ++rank)
    agent_->begins.push_back(!run.membership || run.membership->begins(rank));
  agent_->average = std::move(background.average);
  agent_->restart = std::move(background.restart);
  agent_->membership = run.membership;
  agent_->state = state_.get();
  agent_->grace = grace_.get();
  agent_->ending = ctx.stream->make_mutex();
  agent_->main = ctx.control;
  ctx.stream->wait(
      *stream_->submit(ctx, [agent = agent_](Context c) { agent->control = c.control; }));
  loop_ = stream_->submit(ctx, [agent = agent_](Context c) { agent->run(c); });
}

void Members::post(int kind, std::int64_t argument, std::int64_t b) {
  agent_->control->post(rank_, kMembersTag, encoded(kind, argument), b);
}

void Members::note(const Message& message) {
  const long argument = argument_of(message);
  switch (kind_of(message)) {
    case kMembers: return add_members(group_, message);
    case kGroup: answer_ = std::exchange(group_, {}); return;
    case kLate:
      late_ = true;
      serves_.clear();  // rank 0 finds other donors
      return;
    case kServe:
      serves_.push_back({static_cast<int>(argument / 2),
                         argument % 2 == 1 ? Takes::everything : Takes::algorithm,
                         static_cast<long>(message.b)});
      return;
    case kKeep: keep_ = true; return;
    case kQuiet: quiet_ = true; return;
    case kAllEnded: ended_ = true; return;
    case kAveraged: averaged_.insert(static_cast<long>(message.b)); return;
    case kState: state_comes_ = message; return;
    default: break;
  }
  ended_ = true;
  throw std::runtime_error(
      "no worker is left that has the model: all of them failed before one could pass it on; "
      "expected fewer failures, or \"recovery\": \"restart\" with checkpoints");
}

bool Members::receive(Context ctx) {
  const auto message = ctx.control->receive(kMembersTag);
  if (message) note(*message);
  return message.has_value();
}

void Members::on_state_stream(Context ctx, Task task) {
  ctx.stream->wait(*state_->submit(ctx, std::move(task)));
}

void Members::serve_others(Context ctx) {
  const long step = run_.steps.current();
  for (std::size_t count = serves_.size(); count > 0; --count) {
    const Serve serve = serves_.front();
    serves_.pop_front();
    if (step < serve.least) {
      serves_.push_back(serve);
      continue;
    }
    post(kServes, serve.rank);  // before this worker can stop
    ctx.control->post(serve.rank, kMembersTag, encoded(kState, step));
    on_state_stream(ctx, [this, serve](Context c) { send_state(c, run_, serve.rank, serve.what); });
  }
}

bool Members::present(Context ctx) {
  while (const auto message = ctx.control->poll(kMembersTag)) note(*message);
  if (run_.membership)
    if (const auto absence = run_.membership->absence(rank_, ctx.stream->now())) {
      be_away(ctx, *absence);
      return false;
    }
  serve_others(ctx);
  return true;
}

void Members::be_away(Context ctx, const Absence& absence) {
  const long step = run_.steps.current();
  run_.membership->stopped(rank_, step, ctx.stream->now());
  run_.steps.record_absence();
  run_.steps.continue_with(run_.steps.count());
  const bool was_there = absence.kind != Absence::late;
  if (was_there && !tell_rank_0(ctx, kStopped)) return;
  on_state_stream(ctx, [](Context) {});  // after it, all averages in the background have ended
  awaits_average_ = false;
  lose_state(ctx, run_);
  if (agent_->restart) agent_->restart(ctx);  // what it keeps outside of Run is lost, too
  if (was_there) {
    if (absence.noticed_after_s > 0) ctx.stream->sleep_for(absence.noticed_after_s);
    if (!tell_rank_0(ctx, kNoticed)) return;
  }
  serves_.clear();  // rank 0 has found other donors
  gone_ = !std::isfinite(absence.back_s);
  if (gone_ || !sleep_until(ctx, absence.back_s)) return;
  post(kJoins, 0, has_rounds_ ? step + 1 : 0);
  take_state(ctx, Takes::everything);
}

/// Returns when rank 0 has answered, or false if the world is ending.
bool Members::tell_rank_0(Context ctx, int kind) {
  post(kind);
  for (quiet_ = false; !quiet_;)
    if (!receive(ctx)) return false;
  return true;
}

/// Returns false if training ends before.
bool Members::sleep_until(Context ctx, double date_s) {
  // Looks often enough whether training has ended, so that the rank does not outlive it by much.
  constexpr double kShortest_s = 0.05, kLongest_s = 1, kParts = 64;
  while (!ended_) {
    const double rest_s = date_s - ctx.stream->now();
    if (rest_s <= 0) return true;
    ctx.stream->sleep_for(std::min(rest_s, std::clamp(rest_s / kParts, kShortest_s, kLongest_s)));
    while (const auto message = ctx.control->poll(kMembersTag)) note(*message);
  }
  return false;
}

/// Waits for the state of another worker, and goes on from its step, which it returns. Returns
/// nothing if there is none, because training has ended or this worker is to keep its own state.
std::optional<long> Members::take_state(Context ctx, Takes what) {
  while (!state_comes_)
    if (std::exchange(keep_, false) || ended_ || !receive(ctx)) return std::nullopt;
  const Message comes = *std::exchange(state_comes_, {});
  const int peer = comes.source;
  on_state_stream(ctx, [this, peer, what](Context c) { receive_state(c, run_, peer, what); });
  if (what == Takes::everything && agent_->restart) agent_->restart(ctx);
  const long step = std::max(run_.steps.current() + 1, argument_of(comes));
  run_.steps.continue_with(step);
  post(kHealed);
  if (run_.membership && what == Takes::everything)
    run_.membership->healed(rank_, peer, step, ctx.stream->now());
  return step;
}

std::optional<std::vector<int>> Members::arrive(Context ctx, long round) {
  answer_.reset();
  late_ = false;
  post(kArrived, run_.steps.current(), round);
  while (!answer_ && !late_)
    if (!receive(ctx)) return std::vector<int>{rank_};
  if (answer_) return std::exchange(answer_, {});
  const long left_out = take_state(ctx, Takes::algorithm).value_or(run_.steps.current() + 1) -
                        (run_.steps.current() + 1);
  if (run_.membership) run_.membership->late(rank_, left_out);
  return std::nullopt;
}

void Members::announce(long round) {
  number_ = round;
  awaits_average_ = true;
  post(kArrived, run_.steps.current(), round);
}

void Members::request(int partner) {
  ++number_;
  awaits_average_ = true;
  post(kPair, partner, number_);
}

void Members::wait_for_average(Context ctx) {
  if (!std::exchange(awaits_average_, false)) return;
  while (!averaged_.contains(number_))
    if (!receive(ctx)) return;
  averaged_.erase(averaged_.begin(), averaged_.upper_bound(number_));
}

void Members::finish(Context ctx) {
  if (!ended_ && !gone_) post(kEnded);
  while (!ended_) {
    serve_others(ctx);
    if (!receive(ctx)) return;
  }
  ctx.stream->wait(*loop_);
  on_state_stream(ctx, [](Context) {});
}

}  // namespace trigram
