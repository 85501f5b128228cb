#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/config/option_type.h"
#include "core/device/host_device.h"
#include "core/workloads/image_data.h"
#include "core/workloads/model.h"
#include "core/workloads/network.h"
#include "core/workloads/pricing.h"
#include "core/workloads/registry.h"
#include "core/workloads/sampler.h"

namespace trigram {
namespace {

std::size_t count_correct(const Tensor& logits, const Tensor& labels, std::size_t classes) {
  std::size_t correct = 0;
  const auto expected = labels.values<std::uint8_t>();  // in host memory, like the logits
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = logits.floats().subspan(i * classes, classes);
    correct += std::ranges::max_element(row) - row.begin() == expected[i];
  }
  return correct;
}

Sampler make_sampler(const ImageSet& set, std::size_t batch,
                     const std::optional<Sharding>& sharding, const ModelPlace& place) {
  if (!sharding) return {set.size(), batch, place.rank, place.ranks, place.seed};
  auto shards = dirichlet_shards(set.labels, sharding->dirichlet, place.ranks, place.seed);
  return {std::move(shards[static_cast<std::size_t>(place.rank)]), batch, place.rank, place.seed};
}

/// A network trained on a data set, as one rank sees it.
class ImageClassifier final : public Model {
 public:
  /// `data` is shared by the ranks, read-only. Without `sharding`, ranks draw from all samples,
  /// reshuffled in every epoch.
  ImageClassifier(Device& device, std::shared_ptr<const ImageData> data,
                  const Architecture& architecture, std::size_t batch,
                  const std::optional<Sharding>& sharding, const ModelPlace& place)
      : device_(device),
        data_(std::move(data)),
        architecture_(architecture),
        batch_(batch),
        seed_(place.seed),
        network_(device, architecture, batch),
        sampler_(make_sampler(data_->train, batch, sharding, place)) {}

  std::vector<std::size_t> tensor_lengths() const override { return network_.tensor_lengths(); }
  std::vector<std::size_t> tensor_rows() const override { return network_.tensor_rows(); }
  void initialise(std::span<float> weights) const override { network_.initialise(weights, seed_); }
  void forward(Device& device, const Tensor& weights) override {
    data_->gather(device, data_->train, sampler_.next(), network_.images(), network_.labels());
    network_.forward(device.nn(), weights);
  }
  void backward(Device& device, const Tensor& weights, const Tensor& gradients,
                const std::function<void()>& on_tensor) override {
    network_.backward(device.nn(), weights, gradients, on_tensor);
  }
  void skip(long count) override { sampler_.skip(count); }
  double loss() const override {
    const auto loss = device_.download(network_.loss());
    return loss.empty() ? std::numeric_limits<double>::quiet_NaN() : loss[0];
  }
  /// Evaluates on the test images, computed on the host.
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) const override {
    // Small enough that the activations of these networks stay in the cache.
    constexpr std::size_t kBatch = 250;
    HostDevice host;
    const Tensor flat = host.empty(weights.size());
    std::ranges::copy(weights, flat.floats().begin());
    double loss = 0;
    std::size_t correct = 0;
    const std::size_t size = std::min(data_->test.size(), max_samples);
    for (std::size_t begin = 0; begin < size;) {
      const std::size_t batch = std::min(kBatch, size - begin);
      NeuralNetwork network(host, architecture_, batch);  // cheap, because memory is pooled
      std::vector<std::uint32_t> chosen(batch);
      std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(begin));
      data_->gather(host, data_->test, chosen, network.images(), network.labels());
      network.forward(host.nn(), flat);
      loss += static_cast<double>(network.loss().floats()[0]) * static_cast<double>(batch);
      correct += count_correct(network.logits(), network.labels(), architecture_.classes);
      begin += batch;
    }
    const auto n = static_cast<double>(size);
    return {loss / n, static_cast<double>(correct) / n};
  }
  std::size_t batch() const override { return batch_; }

 private:
  Device& device_;
  std::shared_ptr<const ImageData> data_;
  Architecture architecture_;
  std::size_t batch_;
  std::uint64_t seed_;
  NeuralNetwork network_;
  Sampler sampler_;
};

constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";

enum class ModelKind { mlp, cnn };

struct ClassifierOptions {
  ModelKind model = ModelKind::mlp;
  std::optional<std::vector<std::size_t>> hidden;  // the default depends on the model
  std::size_t batch = 32;
  std::optional<Sharding> sharding;
  std::string data = kDebianFolder;
  Pricing pricing;
};

FieldTable<ClassifierOptions> fashion_mnist_fields() {
  return FieldTable<ClassifierOptions>{}
      .field("model", &ClassifierOptions::model,
             one_of<ModelKind>({{"mlp", ModelKind::mlp}, {"cnn", ModelKind::cnn}}),
             "mlp: dense layers; cnn: two 3x3 convolutions of 8 and 16 filters, each with 2x2 "
             "max-pooling, before the dense layers")
      .field("hidden", &ClassifierOptions::hidden, optional(counts(1, 1 << 16)),
             "widths of the hidden dense layers; default: one layer of 64 for mlp, none for cnn")
      .field("batch", &ClassifierOptions::batch, count(1, 1 << 20), "samples per worker and step")
      .field("sharding", &ClassifierOptions::sharding, sharding_kind(),
             "shards of uneven classes, one per worker, such as {\"dirichlet\": 0.1}; absent: all "
             "workers draw from all images")
      .field("data", &ClassifierOptions::data, text(),
             "folder of {train,t10k}-{images-idx3,labels-idx1}-ubyte files, gzipped or plain")
      .include(&ClassifierOptions::pricing, pricing_fields())
      .finish_with([](ClassifierOptions& options, const std::string& /*pointer*/) {
        if (!options.hidden) options.hidden.emplace(options.model == ModelKind::mlp ? 1 : 0, 64);
      });
}

class ClassifierFactory final : public ModelFactory {
 public:
  ClassifierFactory(const ClassifierOptions& options, const std::string& pointer)
      : pointer_(pointer),
        batch_(options.batch),
        sharding_(options.sharding),
        files_(image_data_files(options.data)),
        data_(std::make_shared<ImageData>(load(options.data, child(pointer, "data")))) {
    architecture_ = {data_->train.height, data_->train.width, data_->classes, {}, *options.hidden};
    if (options.model == ModelKind::cnn) architecture_.filters = {8, 16};
  }

  void check_ranks(int ranks) const override {
    const std::size_t largest = data_->train.size() / static_cast<std::size_t>(ranks);
    if (batch_ > largest)
      throw ConfigError(child(pointer_, "batch"),
                        fmt::format("expected at most {}, as {} ranks share {} images, not {}",
                                    largest, ranks, data_->train.size(), batch_));
  }
  std::unique_ptr<Model> make(Device& device, const ModelPlace& place) const override {
    check_ranks(place.ranks);
    return std::make_unique<ImageClassifier>(device, data_, architecture_, batch_, sharding_,
                                             place);
  }
  bool has_shapes() const override { return true; }
  std::size_t samples() const override { return data_->train.size(); }
  bool has_accuracy() const override { return true; }
  std::vector<std::filesystem::path> input_files() const override { return files_; }

 private:
  static ImageData load(const std::string& folder, const std::string& pointer) {
    if (folder == kDebianFolder && !std::filesystem::exists(folder))
      throw ConfigError(pointer, folder + ": not found; install the package dataset-fashion-mnist");
    return load_image_data(folder, pointer);
  }

  std::string pointer_;
  std::size_t batch_;
  std::optional<Sharding> sharding_;
  std::vector<std::filesystem::path> files_;
  std::shared_ptr<const ImageData> data_;
  Architecture architecture_;
};

}  // namespace

WorkloadEntry fashion_mnist_entry() {
  return component<WorkloadFactory, const std::string&>(
      "fashion_mnist",
      "a real classifier with real gradients on Fashion-MNIST or any other IDX data set",
      fashion_mnist_fields(), [](const ClassifierOptions& options, const std::string& pointer) {
        return make_model_workload_factory(std::make_unique<ClassifierFactory>(options, pointer),
                                           options.pricing, pointer);
      });
}

}  // namespace trigram
