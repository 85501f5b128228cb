#include "core/metering/meter.h"

#include "core/metering/metered_stream.h"

namespace trigram {
namespace {

class RankMeter final : public Meter {
 public:
  RankMeter(const Context& raw, MeterOptions options)
      : rank_(std::make_shared<MeteredRank>(raw.world_rank, raw.layout, std::move(options))),
        main_(std::make_shared<MeteredStream>(rank_, /*is_main=*/true)),
        context_(main_->instrument(raw)),
        start_s_(raw.stream->now()) {}

  Context context() override { return context_; }

  Counters counters() const override {
    Counters total = rank_->totals();
    total.compute_s = before_.compute_s + (main_->now() - start_s_ - rank_->main_blocked_s());
    total.communication_s += before_.communication_s;
    total.exposed_s += before_.exposed_s;
    total.bytes_intra += before_.bytes_intra;
    total.bytes_inter += before_.bytes_inter;
    total.messages_intra += before_.messages_intra;
    total.messages_inter += before_.messages_inter;
    total.bytes_egress += before_.bytes_egress;
    total.egress_usd += before_.egress_usd;
    return total;
  }
  void count_on_from(const Counters& totals) override {
    rank_->reset();
    before_ = totals;
    start_s_ = main_->now();
  }
  void set_label(const StepLabel& label) override { main_->set_label(label); }
  void keep_forks() override { main_->keep_forks(); }
  void restart_forks() override { main_->restart_forks(); }
  void close_forks() override { main_->close_forks(); }

 private:
  std::shared_ptr<MeteredRank> rank_;
  std::shared_ptr<MeteredStream> main_;
  Context context_;
  double start_s_;
  Counters before_;  // counted before start_s_
};

}  // namespace

std::unique_ptr<Meter> instrument(const Context& raw, MeterOptions options) {
  return std::make_unique<RankMeter>(raw, std::move(options));
}

}  // namespace trigram
