#include "cuda/net/handshake.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/net/error.h"
#include "cuda/net/socket.h"

namespace trigram::net {
namespace {

struct Pair {
  Descriptor a, b;
  Pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0)
      throw std::runtime_error("socketpair");
    a = Descriptor(fds[0]);
    b = Descriptor(fds[1]);
  }
};

Hello hello_of(std::uint32_t stream, std::uint32_t streams) {
  Hello hello;
  hello.connection = random_nonce();
  hello.nonce = random_nonce();
  hello.stream = stream;
  hello.streams = streams;
  return hello;
}

std::string failure_of(Handshake& handshake, int fd) {
  try {
    handshake.advance(fd);
    return "";
  } catch (const NetError& error) {
    return error.what();
  }
}

TEST(Handshake, SidesWithOneKeyAgree) {
  Pair pair;
  const Mac key = connection_key("secret", random_nonce());
  Handshake client(Handshake::Role::connects, key, hello_of(2, 3));
  Handshake server(Handshake::Role::accepts, key);
  EXPECT_FALSE(client.advance(pair.a.get()));
  EXPECT_FALSE(server.advance(pair.b.get()));
  EXPECT_FALSE(client.advance(pair.a.get()));
  EXPECT_TRUE(server.advance(pair.b.get()));
  EXPECT_TRUE(client.advance(pair.a.get()));
  EXPECT_EQ(server.hello().stream, 2u);
  EXPECT_EQ(server.hello().connection, client.hello().connection);
}

TEST(Handshake, AnotherSecretOrAnotherHandleIsRefused) {
  const Nonce nonce = random_nonce();
  for (const Mac& key :
       {connection_key("other", nonce), connection_key("secret", random_nonce())}) {
    Pair pair;
    Handshake client(Handshake::Role::connects, key, hello_of(0, 1));
    Handshake server(Handshake::Role::accepts, connection_key("secret", nonce));
    client.advance(pair.a.get());
    server.advance(pair.b.get());
    client.advance(pair.a.get());
    EXPECT_EQ(failure_of(server, pair.b.get()), "its TRIGRAM_NET_SECRET differs from ours");
    pair.b = {};
    EXPECT_EQ(failure_of(client, pair.a.get()),
              "it refused us: probably its TRIGRAM_NET_SECRET differs from ours");
  }
}

TEST(Handshake, AClientWithoutTheKeyLearnsNoProof) {
  Pair pair;
  Handshake server(Handshake::Role::accepts, connection_key("secret", random_nonce()));
  const Hello hello = hello_of(0, 1);
  ASSERT_EQ(send(pair.a.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  server.advance(pair.b.get());
  const Mac guess{};
  ASSERT_EQ(send(pair.a.get(), &guess, sizeof guess, 0), static_cast<ssize_t>(sizeof guess));
  EXPECT_NE(failure_of(server, pair.b.get()), "");
  char received[256];
  EXPECT_EQ(recv(pair.a.get(), received, sizeof received, 0),
            static_cast<ssize_t>(sizeof(Nonce)));  // and no more
}

TEST(Handshake, ProofsOfAnEarlierConnectionAreWorthless) {
  const Mac key = connection_key("secret", random_nonce());
  const Hello hello = hello_of(0, 1);
  std::string recorded;
  for (const bool replays : {false, true}) {
    Pair pair;
    Handshake server(Handshake::Role::accepts, key);
    Handshake client(Handshake::Role::connects, key, hello);
    client.advance(pair.a.get());
    server.advance(pair.b.get());
    client.advance(pair.a.get());
    Mac proof;
    ASSERT_EQ(recv(pair.b.get(), &proof, sizeof proof, 0), static_cast<ssize_t>(sizeof proof));
    if (!replays) recorded.assign(reinterpret_cast<char*>(&proof), sizeof proof);
    ASSERT_EQ(send(pair.a.get(), recorded.data(), recorded.size(), 0),
              static_cast<ssize_t>(recorded.size()));
    EXPECT_EQ(failure_of(server, pair.b.get()).empty(), !replays);
  }
}

TEST(Handshake, OtherProtocolsAreRefused) {
  Pair pair;
  Handshake server(Handshake::Role::accepts, Mac{});
  const std::string request =
      "GET / HTTP/1.1\r\nHost: somewhere.example.org\r\nAccept: */*\r\n\r\n";
  ASSERT_GT(send(pair.a.get(), request.data(), request.size(), 0), 0);
  EXPECT_EQ(failure_of(server, pair.b.get()), "it does not speak this plugin's protocol");
}

TEST(Handshake, StreamsThatCannotBeAreRefused) {
  for (const auto& [stream, streams] : {std::pair{0u, 0u}, {3u, 3u}, {0u, 65u}}) {
    Pair pair;
    Handshake server(Handshake::Role::accepts, Mac{});
    Handshake client(Handshake::Role::connects, Mac{}, hello_of(stream, streams));
    client.advance(pair.a.get());
    EXPECT_NE(failure_of(server, pair.b.get()), "");
  }
}

}  // namespace
}  // namespace trigram::net
