#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/config/config_error.h"
#include "experiments/python/trainer.h"
#include "runtime/mpi/mpi_runtime.h"

// The Python module trigram._engine, on which the package trigram is built. It does not know
// PyTorch: tensors are arrays, whose memory belongs to the trainer.

namespace py = pybind11;
using trigram::Trainer;

namespace {

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

std::vector<float> values_of(const Floats& array) {
  return {array.data(), array.data() + array.size()};
}

/// The values of a tensor of `owner`, without a copy. The array keeps the owner alive.
py::array_t<float> view_of(const trigram::Tensor& tensor, const py::object& owner) {
  return py::array_t<float>(static_cast<py::ssize_t>(tensor.numel()), tensor.floats().data(),
                            owner);
}

std::unique_ptr<Trainer> make_trainer(const std::string& options, std::vector<std::string> names,
                                      std::vector<std::size_t> lengths,
                                      std::vector<std::size_t> rows, const Floats& weights,
                                      const Floats& buffers, const Floats& constants) {
  trigram::UserModel model{std::move(names),   std::move(lengths), std::move(rows),
                           values_of(weights), values_of(buffers), values_of(constants)};
  const py::gil_scoped_release released;
  return std::make_unique<Trainer>(trigram::Json::parse(options), std::move(model));
}

py::dict counters_of(const Trainer& trainer) {
  const trigram::Counters c = trainer.counters();
  py::dict result;
  result["steps"] = trainer.steps_made();
  result["communication_s"] = c.communication_s;
  result["exposed_s"] = c.exposed_s;
  result["bytes"] = c.bytes_intra + c.bytes_inter;
  result["messages"] = c.messages_intra + c.messages_inter;
  return result;
}

}  // namespace

PYBIND11_MODULE(_engine, m) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::register_exception<trigram::ConfigError>(m, "ConfigError", PyExc_ValueError);
  m.def("algorithm_has_option", [](const std::string& algorithm, const std::string& option) {
    return trigram::algorithm_has_option(trigram::Json::parse(algorithm), option);
  });
  m.def("abort", [](const std::string& message) {
    if (trigram::mpi_unavailable_reason().empty() && trigram::mpi_process().size > 1)
      trigram::mpi_abort(message, 1);
  });
  py::class_<Trainer>(m, "Trainer")
      .def(py::init(&make_trainer))
      .def_property_readonly("rank", &Trainer::rank)
      .def_property_readonly("size", &Trainer::size)
      .def("weights",
           [](py::object self) { return view_of(self.cast<Trainer&>().weights(), self); })
      .def("gradients",
           [](py::object self) { return view_of(self.cast<Trainer&>().gradients(), self); })
      .def("buffers",
           [](py::object self) { return view_of(self.cast<Trainer&>().buffers(), self); })
      .def("constants",
           [](py::object self) { return view_of(self.cast<Trainer&>().constants(), self); })
      .def(
          "begin_step", [](Trainer& t) { t.loop().begin_step(); }, Released())
      .def(
          "end_forward", [](Trainer& t, double loss) { t.loop().end_forward(loss); }, Released())
      .def("complete", [](Trainer& t, std::size_t tensor) { t.loop().complete(tensor); })
      .def(
          "end_backward", [](Trainer& t) { t.loop().end_backward(); }, Released())
      .def("average_buffers", &Trainer::average_buffers, Released())
      .def("broadcast_buffers", &Trainer::broadcast_buffers, Released())
      .def("mean", &Trainer::mean, Released())
      .def("state",
           [](Trainer& t) {
             std::string state;
             {
               const py::gil_scoped_release released;
               state = t.state();
             }
             return py::bytes(state);
           })
      .def("set_state",
           [](Trainer& t, const py::bytes& state) {
             const auto text = static_cast<std::string>(state);
             const py::gil_scoped_release released;
             t.set_state(text);
           })
      .def("counters", &counters_of)
      .def("close", &Trainer::close, Released());
}
