#include "experiments/serve/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "core/config/config_error.h"
#include "core/config/json_text.h"
#include "core/files.h"
#include "core/printable.h"
#include "experiments/process/signals.h"
#include "experiments/serve/access.h"
#include "experiments/serve/jobs.h"
#include "experiments/serve/requests.h"
#include "experiments/serve/sweeps.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;
using httplib::Request;
using httplib::Response;

constexpr std::size_t kLongestBody = std::size_t{1} << 20;
constexpr std::size_t kMostRuns = 500;  // that the page lists of one sweep

// The page loads nothing from elsewhere, and no other page may show it in a frame.
constexpr const char* kPagePolicy =
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";
// A report has texts of manifests, which may be of strangers. In a sandbox its scripts have no
// origin, so they cannot use the cookie to call the server.
constexpr const char* kReportPolicy =
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/// A folder for the files of this process, which is removed at the end.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "trigram-serve-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void answer(Response& response, const Json& json) {
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace),
                       "application/json");
}

void refuse(Response& response, int status, const std::string& why) {
  response.status = status;
  answer(response, {{"error", why}});
}

/// Answers with what `compute` returns; bad input has the status 400.
void answer_or_refuse(Response& response, const std::function<Json()>& compute) {
  try {
    answer(response, compute());
  } catch (const ConfigError& error) {
    refuse(response, 400, error.what());
  } catch (const std::exception& error) {
    refuse(response, 500, printable(error.what()));
  }
}

class Server {
 public:
  explicit Server(ServeOptions options)
      : options_(std::move(options)),
        token_(options_.token.empty() ? random_token() : options_.token),
        sweeps_(options_.results, work_.path()),
        jobs_(work_.path()) {
    server_.set_payload_max_length(kLongestBody);
    server_.set_read_timeout(10);
    server_.set_write_timeout(30);
    server_.set_pre_routing_handler(
        [this](const Request& request, Response& response) { return admit(request, response); });
    server_.set_exception_handler([](const Request&, Response& response, std::exception_ptr) {
      refuse(response, 500, "the request failed");
    });
    add_pages();
    add_reads();
    add_commands();
  }

  /// Listens until a signal arrives.
  void run() {
    Signals signals;  // blocks signals before the first thread starts
    listen();
    std::thread listener([this] { server_.listen_after_bind(); });
    announce();
    wait_for_end(signals);
    server_.stop();
    listener.join();
  }

 private:
  using Handled = httplib::Server::HandlerResponse;

  std::string cookie_name() const { return fmt::format("trigram_{}", port_); }

  /// Refuses requests without the token and those for another host; adds headers to all answers.
  Handled admit(const Request& request, Response& response) {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "no-store");
    response.set_header("Referrer-Policy", "no-referrer");  // the first address has the token
    if (is_loopback_address(options_.address) &&
        !is_loopback_host(request.get_header_value("Host"))) {
      refuse(response, 403, "expected the host localhost or 127.0.0.1");
      return Handled::Handled;
    }
    if (request.method == "GET" && request.path == "/" && request.has_param("token") &&
        equal_secrets(request.get_param_value("token"), token_)) {
      response.set_header("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict",
                                                    cookie_name(), token_));
      response.set_redirect("/");
      return Handled::Handled;
    }
    const std::string bearer = "Bearer " + token_;
    if (equal_secrets(cookie(request.get_header_value("Cookie"), cookie_name()), token_) ||
        equal_secrets(request.get_header_value("Authorization"), bearer))
      return Handled::Unhandled;
    refuse(response, 401, "expected the token; open the address that trigram serve has printed");
    return Handled::Handled;
  }

  void add_pages() {
    const fs::path folder = data_dir() / "analysis" / "trigram_analysis" / "serve";
    for (const auto& [path, file, type] :
         {std::tuple{"/", "index.html", "text/html; charset=utf-8"},
          std::tuple{"/serve.js", "serve.js", "text/javascript; charset=utf-8"},
          std::tuple{"/serve.css", "serve.css", "text/css; charset=utf-8"}})
      server_.Get(path, [content = read_text_file(folder / file), type](const Request&,
                                                                        Response& response) {
        response.set_header("Content-Security-Policy", kPagePolicy);
        response.set_content(content, type);
      });
  }

  void show_report(const std::string& name, Response& response) {
    const Sweeps::Report report = sweeps_.report(name);
    response.set_header("Content-Security-Policy", kReportPolicy);
    if (report.failure.empty()) {
      response.set_content(report.page, "text/html; charset=utf-8");
    } else {
      response.status = 404;
      response.set_content(report.failure + "\n", "text/plain; charset=utf-8");
    }
  }

  void add_reads() {
    server_.Get("/api/state", [this](const Request&, Response& response) {
      answer_or_refuse(response, [this] {
        return Json{{"results", printable(options_.results.string())},
                    {"sweeps", sweeps_.list()},
                    {"commands", jobs_.describe()}};
      });
    });
    server_.Get("/api/choices",
                [](const Request&, Response& response) { answer_or_refuse(response, choices); });
    server_.Get("/api/experiment", [](const Request& request, Response& response) {
      answer_or_refuse(response, [&] {
        return Json{{"text", experiment_text(request.get_param_value("name"))}};
      });
    });
    server_.Get("/api/runs", [this](const Request& request, Response& response) {
      const auto runs = sweeps_.runs(request.get_param_value("sweep"), kMostRuns);
      if (runs) answer(response, *runs);
      else refuse(response, 404, "no such sweep");
    });
    // Without a sweep, the report compares all of them.
    server_.Get("/report", [this](const Request& request, Response& response) {
      show_report(request.get_param_value("sweep"), response);
    });
  }

  /// Adds a route that starts a command. The cookie is not sent with requests of other sites, and
  /// a form cannot send this content type.
  void add_command(const std::string& path,
                   const std::function<Requested(const Json& body)>& requested) {
    server_.Post(path, [this, requested](const Request& request, Response& response) {
      if (request.get_header_value("Content-Type") != "application/json")
        return refuse(response, 415, "expected the content type application/json");
      answer_or_refuse(response, [&] {
        const auto body = try_parse_json(request.body);
        if (!body) throw ConfigError("", "expected JSON");
        const Requested command = requested(*body);
        return Json{{"command", jobs_.start(command.arguments, command.title, command.sweep)},
                    {"sweep", command.sweep}};
      });
    });
  }

  void add_commands() {
    add_command("/api/run", [this](const Json& body) {
      return sweep_of(body, options_.results, work_.path());
    });
    add_command("/api/advise", [this](const Json& body) {
      return question_of(body, options_.results, work_.path());
    });
    server_.Post(R"(/api/stop/(\d{1,6}))", [this](const Request& request, Response& response) {
      const bool stopped = jobs_.stop(std::stoi(request.matches[1]));
      if (stopped) answer(response, {{"stopped", true}});
      else refuse(response, 404, "no such running command");
    });
  }

  void listen() {
    if (options_.port == 0) port_ = server_.bind_to_any_port(options_.address);
    else if (server_.bind_to_port(options_.address, options_.port)) port_ = options_.port;
    if (port_ <= 0)
      throw ConfigError("--port", fmt::format("cannot listen at {} port {}; expected an address of "
                                              "this machine and a free port",
                                              printable(options_.address), options_.port));
  }

  void announce() const {
    const bool v6 = options_.address.find(':') != std::string::npos;
    fmt::print("http://{}:{}/?token={}\n", v6 ? "[" + options_.address + "]" : options_.address,
               port_, token_);
    std::fflush(stdout);
  }

  void wait_for_end(Signals& signals) {
    for (;;) {
      const int signal = signals.wait(0.5);
      jobs_.collect();
      if (signal != 0 && signal != SIGCHLD) return;
    }
  }

  const ServeOptions options_;
  const std::string token_;
  int port_ = -1;
  WorkFolder work_;
  Sweeps sweeps_;
  Jobs jobs_;
  httplib::Server server_;
};

}  // namespace

std::string serve_absent_reason() { return {}; }

void serve(const ServeOptions& options) {
  std::error_code error;
  fs::create_directories(options.results, error);
  if (!fs::is_directory(options.results, error))
    throw ConfigError("results", fmt::format("{}: expected a folder, or a path where one can be "
                                             "created",
                                             printable(options.results.string())));
  Server(options).run();
}

}  // namespace trigram
