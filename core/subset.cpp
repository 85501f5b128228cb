#include "core/subset.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/check.h"

namespace trigram {

Subset::Subset(Communicator& parent, std::span<const int> members, TrafficClass collective)
    : parent_(parent), members_(members), collective_(collective) {
  auto self = std::find(members.begin(), members.end(), parent.rank());
  TRIGRAM_CHECK(self != members.end(), "rank {} makes a subset that it is not a member of",
                parent.rank());
  rank_ = static_cast<int>(self - members.begin());
}

void Subset::transfer(std::span<const Transfer> batch) {
  auto translate = [&](auto& translated) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      translated[i] = batch[i];
      translated[i].peer = in_parent(batch[i].peer);
      translated[i].traffic = in_parent(batch[i].traffic);
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
    if (in_parent(rank) != rank) return false;
  return parent_.native(collective);
}

void Subset::Pricer::price(const CollectivePattern& pattern, const Messages& messages) {
  std::vector<CollectivePattern::Sent> sent(pattern.sent.begin(), pattern.sent.end());
  for (CollectivePattern::Sent& s : sent) s.to = subset_.in_parent(s.to);
  std::vector<int> members(pattern.members.begin(), pattern.members.end());
  for (int& member : members) member = subset_.in_parent(member);
  CollectivePattern translated = pattern;
  translated.sent = sent;
  translated.traffic = subset_.in_parent(pattern.traffic);
  translated.members = members.empty() ? subset_.members_ : std::span<const int>(members);
  parent_->price(translated, messages);
}

}  // namespace trigram
