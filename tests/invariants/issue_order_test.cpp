#include "tests/support/issue_order.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "algorithms/registry.h"
#include "runtime/sim/sim_runtime.h"
#include "tests/support/training.h"

// All ranks issue data operations in compatible orders: the union of the orders has no cycle. This
// is checked on the traces of every algorithm, in every world.

namespace trigram::test::issue_order_test {
namespace {

using ::testing::HasSubstr;

/// The trace of a rank that issues batches of one message each.
class RankTrace {
 public:
  explicit RankTrace(int rank) : rank_(rank) {}
  RankTrace& send(const char* stream, int peer, std::uint64_t bytes = 4) {
    return add(Event::send, stream, peer, bytes);
  }
  RankTrace& receive(const char* stream, int peer, std::uint64_t bytes = 4) {
    return add(Event::recv, stream, peer, bytes);
  }
  operator std::vector<Event>() const { return events_; }

 private:
  RankTrace& add(Event::Kind kind, const char* stream, int peer, std::uint64_t bytes) {
    Event event{Event::transfer, rank_, stream, clock_, clock_ + 1};
    events_.push_back(event);
    event.kind = kind;
    event.peer = peer;
    event.bytes = bytes;
    events_.push_back(event);
    clock_ += 1;
    return *this;
  }
  int rank_;
  double clock_ = 0;
  std::vector<Event> events_;
};

TEST(IssueOrderError, AcceptsEqualOrders) {
  EXPECT_EQ(issue_order_error({RankTrace(0).send("a", 1).send("b", 1),
                               RankTrace(1).receive("a", 0).receive("b", 0)}),
            "");
}

TEST(IssueOrderError, FindsTwoStreamsInOppositeOrders) {
  EXPECT_THAT(issue_order_error({RankTrace(0).send("a", 1).send("b", 1),
                                 RankTrace(1).receive("b", 0).receive("a", 0)}),
              HasSubstr("cycle"));
}

TEST(IssueOrderError, FindsACycleOverThreeRanks) {
  EXPECT_THAT(issue_order_error({RankTrace(0).send("a", 1).receive("a", 2),
                                 RankTrace(1).send("a", 2).receive("a", 0),
                                 RankTrace(2).send("a", 0).receive("a", 1)}),
              HasSubstr("cycle"));
}

TEST(IssueOrderError, FindsMessagesThatDoNotMatch) {
  EXPECT_THAT(issue_order_error({RankTrace(0).send("a", 1), RankTrace(1)}),
              HasSubstr("1 messages sent from 0 to 1 on a, 0 received"));
  EXPECT_THAT(issue_order_error({RankTrace(0).send("a", 1, 8), RankTrace(1).receive("a", 0, 4)}),
              HasSubstr("8 bytes sent, 4 received"));
}

/// The worlds that this build has.
std::vector<std::string> available_worlds() {
  if (!sim_available()) return {"threads"};
  return {"sim", "threads"};
}

/// True if, with a transport that buffers messages, the sends of ranks run ahead of their receives,
/// so that the union of orders may have cycles. This is the case in trees (double_tree_test.cpp),
/// and with servers that have a stream for each stage of a partition.
bool runs_ahead(const Json& resolved) {
  return std::ranges::any_of(used_algorithms(resolved, ""), [](const UsedAlgorithm& used) {
    const Json allreduce = used.resolved.value("allreduce", Json());
    const auto is = [&allreduce](const char* name) {
      return allreduce == name || (allreduce.is_object() && allreduce.at("name") == name);
    };
    return is("double_tree") || is("nccl") || used.entry->name == "parameter_server";
  });
}

class IssueOrder : public ::testing::TestWithParam<std::string> {
 protected:
  void check(int nodes, int workers) {
    for (const NamedAlgorithm& algorithm : every_algorithm()) {
      if (!fits(algorithm, small_cluster(nodes, workers))) continue;
      SCOPED_TRACE(algorithm.name);
      Training training;
      training.algorithm = algorithm.spec;
      const Json options =
          resolve_component(algorithms(), "algorithm", algorithm.spec, "/algorithm");
      if (!options.value("bucket", Json()).is_null()) training.algorithm["bucket"] = "50B";
      training.cluster = small_cluster(nodes, workers);
      training.cluster.slow_workers = {{1, 1.7}};
      if (runs_ahead(options))
        training.cluster.transport.protocol = Transport::Protocol::rendezvous;
      training.steps = 6;
      training.world = GetParam();
      training.events = true;
      const Trained trained = train(training);
      ASSERT_FALSE(trained.events.empty());
      EXPECT_FALSE(trained.events[0].empty());
      EXPECT_EQ(issue_order_error(trained.events), "");
    }
  }
};

TEST_P(IssueOrder, IsAcyclicOnAFlatNetwork) { check(6, 1); }
TEST_P(IssueOrder, IsAcyclicInAHierarchy) { check(2, 3); }
TEST_P(IssueOrder, IsAcyclicForPowersOfTwo) { check(4, 2); }

INSTANTIATE_TEST_SUITE_P(Worlds, IssueOrder, ::testing::ValuesIn(available_worlds()),
                         [](const auto& world) { return world.param; });

}  // namespace
}  // namespace trigram::test::issue_order_test
