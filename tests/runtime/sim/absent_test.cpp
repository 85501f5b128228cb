// The error of a build without SimGrid. Compiled against runtime/sim/absent.cpp in every build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/sim/sim_runtime.h"

namespace trigram::absent_test {
namespace {

TEST(SimAbsent, says_what_to_install) {
  EXPECT_FALSE(sim_available());
  EXPECT_THAT(sim_unavailable_reason(), testing::HasSubstr("apt install libsimgrid-dev"));
  try {
    make_sim_runtime({}, Cluster{});
    FAIL() << "no exception";
  } catch (const ConfigError& e) {
    EXPECT_EQ(e.pointer(), "/runtime");
    EXPECT_THAT(e.what(), testing::HasSubstr("libsimgrid-dev"));
  }
}

TEST(SimAbsent, still_knows_its_options) {
  EXPECT_EQ(sim_fields().dump({}),
            (Json{{"network_model", "alpha_beta"}, {"fidelity", "message"}}));
}

}  // namespace
}  // namespace trigram::absent_test
