#include "experiments/process/analysis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trigram::analysis_test {
namespace {

namespace fs = std::filesystem;

/// Calls of the package with a shell script instead of Python.
class Analysis : public testing::Test {
 protected:
  ~Analysis() override {
    unsetenv("PYTHON");
    fs::remove(script_);
  }
  AnalysisOutput run(const std::string& commands) const {
    std::ofstream(script_) << "#!/bin/sh\n" << commands << "\n";
    fs::permissions(script_, fs::perms::owner_all);
    setenv("PYTHON", script_.c_str(), 1);
    return run_analysis({"table"}, "input\n");
  }

  const fs::path script_ = fs::path(testing::TempDir()) / fmt::format("analysis.{}.sh", getpid());
};

TEST_F(Analysis, ReadsInputAndReturnsBothStreams) {
  const AnalysisOutput output = run("cat; echo problem >&2");
  EXPECT_EQ(output.out, "input\n");
  EXPECT_EQ(output.err, "problem\n");
  EXPECT_EQ(output.failure, "");
}

TEST_F(Analysis, GivesTheReasonOfAFailure) {
  const std::string failed = script_.string() + " failed: ";
  EXPECT_EQ(run("echo bad input >&2; exit 2").failure, failed + "bad input");
  EXPECT_EQ(
      run("echo 'Traceback (most recent call last):' >&2; echo 'KeyError: 1' >&2; exit 1").failure,
      failed + "KeyError: 1");
  EXPECT_EQ(
      run("echo 'usage: table [-h]' >&2; echo 'table: error: no results' >&2; exit 2").failure,
      failed + "table: error: no results");
  EXPECT_EQ(run("exit 3").failure, failed + "exit code 3");
}

TEST_F(Analysis, NamesTheSignalThatEndedTheProcess) {
  EXPECT_EQ(run("kill -9 $$").failure, script_.string() + " was ended by signal 9 (Killed)");
}

}  // namespace
}  // namespace trigram::analysis_test
