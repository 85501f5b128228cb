#include "experiments/cli/ask_tell.h"

#include <cmath>
#include <istream>
#include <ostream>

#include "core/config/json_text.h"

namespace trigram {
namespace {

Json answer_ask(Tuner& tuner, const Json& number) {
  const std::size_t count = trigram::count(1, 100'000).parse(number, "/ask");
  Json points = Json::array();
  for (const Position& position : tuner.ask(count))
    points.push_back(tuner.space().point_at(position));
  return {{"points", points}};
}

Json answer_tell(Tuner& tuner, const Json& told) {
  if (!told.is_array()) wrong_type("/tell", R"(a list of {"point": ..., "value": ...})", told);
  std::vector<EvaluatedPoint> evaluations;  // all are checked before the first is told
  for (std::size_t i = 0; i < told.size(); ++i) {
    const std::string at = child("/tell", std::to_string(i));
    if (!told[i].is_object() || !told[i].contains("point") || !told[i].contains("value"))
      wrong_type(at, R"({"point": ..., "value": ...})", told[i]);
    const Json& value = told[i]["value"];
    if (!value.is_null() && !(value.is_number() && std::isfinite(value.get<double>())))
      wrong_type(child(at, "value"), "a finite number or null", value);
    evaluations.push_back({tuner.space().position_of(told[i]["point"], child(at, "point")),
                           value.is_null() ? std::nullopt : std::optional(value.get<double>())});
  }
  for (const EvaluatedPoint& e : evaluations) tuner.tell(e.position, e.value);
  Json answer = {{"told", evaluations.size()}, {"best", nullptr}};
  if (const auto best = tuner.best()) {
    const EvaluatedPoint& e = tuner.evaluations()[*best];
    answer["best"] = {{"point", tuner.space().point_at(e.position)}, {"value", *e.value}};
  }
  return answer;
}

Json answer_evaluate(Tuner& tuner, const std::function<TunedSweep&()>& sweep, const Json& points) {
  if (!points.is_array()) wrong_type("/evaluate", "a list of points", points);
  for (std::size_t i = 0; i < points.size(); ++i)
    tuner.space().position_of(points[i], child("/evaluate", std::to_string(i)));
  Json values = Json::array();
  for (const TriedPoint& tried : sweep().evaluate(points.get<std::vector<Json>>())) {
    values.push_back({{"point", tried.point}, {"value", nullptr}});
    if (tried.value) values.back()["value"] = *tried.value;
    else values.back()["why"] = tried.why;
  }
  return {{"values", values}};
}

Json answer_request(Tuner& tuner, const std::function<TunedSweep&()>& sweep,
                    const std::string& line) {
  constexpr const char* kRequests = R"({"ask": k}, {"tell": [...]} or {"evaluate": [...]})";
  const Json request = try_parse_json(line).value_or(Json(line));
  if (!request.is_object() || request.size() != 1) wrong_type("", kRequests, request);
  const std::string verb = request.begin().key();
  if (verb == "ask") return answer_ask(tuner, request["ask"]);
  if (verb == "tell") return answer_tell(tuner, request["tell"]);
  if (verb == "evaluate") return answer_evaluate(tuner, sweep, request["evaluate"]);
  unknown_name("", "request", verb, {"ask", "tell", "evaluate"});
}

}  // namespace

void answer_requests(Tuner& tuner, const std::function<TunedSweep&()>& sweep, std::istream& in,
                     std::ostream& out) {
  for (std::string line; std::getline(in, line);) {
    Json answer;
    try {
      answer = answer_request(tuner, sweep, line);
    } catch (const ConfigError& error) {
      answer = {{"error", error.what()}};
    }
    out << answer.dump() << "\n" << std::flush;
  }
}

}  // namespace trigram
