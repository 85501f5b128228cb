#include <fmt/format.h>

#include "core/config/fields.h"
#include "core/config/json_text.h"
#include "core/config/option_types.h"
#include "core/workloads/profile_parsers.h"

namespace trigram {
namespace {

OptionType<double> seconds() { return number(0, 1e9); }
OptionType<std::optional<std::int64_t>> flops() { return optional(integer(0)); }

/// The fields of the object in the file.
struct Document {
  std::string name;
  AcceleratorRates measured_on;
  std::size_t batch = 1;
  std::size_t buffers = 0;
  std::optional<double> forward_s, backward_s;
  std::vector<std::string> sources, assumed;
  std::vector<ProfileTensor> tensors;
};

FieldTable<AcceleratorRates> accelerator_fields() {
  return FieldTable<AcceleratorRates>{}
      .field("accelerator", &AcceleratorRates::name, text(),
             "accelerator on which the times were measured")
      .field("flops", &AcceleratorRates::flops_per_s, quantity(Dimension::flop_rate, true),
             "the accelerator's peak rate of arithmetic at the precision of the measurement")
      .field("memory_bandwidth", &AcceleratorRates::memory_Bps,
             quantity(Dimension::bandwidth, true), "the accelerator's peak memory bandwidth");
}

FieldTable<Document> document_fields() {
  auto row =
      FieldTable<ProfileTensor>{}
          .required("tensor", &ProfileTensor::tensor, text(), "name of the tensor")
          .required("numel", &ProfileTensor::numel, count(1), "number of elements")
          .required("forward_s", &ProfileTensor::forward_s, seconds(),
                    "time of its layer's forward pass, in seconds")
          .required("backward_s", &ProfileTensor::backward_s, seconds(),
                    "time of its layer's backward pass, in seconds")
          .field("forward_flops", &ProfileTensor::forward_flops, flops(),
                 "floating-point operations of the layer's matrix products in the forward pass")
          .field("backward_flops", &ProfileTensor::backward_flops, flops(),
                 "floating-point operations of the layer's matrix products in the backward pass");
  return FieldTable<Document>{}
      .field("name", &Document::name, text(), "name of the model")
      .include(&Document::measured_on, accelerator_fields())
      .field("batch", &Document::batch, count(1), "samples per worker and step")
      .field("buffers", &Document::buffers, byte_size(),
             "size of the model's state besides its parameters, such as the statistics of batch "
             "normalisation")
      .field("forward_s", &Document::forward_s, optional(seconds()), "sum over the tensors")
      .field("backward_s", &Document::backward_s, optional(seconds()), "sum over the tensors")
      .field("sources", &Document::sources, list_of(text()), "where the numbers come from")
      .field("assumed", &Document::assumed, list_of(text()), "what nobody has measured")
      .required("tensors", &Document::tensors, list_of(nested(row)),
                "the tensors in the order of the forward pass");
}

}  // namespace

ProfileText parse_profile_json(const std::string& content) {
  try {
    Document d = document_fields().parse(parse_json(content), "");
    return {{std::move(d.name), std::move(d.measured_on), d.batch, d.buffers, std::move(d.sources),
             std::move(d.assumed), std::move(d.tensors)},
            d.forward_s,
            d.backward_s};
  } catch (const JsonTextError& error) {
    throw ProfileError(error.place().empty() ? error.what() : error.place() + ": " + error.what());
  } catch (const ConfigError& error) {
    std::string all;
    for (const Mistake& mistake : error.mistakes())
      all += (all.empty() ? "" : "; ") + mistake.text();
    throw ProfileError(all);
  }
}

}  // namespace trigram
