#include "cuda/net/settings.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>

#include "cuda/net/devices.h"
#include "cuda/net/error.h"

namespace trigram::net {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&variables](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
}

std::string refusal_of(const Variables& variables) {
  try {
    Settings::from(environment_of(variables));
    return "";
  } catch (const NetError& error) {
    return error.what();
  }
}

TEST(NetSettings, AJobWithoutASecretIsRefusedUnlessItSaysSo) {
  EXPECT_NE(refusal_of({}).find("TRIGRAM_NET_SECRET is not set"), std::string::npos);
  EXPECT_EQ(refusal_of({{"TRIGRAM_NET_ALLOW_NO_SECRET", "1"}}), "");
  EXPECT_EQ(refusal_of({{"TRIGRAM_NET_SECRET", "s"}}), "");
}

TEST(NetSettings, BadValuesAreNamedInOneLine) {
  EXPECT_EQ(refusal_of({{"TRIGRAM_NET_SECRET", "s"}, {"TRIGRAM_NET_STREAMS", "65"}}),
            "TRIGRAM_NET_STREAMS is \"65\": expected an integer from 1 to 64");
  EXPECT_EQ(refusal_of({{"TRIGRAM_NET_SECRET", "s"}, {"TRIGRAM_NET_TIMEOUT", "5s"}}),
            "TRIGRAM_NET_TIMEOUT is \"5s\": expected an integer from 1 to 86400");
  EXPECT_EQ(refusal_of({{"TRIGRAM_NET_SECRET", "s"}, {"NCCL_SOCKET_FAMILY", "AF_UNIX"}}),
            "NCCL_SOCKET_FAMILY is \"AF_UNIX\": expected AF_INET or AF_INET6");
}

TEST(NetSettings, AReportIsNamedAfterTheRankOrTheProcess) {
  EXPECT_EQ(report_path("a-{rank}-{pid}.json", environment_of({{"RANK", "3"}}), 77), "a-3-77.json");
  EXPECT_EQ(
      report_path("{rank}", environment_of({{"RANK", "3"}, {"OMPI_COMM_WORLD_RANK", "5"}}), 77),
      "5");
  EXPECT_EQ(report_path("{rank}", environment_of({}), 77), "77");
}

TEST(NetDevices, InterfacesAreChosenAsNcclChoosesThem) {
  EXPECT_TRUE(selects("eth", "eth0"));
  EXPECT_TRUE(selects("ib,eth", "eth1"));
  EXPECT_FALSE(selects("=eth", "eth0"));
  EXPECT_TRUE(selects("=ib0,eth0", "eth0"));
  EXPECT_FALSE(selects("^docker,lo", "lo"));
  EXPECT_TRUE(selects("^docker,lo", "eth0"));
  EXPECT_TRUE(selects("^=lo", "lo1"));
}

TEST(NetDevices, LoopbackIsUsedOnlyOnRequest) {
  Settings settings;
  settings.interfaces = "=lo";
  settings.family = AF_INET;
  EXPECT_EQ(find_devices(settings).at(0).address.text(), "127.0.0.1:0");
  settings.interfaces = "=none";
  EXPECT_THROW(find_devices(settings), NetError);
}

}  // namespace
}  // namespace trigram::net
