#pragma once

#include <filesystem>
#include <string>

namespace trigram {

struct ServeOptions {
  std::filesystem::path results = "results";
  std::string address = "127.0.0.1";  // to listen at
  int port = 8080;                    // 0: any that is free
  std::string token;                  // what requests must know; empty: a random one
};

/// The reason why this build cannot serve pages; empty if it can.
std::string serve_absent_reason();

/// Serves the page of docs/serving.md until SIGINT, SIGTERM or SIGHUP arrives, and then ends the
/// commands that it started. Prints the address of the page. Every request must have the token: as
/// the cookie that the page's address sets, or as the header `Authorization: Bearer TOKEN`. If the
/// server listens at a loopback address, it refuses requests whose header `Host` names another
/// host. Throws ConfigError, with the name of an option, if the server cannot listen, or the folder
/// of results cannot be created.
void serve(const ServeOptions& options);

}  // namespace trigram
