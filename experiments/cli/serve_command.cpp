// `serve`: the results of a folder as a page in a browser.
#include <CLI/CLI.hpp>
#include <memory>

#include "core/config/config_error.h"
#include "experiments/cli/commands.h"
#include "experiments/exit_codes.h"
#include "experiments/serve/access.h"
#include "experiments/serve/server.h"

namespace trigram {
namespace {

int serve_results(const ServeOptions& options) {
  if (const std::string absent = serve_absent_reason(); !absent.empty())
    throw ConfigError("serve", absent);
  if (!options.token.empty() && options.token.size() < 16)
    throw ConfigError("--token", "expected at least 16 characters");
  for (const char c : options.token)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0)
      throw ConfigError("--token", "expected letters and digits only");
  serve(options);
  return kOk;
}

}  // namespace

void add_serve_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Show results in a browser, start experiments and watch them");
  command->add_option("results", options->results, "Folder of results")->capture_default_str();
  command->add_option("--port", options->port, "Port of the page; 0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--address", options->address,
                   "Address to listen at. Beyond 127.0.0.1, whoever knows the token can run "
                   "experiments as you")
      ->capture_default_str();
  command->add_option("--token", options->token,
                      "What the page's address contains and requests must know; random by default");
  command->callback([options, &action] { action = [options] { return serve_results(*options); }; });
}

}  // namespace trigram
