#include "core/communicator.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/check.h"

namespace trigram {

Subset::Subset(Communicator& parent, std::span<const int> members, Pattern collective)
    : parent_(parent), members_(members), collective_(collective) {
  auto mine = std::find(members.begin(), members.end(), parent.rank());
  TRIGRAM_CHECK(mine != members.end(), "rank {} makes a subset that it is not a member of",
                parent.rank());
  rank_ = static_cast<int>(mine - members.begin());
}

void Subset::transfer(std::span<const Transfer> batch) {
  auto translate = [&](auto& translated) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      translated[i] = batch[i];
      translated[i].peer = members_[static_cast<std::size_t>(batch[i].peer)];
      if (batch[i].pattern == Pattern::collective) translated[i].pattern = collective_;
    }
    parent_.transfer(std::span<const Transfer>(translated.data(), batch.size()));
  };
  constexpr std::size_t kSmallBatch = 4;
  if (batch.size() <= kSmallBatch) {
    std::array<Transfer, kSmallBatch> translated;
    translate(translated);
  } else {
    std::vector<Transfer> translated(batch.size());
    translate(translated);
  }
}

bool Subset::native(const Collective& collective) {
  if (size() != parent_.size()) return false;
  for (int rank = 0; rank < size(); ++rank)
    if (members_[static_cast<std::size_t>(rank)] != rank) return false;
  return parent_.native(collective);
}

void Subset::coupled(const Rounds& rounds, const std::function<void()>& messages) {
  const auto translated = [&](int rank) { return members_[static_cast<std::size_t>(rank)]; };
  std::vector<Rounds::Sent> sent(rounds.sent.begin(), rounds.sent.end());
  for (Rounds::Sent& s : sent) s.to = translated(s.to);
  std::vector<int> members(rounds.members.size());
  std::transform(rounds.members.begin(), rounds.members.end(), members.begin(), translated);
  Rounds of_parent = rounds;
  of_parent.sent = sent;
  if (rounds.traffic == Pattern::collective) of_parent.traffic = collective_;
  of_parent.members = members.empty() ? members_ : std::span<const int>(members);
  parent_.coupled(of_parent, messages);
}

}  // namespace trigram
