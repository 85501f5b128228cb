#include "experiments/run/rank_report.h"

#include <cstring>
#include <type_traits>

namespace trigram {
namespace {

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// Writes a list: a string or a vector.
  template <class List>
  void put_list(const List& list) {
    static_assert(std::is_trivially_copyable_v<typename List::value_type>);
    put(list.size());
    bytes_.append(reinterpret_cast<const char*>(list.data()),
                  list.size() * sizeof(typename List::value_type));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    copy(&value, sizeof value);
    return value;
  }
  template <class List>
  List get_list() {
    List list;
    list.resize(get<std::size_t>());
    copy(list.data(), list.size() * sizeof(typename List::value_type));
    return list;
  }

 private:
  void copy(void* to, std::size_t length) {
    std::memcpy(to, bytes_.data() + at_, length);
    at_ += length;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_bytes(const RankReport& report) {
  Writer to;
  to.put(report.first);
  to.put_list(report.steps);
  to.put(report.weights.size());
  for (const auto& [step, weights] : report.weights) {
    to.put(step);
    to.put_list(weights);
  }
  to.put(report.result.total);
  to.put(report.result.began_s);
  to.put_list(report.result.weights_hash);
  to.put(report.result.batch);
  to.put(report.result.trains);
  to.put_list(report.timeline);
  return to.take();
}

RankReport report_from_bytes(const std::string& bytes) {
  Reader from(bytes);
  RankReport report;
  report.first = from.get<long>();
  report.steps = from.get_list<std::vector<RankStep>>();
  for (auto left = from.get<std::size_t>(); left > 0; --left) {
    const long step = from.get<long>();
    report.weights[step] = from.get_list<std::vector<float>>();
  }
  report.result.total = from.get<Counters>();
  report.result.began_s = from.get<double>();
  report.result.weights_hash = from.get_list<std::string>();
  report.result.batch = from.get<std::size_t>();
  report.result.trains = from.get<bool>();
  report.timeline = from.get_list<std::string>();
  return report;
}

std::vector<std::string> gather(const Context& ctx, const std::string& own) {
  constexpr int kTag = -2;  // algorithms use tags from 0
  const auto buffer = [&ctx](std::size_t length) { return ctx.device->empty(length, DType::u8); };
  if (ctx.world_rank != 0) {
    ctx.control->post(0, kTag, static_cast<std::int64_t>(own.size()));
    const Tensor x = buffer(own.size());
    ctx.device->upload(x, std::as_bytes(std::span(own)));
    const Transfer out{Transfer::send, x, 0};
    ctx.comm->transfer({&out, 1});
    return {};
  }
  std::vector<std::string> all(static_cast<std::size_t>(ctx.world_size));
  all[0] = own;
  std::vector<std::size_t> lengths(all.size());
  for (int others = ctx.world_size - 1; others > 0; --others) {
    const auto length = ctx.control->receive(kTag);
    lengths[static_cast<std::size_t>(length->source)] = static_cast<std::size_t>(length->a);
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {  // one rank at a time, to limit memory
    const Transfer in{Transfer::recv, buffer(lengths[rank]), static_cast<int>(rank)};
    ctx.comm->transfer({&in, 1});
    all[rank].resize(lengths[rank]);
    ctx.device->download(std::as_writable_bytes(std::span(all[rank])), in.tensor);
  }
  return all;
}

}  // namespace trigram
