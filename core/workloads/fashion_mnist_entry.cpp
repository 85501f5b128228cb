#include <fmt/format.h>

#include <optional>

#include "core/config/option_type.h"
#include "core/workloads/image_classifier.h"
#include "core/workloads/pricing.h"
#include "core/workloads/registry.h"

namespace trigram {
namespace {

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
  std::size_t samples() const override { return data_->train.size(); }
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
