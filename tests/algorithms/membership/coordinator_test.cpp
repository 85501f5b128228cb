// Who is a member, and who averages with whom, from the events that rank 0 hears of.
#include "algorithms/membership/coordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trigram::coordinator_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A coordinator, and its answers since the last look, as text.
class Coordinated {
 public:
  explicit Coordinated(Rounds rounds, const std::vector<bool>& members)
      : it(std::move(rounds), members,
           {.group =
                [this](int rank, long round, const std::vector<int>& group) {
                  said_.push_back(
                      fmt::format("{} round {}: {}", rank, round, fmt::join(group, " ")));
                },
            .late = [this](int rank) { said_.push_back(fmt::format("{} late", rank)); },
            .serve =
                [this](int donor, int rank, Takes what, long least) {
                  said_.push_back(fmt::format("{} serves {}{} from {}", donor, rank,
                                              what == Takes::everything ? "" : " a little", least));
                },
            .keep = [this](int rank) { said_.push_back(fmt::format("{} keeps", rank)); },
            .start_grace = [this](long round) { said_.push_back(fmt::format("grace {}", round)); },
            .view = [this](
                        long epoch,
                        int count) { said_.push_back(fmt::format("epoch {}: {}", epoch, count)); },
            .all_ended = [this] { said_.push_back("ended"); },
            .lost = [this] { said_.push_back("lost"); }}) {}
  std::vector<std::string> said() { return std::exchange(said_, {}); }

 private:
  std::vector<std::string> said_;

 public:
  Coordinator it;
};

std::vector<bool> all(std::size_t count) { return std::vector<bool>(count, true); }

Rounds neighbours(bool background = false) {
  return {.group =
              [](int index, int count, long) {
                const int other = index ^ 1;
                return other < count ? std::vector<int>{index, other} : std::vector<int>{index};
              },
          .background = background};
}

TEST(Quorum, closes_a_round_when_the_grace_is_over) {
  Coordinated c({.quorum = 2, .grace_s = 1}, all(4));
  c.it.arrive(3, 9, 0);
  EXPECT_THAT(c.said(), IsEmpty());
  c.it.arrive(1, 9, 0);
  EXPECT_THAT(c.said(), ElementsAre("grace 0"));
  c.it.arrive(0, 9, 0);
  EXPECT_THAT(c.said(), IsEmpty());
  c.it.grace_over(0);
  EXPECT_THAT(c.said(), ElementsAre("0 round 0: 0 1 3", "1 round 0: 0 1 3", "3 round 0: 0 1 3"));
  c.it.arrive(2, 9, 0);
  EXPECT_THAT(c.said(), ElementsAre("2 late", "3 serves 2 a little from 10"));
  c.it.healed(2);
  EXPECT_THAT(c.said(), IsEmpty());
}

TEST(Quorum, closes_a_round_before_the_grace_is_over_when_all_are_there) {
  Coordinated c({.quorum = 1, .grace_s = 1}, all(2));
  c.it.arrive(0, 0, 0);
  c.it.arrive(1, 0, 0);
  EXPECT_THAT(c.said(), ElementsAre("grace 0", "0 round 0: 0 1", "1 round 0: 0 1"));
  c.it.arrive(0, 1, 1);
  c.it.grace_over(0);  // of the round before
  EXPECT_THAT(c.said(), ElementsAre("grace 1"));
}

TEST(Quorum, is_that_of_the_workers_that_are_left) {
  Coordinated c({.quorum = 3}, all(3));
  c.it.arrive(0, 0, 0);
  c.it.stop(1);
  c.it.arrive(2, 0, 0);
  EXPECT_THAT(c.said(), IsEmpty());  // nobody has noticed it
  c.it.notice(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 2", "0 round 0: 0 2", "2 round 0: 0 2"));
  c.it.join(1, 2);
  c.it.healed(1);
  EXPECT_THAT(c.said(), ElementsAre("2 serves 1 from 2", "epoch 2: 3"));
}

TEST(Donors, that_stop_are_replaced_unless_they_send_already) {
  Coordinated c({.quorum = 4}, {false, true, true, false});
  c.it.join(0, 0);
  c.it.join(3, 0);
  EXPECT_THAT(c.said(), ElementsAre("1 serves 0 from 0", "1 serves 3 from 0"));
  c.it.serves(1, 3);
  c.it.stop(1);
  c.it.notice(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 1", "2 serves 0 from 0"));
  c.it.healed(3);
  EXPECT_THAT(c.said(), ElementsAre("epoch 2: 2"));
}

TEST(Groups, are_those_of_the_members_of_the_round_and_wait_for_them) {
  Coordinated c(neighbours(), {true, false, true, true, true});
  c.it.arrive(3, 0, 0);
  c.it.arrive(4, 0, 0);
  EXPECT_THAT(c.said(), ElementsAre("3 round 0: 3 4", "4 round 0: 3 4"));
  c.it.arrive(0, 0, 0);
  c.it.stop(2);
  EXPECT_THAT(c.said(), IsEmpty());
  c.it.notice(2);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 3", "0 round 0: 0"));
}

TEST(Groups, leave_out_a_worker_that_was_no_member_when_the_round_began) {
  Coordinated c(neighbours(), {true, true, false});
  c.it.arrive(0, 0, 0);
  c.it.join(2, 0);
  c.it.healed(2);
  c.said();
  c.it.arrive(2, 0, 0);
  EXPECT_THAT(c.said(), ElementsAre("2 round 0: 2"));
}

TEST(Background, groups_average_when_the_first_arrives_but_not_with_a_worker_that_has_stopped) {
  Coordinated c(neighbours(true), all(4));
  c.it.stop(1);
  c.it.arrive(0, 0, 0);
  EXPECT_THAT(c.said(), ElementsAre("2 round 0: 2 3", "3 round 0: 2 3"));
  c.it.notice(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 3", "0 round 0: 0"));
}

TEST(Pairs, average_unless_the_partner_is_absent) {
  Coordinated c({}, all(3));
  c.it.pair(0, 2, 7);
  EXPECT_THAT(c.said(), ElementsAre("0 round 7: 0 2", "2 round 7: 0 2"));
  c.it.stop(2);
  c.it.pair(0, 2, 8);
  EXPECT_THAT(c.said(), IsEmpty());
  c.it.notice(2);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 2", "0 round 8: 0"));
  c.it.pair(1, 2, 1);
  EXPECT_THAT(c.said(), ElementsAre("1 round 1: 1"));
}

TEST(End, comes_when_all_that_are_left_have_ended) {
  Coordinated c({.quorum = 3}, all(3));
  c.it.end(0);
  c.it.stop(1);
  c.it.end(2);
  EXPECT_THAT(c.said(), IsEmpty());
  c.it.notice(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 2", "ended"));
}

TEST(Loss, of_the_model_is_an_error_and_not_a_new_beginning) {
  Coordinated c({.quorum = 2}, all(2));
  for (const int rank : {0, 1}) c.it.stop(rank);
  c.it.notice(0);
  c.it.join(0, 3);
  c.it.notice(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 1", "epoch 2: 0", "lost"));
}

TEST(Loss, of_all_but_a_late_worker_leaves_its_model) {
  Coordinated c({.quorum = 1}, all(2));
  c.it.arrive(0, 0, 0);
  c.it.stop(0);
  c.it.arrive(1, 0, 0);
  c.said();
  c.it.notice(0);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 1", "1 keeps"));
  c.it.arrive(1, 1, 1);
  EXPECT_THAT(c.said(), ElementsAre("1 round 1: 1"));
}

TEST(Donors, that_are_late_are_replaced) {
  Coordinated c({.quorum = 1}, all(3));
  c.it.arrive(0, 0, 0);
  c.it.arrive(1, 0, 0);
  c.said();
  c.it.arrive(2, 0, 0);
  EXPECT_THAT(c.said(),
              ElementsAre("2 late", "0 serves 1 a little from 1", "0 serves 2 a little from 1"));
  c.it.stop(0);
  c.it.notice(0);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 2", "1 keeps", "1 serves 2 a little from 1"));
}

TEST(Loss, of_all_others_does_not_stop_a_state_on_its_way_to_a_late_worker) {
  Coordinated c({.quorum = 1}, all(3));
  c.it.arrive(0, 0, 0);
  c.it.arrive(2, 0, 0);
  c.it.serves(0, 2);
  c.it.arrive(1, 0, 0);
  c.said();
  c.it.stop(0);
  c.it.notice(0);
  EXPECT_THAT(c.said(), ElementsAre("epoch 1: 2"));
  c.it.healed(2);
  EXPECT_THAT(c.said(), ElementsAre("2 serves 1 a little from 1"));
  c.it.arrive(2, 1, 1);
  EXPECT_THAT(c.said(), ElementsAre("2 round 1: 2"));
}

TEST(Loss, of_all_others_does_not_stop_a_state_on_its_way_to_a_new_worker) {
  Coordinated c({.quorum = 1}, {true, false});
  c.it.join(1, 3);
  c.it.serves(0, 1);
  c.it.stop(0);
  c.it.notice(0);
  EXPECT_THAT(c.said(), ElementsAre("0 serves 1 from 3", "epoch 1: 0"));
  c.it.healed(1);
  EXPECT_THAT(c.said(), ElementsAre("epoch 2: 1"));
}

}  // namespace
}  // namespace trigram::coordinator_test
