#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "core/config/option_type.h"
#include "core/device/host_device.h"
#include "core/device/null_device.h"
#include "core/workloads/loader.h"
#include "core/workloads/model.h"
#include "core/workloads/pricing.h"
#include "core/workloads/registry.h"
#include "core/workloads/text_data.h"
#include "core/workloads/text_network.h"

namespace trigram {
namespace {

double bits(double nats) { return nats / std::numbers::ln2; }

std::size_t correct_bytes(const Tensor& logits, const Tensor& labels) {
  std::size_t correct = 0;
  const auto expected = labels.values<std::uint8_t>();  // in host memory, like the logits
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = logits.floats().subspan(i * TextNetwork::kBytes, TextNetwork::kBytes);
    correct += std::ranges::max_element(row) - row.begin() == expected[i];
  }
  return correct;
}

/// A language model trained on lines of text, as one rank sees it. Each mini-batch has its own
/// network, because its activations depend on the lengths of the lines; memory is pooled.
class LanguageModel final : public Model {
 public:
  /// `data` is shared by the ranks, read-only.
  LanguageModel(Device& device, std::shared_ptr<const TextData> data,
                const TextArchitecture& architecture, Loader loader, std::uint64_t seed)
      : device_(device),
        data_(std::move(data)),
        architecture_(architecture),
        seed_(seed),
        shapes_(null_, architecture, {1}),
        loader_(std::move(loader)) {}

  std::vector<std::size_t> tensor_lengths() const override { return shapes_.tensor_lengths(); }
  std::vector<std::size_t> tensor_rows() const override { return shapes_.tensor_rows(); }
  void initialise(std::span<float> weights) const override { shapes_.initialise(weights, seed_); }
  void forward(Device& device, const Tensor& weights) override {
    network_.reset();  // first, so that the next network gets its memory
    network_ = network_of(device, data_->train, loader_.next());
    network_->forward(device.nn(), weights);
  }
  void backward(Device& device, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor) override {
    network_->backward(device.nn(), weights, gradients, on_tensor);
  }
  void skip(long count) override {
    for (; count > 0; --count) loader_.next();
  }
  /// In bits per byte.
  double loss() const override {
    const auto loss = device_.download(network_->loss());
    return loss.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : bits(static_cast<double>(loss[0]));
  }
  /// Evaluates on held-out lines, computed on the host. The loss is in bits per byte, the accuracy
  /// is the share of bytes that the model predicts.
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) const override {
    constexpr std::size_t kBatch = 8;  // small enough for the cache
    HostDevice host;
    const Tensor flat = host.empty(weights.size());
    std::ranges::copy(weights, flat.floats().begin());
    double loss = 0;
    std::size_t correct = 0, rows = 0;
    const std::size_t size = std::min(data_->held_out.size(), max_samples);
    for (std::size_t begin = 0; begin < size; begin += kBatch) {
      std::vector<std::uint32_t> chosen(std::min(kBatch, size - begin));
      std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(begin));
      const auto network = network_of(host, data_->held_out, chosen);
      network->forward(host.nn(), flat);
      const std::size_t own = network->labels().numel();
      loss += static_cast<double>(network->loss().floats()[0]) * static_cast<double>(own);
      correct += correct_bytes(network->logits(), network->labels());
      rows += own;
    }
    const auto n = static_cast<double>(rows);
    return {bits(loss / n), static_cast<double>(correct) / n};
  }
  std::size_t batch() const override { return loader_.batch(); }

 private:
  /// A network on `device` that holds the chosen lines.
  std::unique_ptr<TextNetwork> network_of(Device& device, std::span<const std::string> lines,
                                          std::span<const std::uint32_t> chosen) const {
    const TextBatch batch = pack(lines, chosen, architecture_.order());
    auto network = std::make_unique<TextNetwork>(device, architecture_, batch.lengths);
    device.upload(network->inputs(), batch.inputs);
    device.upload(network->labels(), batch.labels);
    return network;
  }

  Device& device_;
  std::shared_ptr<const TextData> data_;
  TextArchitecture architecture_;
  std::uint64_t seed_;
  NullDevice null_;
  TextNetwork shapes_;  // without values; knows the tensors
  Loader loader_;
  std::unique_ptr<TextNetwork> network_;  // of the last mini-batch
};

using Kind = TextArchitecture::Kind;

struct TextOptions {
  Kind model = Kind::transformer;
  std::optional<std::size_t> width, layers;  // the defaults depend on the model
  std::size_t heads = 4;
  bool tied = false;
  std::size_t context = 1024;
  std::size_t batch = 4;
  std::optional<LoaderOptions> loader;
  std::string data = kBible;
  std::size_t held_out = 64;
  Pricing pricing;
};

FieldTable<TextOptions> text_fields() {
  return FieldTable<TextOptions>{}
      .field("model", &TextOptions::model,
             one_of<Kind>({{"transformer", Kind::transformer}, {"gru", Kind::gru}}),
             "transformer: decoder-only, with causal attention; gru: gated recurrent units")
      .field(
          "width", &TextOptions::width, optional(count(1, 1 << 14)),
          "length of the vector that represents a byte; default: 96 for transformer, 224 for gru")
      .field("layers", &TextOptions::layers, optional(count(1, 1 << 10)),
             "blocks of attention and MLP, or recurrent layers; default: 3 for transformer, 1 for "
             "gru")
      .field("heads", &TextOptions::heads, count(1, 1 << 10),
             "attention heads, which share the width")
      .only_where([](const TextOptions& o) { return o.model == Kind::transformer; },
                  "only a transformer has attention heads")
      .field("tied", &TextOptions::tied, boolean(),
             "true: the table of embeddings is also the weights of the last layer")
      .field("context", &TextOptions::context, count(1, 1 << 20),
             "the most bytes of a line, with its end; a longer line in the data is an error")
      .field("batch", &TextOptions::batch, count(1, 1 << 20), "lines per worker and step")
      .only_where([](const TextOptions& o) { return !o.loader || !o.loader->tokens; },
                  "the option tokens of the loader determines the lines of a mini-batch")
      .field("loader", &TextOptions::loader, optional(nested(loader_fields())),
             "how workers share lines of uneven lengths; with it, compute times of priced_as are "
             "those of a mini-batch of mean length, or of `tokens` bytes, and follow the bytes of "
             "each mini-batch")
      .field("data", &TextOptions::data, text(),
             "text file, one sample per line; default: the King James Bible of Debian's package "
             "bible-kjv-text")
      .field("held_out", &TextOptions::held_out, count(2, 1 << 20),
             "one line in so many is not trained on, but evaluated; chosen by its CRC-32")
      .include(&TextOptions::pricing, pricing_fields())
      .finish_with([](TextOptions& options, const std::string& pointer) {
        const bool gru = options.model == Kind::gru;
        if (!options.width) options.width = gru ? 224 : 96;
        if (!options.layers) options.layers = gru ? 1 : 3;
        if (!gru && *options.width % options.heads != 0)
          throw ConfigError(child(pointer, "heads"),
                            fmt::format("expected a divisor of the width {}, not {}",
                                        *options.width, options.heads));
      });
}

class LanguageModelFactory final : public ModelFactory {
 public:
  LanguageModelFactory(const TextOptions& options, const std::string& pointer)
      : pointer_(pointer),
        batch_(options.batch),
        loader_(options.loader),
        file_(options.data),
        data_(std::make_shared<TextData>(
            load_text(options.data, options.held_out, child(pointer, "data")))),
        architecture_{.kind = options.model,
                      .width = *options.width,
                      .layers = *options.layers,
                      .heads = options.heads,
                      .tied = options.tied} {
    std::size_t longest = 0;
    for (const auto* part : {&data_->train, &data_->held_out})
      for (const std::string& line : *part) longest = std::max(longest, line.size() + 1);
    if (longest > options.context)
      throw ConfigError(child(pointer, "context"),
                        fmt::format("expected at least {}, the bytes of the longest line of {} "
                                    "with its end, not {}",
                                    longest, options.data, options.context));
    auto sizes = std::make_shared<std::vector<std::size_t>>();
    for (const std::string& line : data_->train) sizes->push_back(line.size() + 1);
    sizes_ = std::move(sizes);
    const std::size_t largest = *std::ranges::max_element(*sizes_);
    if (loader_ && loader_->tokens && *loader_->tokens < largest)
      throw ConfigError(
          child(child(pointer, "loader"), "tokens"),
          fmt::format("expected at least {}, the bytes of the longest line of {} to train on with "
                      "its end, not {}",
                      largest, options.data, *loader_->tokens));
  }

  bool has_shapes() const override { return true; }
  bool has_accuracy() const override { return true; }
  void check_ranks(int ranks) const override {
    const std::size_t largest = data_->train.size() / static_cast<std::size_t>(ranks);
    if (loader_ && loader_->tokens && largest == 0)
      throw ConfigError(child(pointer_, "data"), fmt::format("expected a line for each of {} ranks "
                                                             "to train on, not {} lines",
                                                             ranks, data_->train.size()));
    if (batch_ > largest && !(loader_ && loader_->tokens))
      throw ConfigError(child(pointer_, "batch"),
                        fmt::format("expected at most {}, as {} ranks share {} lines, not {}",
                                    largest, ranks, data_->train.size(), batch_));
  }
  std::unique_ptr<Model> make(Device& device, const ModelPlace& place) const override {
    check_ranks(place.ranks);
    return std::make_unique<LanguageModel>(device, data_, architecture_, make_loader(place),
                                           place.seed);
  }
  /// The time of a profile is that of a full budget of bytes, or of lines of mean length.
  std::function<double()> make_loads(const ModelPlace& place) const override {
    if (!loader_) return {};
    const auto bytes =
        static_cast<double>(std::accumulate(sizes_->begin(), sizes_->end(), std::size_t{0}));
    const double nominal =
        loader_->tokens ? static_cast<double>(*loader_->tokens)
                        : static_cast<double>(batch_) * bytes / static_cast<double>(samples());
    return [loader = make_loader(place), sizes = sizes_, nominal]() mutable {
      std::size_t sum = 0;
      for (const std::uint32_t line : loader.next()) sum += (*sizes)[line];
      return static_cast<double>(sum) / nominal;
    };
  }
  std::size_t samples() const override { return data_->train.size(); }
  bool steps_differ() const override { return true; }
  std::vector<std::filesystem::path> input_files() const override { return {file_}; }

 private:
  Loader make_loader(const ModelPlace& place) const {
    return {sizes_, loader_.value_or(LoaderOptions{}), batch_, place.rank, place.ranks, place.seed};
  }

  std::string pointer_;
  std::size_t batch_;
  std::optional<LoaderOptions> loader_;
  Loader::Sizes sizes_;  // bytes of the lines to train on, with their ends
  std::filesystem::path file_;
  std::shared_ptr<const TextData> data_;
  TextArchitecture architecture_;
};

}  // namespace

WorkloadEntry text_entry() {
  return component<WorkloadFactory, const std::string&>(
      "text", "a real language model on bytes, trained on the lines of a text", text_fields(),
      [](const TextOptions& options, const std::string& pointer) {
        return make_model_workload_factory(std::make_unique<LanguageModelFactory>(options, pointer),
                                           options.pricing, pointer);
      });
}

}  // namespace trigram
