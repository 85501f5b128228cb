#include "runtime/threads/shared_links.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trigram::threads {

/// A link, or the bandwidth limit of a connection, as a token bucket.
struct SharedLinks::Bucket {
  explicit Bucket(double its_bandwidth_Bps) : bandwidth_Bps(its_bandwidth_Bps) {}

  /// A waiting slice. Slices are served in the order of their start tags, then of arrival. The
  /// start tag, in bytes, is the larger of the link's virtual time and the end tag of the flow's
  /// previous slice (start-time fair queueing).
  struct Waiting {
    double start_tag;
    std::uint64_t arrival;
    Slice slice;
    bool operator<(const Waiting& other) const {
      return std::pair(start_tag, arrival) < std::pair(other.start_tag, other.arrival);
    }
  };

  const double bandwidth_Bps;
  std::set<Waiting> waiting;
  std::uint64_t arrivals = 0;
  bool busy = false;
  double virtual_time = 0;  // start tag of the slice in service; last_end_tag if the link is idle
  double last_end_tag = 0;  // the largest end tag of all slices served so far
  double carried = 0;       // bytes
};

struct SharedLinks::Flow {
  struct Hop {
    Bucket* bucket;
    double end_tag = 0;  // end tag of the flow's latest slice at this hop
  };
  std::vector<Hop> hops;
  double narrowest_Bps = 0;
  double slice_bytes = 0;
  double unsent = 0;     // bytes that are not yet cut into slices
  double unentered = 0;  // bytes that have not entered the first link yet
  double earliest_end_s = 0;
  std::size_t in_flight = 0;
  Ended ended;
};

SharedLinks::SharedLinks(const Network& network, double bucket_depth)
    : network_(network), bucket_depth_(bucket_depth) {
  for (const Link& link : network.links())
    links_.push_back(link.unlimited() ? nullptr : std::make_unique<Bucket>(link.bandwidth_Bps));
}

SharedLinks::~SharedLinks() = default;

SharedLinks::Bucket* SharedLinks::connection(int source, int destination) {
  const double cap_Bps = network_.connection_cap(source, destination);
  if (std::isinf(cap_Bps)) return nullptr;
  auto& own = connections_[{source, destination}];
  if (!own) own = std::make_unique<Bucket>(cap_Bps);
  return own.get();
}

/// The buckets that a message passes, in order: its connection's limit, if any, then its limited
/// links.
std::vector<SharedLinks::Bucket*> SharedLinks::route(int source, int destination) {
  std::vector<LinkId> ids;
  network_.route(source, destination, ids);
  std::vector<Bucket*> buckets = {connection(source, destination)};
  for (const LinkId id : ids) buckets.push_back(links_[static_cast<std::size_t>(id)].get());
  std::erase(buckets, nullptr);
  return buckets;
}

void SharedLinks::start(double date_s, int source, int destination, double nbytes, Ended ended) {
  date_s = std::max(date_s, now_s_);
  auto flow = std::make_unique<Flow>();
  for (Bucket* bucket : route(source, destination)) flow->hops.push_back({bucket});
  flow->narrowest_Bps = network_.bandwidth(source, destination);
  flow->slice_bytes = std::max(bucket_depth_, kShortestSlice_s * flow->narrowest_Bps);
  flow->earliest_end_s = date_s + nbytes / flow->narrowest_Bps;
  flow->ended = std::move(ended);
  // A message that passes no limited link, such as one from a rank to itself, shares nothing.
  const bool shares = !flow->hops.empty();
  if (shares) flow->unsent = flow->unentered = nbytes;
  const double begin_s = shares ? date_s : flow->earliest_end_s;
  Flow& begun = *flow;
  flows_[&begun] = std::move(flow);
  schedule_.at(begin_s, [this, &begun, begin_s] { continue_flow(begun, begin_s); });
}

/// Queues slices at the first limit of the route until the window is full. The window is the number
/// of limits on the route plus one, so that one slice can wait while the others pass. Ends the flow
/// when all slices have arrived.
void SharedLinks::continue_flow(Flow& flow, double date_s) {
  while (flow.unsent > 0 && flow.in_flight <= flow.hops.size()) {
    const double nbytes = std::min(flow.slice_bytes, flow.unsent);
    flow.unsent -= nbytes;
    ++flow.in_flight;
    arrive({.flow = &flow, .nbytes = nbytes}, date_s);
  }
  if (flow.in_flight > 0) return;
  const Ended ended = std::move(flow.ended);
  flows_.erase(&flow);
  ended(date_s);
}

void SharedLinks::arrive(const Slice& slice, double date_s) {
  Flow::Hop& hop = slice.flow->hops[slice.hop];
  Bucket& bucket = *hop.bucket;
  const double tag = std::max(bucket.virtual_time, hop.end_tag);
  hop.end_tag = tag + slice.nbytes;
  bucket.waiting.insert({tag, bucket.arrivals++, slice});
  if (!bucket.busy) serve(bucket, date_s);
}

void SharedLinks::serve(Bucket& bucket, double date_s) {
  bucket.busy = !bucket.waiting.empty();
  if (!bucket.busy) {
    bucket.virtual_time = bucket.last_end_tag;
    return;
  }
  const auto next = bucket.waiting.extract(bucket.waiting.begin());
  Slice slice = next.value().slice;
  Flow& flow = *slice.flow;
  bucket.virtual_time = next.value().start_tag;
  bucket.last_end_tag = std::max(bucket.last_end_tag, bucket.virtual_time + slice.nbytes);
  bucket.carried += slice.nbytes;
  const double free_s = date_s + slice.nbytes / bucket.bandwidth_Bps;
  slice.passed_s = std::max(slice.passed_s, free_s);
  if (slice.hop == 0) {
    flow.earliest_end_s = date_s + flow.unentered / flow.narrowest_Bps;
    flow.unentered -= slice.nbytes;
  }
  schedule_.at(free_s, [this, &bucket, free_s] { serve(bucket, free_s); });
  if (++slice.hop < flow.hops.size()) arrive(slice, date_s);
  else
    schedule_.at(slice.passed_s, [this, &flow, date = slice.passed_s] {
      --flow.in_flight;
      continue_flow(flow, date);
    });
}

double SharedLinks::next() const {
  if (flows_.empty()) return host::Schedule::kNever;
  double earliest_s = host::Schedule::kNever;
  for (const auto& [key, flow] : flows_) earliest_s = std::min(earliest_s, flow->earliest_end_s);
  return std::max(earliest_s, schedule_.next());
}

double SharedLinks::carried(LinkId link) const {
  const auto& bucket = links_[static_cast<std::size_t>(link)];
  return bucket ? bucket->carried : 0;
}

}  // namespace trigram::threads
