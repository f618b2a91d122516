#include "target/options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>

#include "error_of.h"
#include "target/changed_settings.h"

namespace rdmablk::target {
namespace {

using cm::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::optional<Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rdmablk-target");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(OptionsTest, ReadsACommandLine) {
  const auto options =
      parse({"--export", "a=memory:1M", "--export=b=memory:2M,readonly", "--listen", "192.0.2.1:99",
             "--device", "rxe0", "--insecure", "--log-level", "debug", "--handshake-timeout", "2.5",
             "--max-sessions", "7"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->exports.size(), 2U);
  EXPECT_EQ(options->listen, (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 99}}}));
  EXPECT_EQ(options->connections.device, "rxe0");
  EXPECT_EQ(options->log_level, "debug");
  EXPECT_EQ(options->limits.handshake.count(), 2500);
  EXPECT_EQ(options->limits.sessions, 7U);
}

TEST(OptionsTest, ReadsLimits) {
  const auto options =
      parse({"--export", "a=memory:1M", "--insecure", "--keepalive", "0.5", "--max-client-sessions",
             "3", "--max-session-queues", "4", "--max-client-queues", "6", "--max-handshakes", "5",
             "--admin-rate", "0", "--slot-memory", "64M", "--client-slot-memory", "16M"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->limits.keepalive.count(), 500);
  EXPECT_EQ(options->limits.silence().count(), 1500);
  EXPECT_EQ(options->limits.client_sessions, 3U);
  EXPECT_EQ(options->limits.session_queues, 4U);
  EXPECT_EQ(options->limits.client_queues, 6U);
  EXPECT_EQ(options->limits.handshakes, 5U);
  EXPECT_EQ(options->limits.admin_rate, 0U);
  EXPECT_EQ(options->client_slot_memory, 16U << 20U);
}

TEST(OptionsTest, AClientMayNotHaveMoreThanThereIs) {
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M", "--insecure", "--slot-memory", "1M",
                       "--client-slot-memory", "2M"});
              }),
              AllOf(HasSubstr("--client-slot-memory"), HasSubstr("1 MiB")));
}

TEST(OptionsTest, ListensEverywhereByDefault) {
  const auto options = parse({"--export", "a=memory:1M", "--insecure"});
  EXPECT_EQ(options->listen, (std::vector<ListenPlace>{{Method::rdmacm, {"0.0.0.0", 10812}, false},
                                                       {Method::rdmacm, {"::", 10812}, false}}));
  EXPECT_EQ(options->connections.device, "");
}

TEST(OptionsTest, WantsInsecureToBeSaid) {
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M"});
              }),
              AllOf(HasSubstr("--insecure"), HasSubstr("any host that reaches the port"),
                    Not(HasSubstr("\n"))));
}

TEST(OptionsTest, TakesAKeyFileInPlaceOfInsecure) {
  const auto options = parse({"--export", "a=memory:1M,allow=alice:ro", "--auth", "/etc/keys"});
  EXPECT_EQ(options->key_file, "/etc/keys");
  EXPECT_FALSE(parse({"--export", "a=memory:1M", "--insecure"})->key_file);
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M", "--auth", "/etc/keys", "--insecure"});
              }),
              HasSubstr("exclude each other"));
}

TEST(OptionsTest, InsecureKnowsNoClients) {
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M,allow=alice", "--insecure"});
              }),
              AllOf(HasSubstr("'a'"), HasSubstr("'alice'"), HasSubstr("--auth")));
  EXPECT_TRUE(parse({"--export", "a=memory:1M,allow=*:rw@192.0.2.0/24", "--insecure"}));
}

TEST(OptionsTest, WantsAnExport) {
  EXPECT_THAT(error_of([] { parse({"--insecure"}); }),
              AllOf(HasSubstr("--export"), Not(HasSubstr("\n"))));
}

TEST(OptionsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M", "--insecure", "--fast"});
              }),
              HasSubstr("--fast"));
  EXPECT_THAT(error_of([] {
                parse({"--export", "a=memory:1M", "--insecure", "b=memory:1M"});
              }),
              HasSubstr("b=memory:1M"));
}

/// The complaint about one option.
std::string complaint(const std::string& option, const std::string& value) {
  return error_of([&] {
    parse({"--export", "a=memory:1M", "--insecure", option.c_str(), value.c_str()});
  });
}

TEST(OptionsTest, RefusesNumbersThatAreNone) {
  for (const char* option :
       {"--handshake-timeout", "--keepalive", "--max-sessions", "--max-client-sessions",
        "--max-session-queues", "--max-handshakes", "--admin-rate", "--io-threads", "--slots",
        "--succeed", "--slot-size", "--slot-memory", "--client-slot-memory"}) {
    for (const char* value :
         {"-1", "nan", "inf", "1e9", "5s", "99999999999999999999", "0x10", "010.", " 5", "+5"}) {
      EXPECT_THAT(complaint(option, value),
                  AllOf(HasSubstr(option), HasSubstr("takes"),
                        HasSubstr(fmt::format("'{}'", value)), Not(HasSubstr("\n"))));
    }
  }
  EXPECT_THAT(complaint("--slots", "1025"), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(complaint("--keepalive", "0.05"), HasSubstr("0, or seconds"));
  EXPECT_EQ(parse({"--export", "a=memory:1M", "--insecure", "--slots", "010"})->limits.slots, 10U)
      << "not octal";
}

TEST(OptionsTest, RefusesEmptyValues) {
  ::testing::internal::CaptureStdout();
  parse({"--help"});
  const std::string help = ::testing::internal::GetCapturedStdout();
  const std::regex option(R"(\n +(--[a-z-]+) [A-Z](?![a-z]))");
  std::size_t count = 0;
  for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found) {
    ++count;
    const std::string name = (*found)[1];
    EXPECT_THAT(complaint(name, ""), HasSubstr(name + ": its value is empty"));
    EXPECT_THAT(complaint(name + "=", "x"), HasSubstr(name + ": its value is empty"));
  }
  EXPECT_GE(count, 18U);
}

TEST(OptionsTest, RefusesAnOptionGivenTwice) {
  EXPECT_THAT(
      error_of([] {
        parse({"--export", "a=memory:1M", "--insecure", "--state-dir", "/a", "--state-dir", "/b"});
      }),
      HasSubstr("--state-dir: given more than once;"));
}

TEST(OptionsTest, DiscardsOnlyWhatCanBeAnExport) {
  EXPECT_THAT(complaint("--discard", "a/b"), HasSubstr("'a/b'"));
  EXPECT_EQ(complaint("--discard", "gone"), "");
}

TEST(OptionsTest, AnswersAQuestionItself) {
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--version"}));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("rdmablk-target "));
}

HostPort listen_by_rdmacm(std::string_view text) {
  return parse_listen(text, std::array{Method::rdmacm}).front().where;
}

TEST(ListenTest, TakesTheForms) {
  EXPECT_EQ(listen_by_rdmacm("192.0.2.1"), (HostPort{"192.0.2.1", 10812}));
  EXPECT_EQ(listen_by_rdmacm("192.0.2.1:7"), (HostPort{"192.0.2.1", 7}));
  EXPECT_EQ(listen_by_rdmacm("[2001:db8::1]:7"), (HostPort{"2001:db8::1", 7}));
  EXPECT_EQ(listen_by_rdmacm("2001:db8::1"), (HostPort{"2001:db8::1", 10812}));
}

TEST(ListenTest, TakesAnyPort) {
  EXPECT_EQ(listen_by_rdmacm("192.0.2.1:0"), (HostPort{"192.0.2.1", 0}));
  EXPECT_EQ(listen_by_rdmacm("[::1]:0"), (HostPort{"::1", 0}));
  EXPECT_EQ(listen_by_rdmacm("2001:db8::0"), (HostPort{"2001:db8::0", 10812}));
}

TEST(ListenTest, RefusesTheRest) {
  for (const char* text : {"", ":", ":0", "host:", "host:x", "host:65536", "[::1", "[]:0"}) {
    EXPECT_THROW(listen_by_rdmacm(text), UsageError) << text;
  }
}

TEST(ListenTest, GivesEachMethodItsPort) {
  const std::array both{Method::rdmacm, Method::tcp};
  EXPECT_EQ(parse_listen("192.0.2.1", both),
            (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 10812}},
                                      {Method::tcp, {"192.0.2.1", 10813}}}));
  EXPECT_EQ(parse_listen("192.0.2.1:7", both),
            (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 7}},
                                      {Method::tcp, {"192.0.2.1", 8}}}));
  EXPECT_EQ(parse_listen("192.0.2.1:0", both),
            (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 0}},
                                      {Method::tcp, {"192.0.2.1", 0}}}));
  EXPECT_THROW(parse_listen("192.0.2.1:65535", both), UsageError);
  EXPECT_EQ(parse_listen("192.0.2.1", std::array{Method::tcp}),
            (std::vector<ListenPlace>{{Method::tcp, {"192.0.2.1", 10813}}}));
}

TEST(OptionsTest, ListensOnAllThatIsAskedFor) {
  const auto options = parse({"--export", "a=memory:1M", "--insecure", "--listen=192.0.2.1",
                              "--listen", "[2001:db8::1]:7"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen, (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 10812}},
                                                       {Method::rdmacm, {"2001:db8::1", 7}}}));
}

TEST(OptionsTest, SaysHowToConnect) {
  const auto options =
      parse({"--export", "a=memory:1M", "--insecure", "--listen=192.0.2.1:7", "--cm=both"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen, (std::vector<ListenPlace>{{Method::rdmacm, {"192.0.2.1", 7}},
                                                       {Method::tcp, {"192.0.2.1", 8}}}));
  EXPECT_THAT(complaint("--cm", "udp"), HasSubstr("rdmacm, tcp or both, not 'udp'"));
}

TEST(OptionsTest, TellsTheDeviceOfItsConnections) {
  const auto options =
      parse({"--export", "a=memory:1M", "--insecure", "--cm", "tcp", "--device", "mlx5_0/1",
             "--gid-index", "3", "--pkey-index=1", "--service-level=2", "--traffic-class=104",
             "--path-mtu=1024", "--ack-timeout=18", "--retries=5"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->connections, (cm::Settings{.device = "mlx5_0",
                                                .port = 1,
                                                .gid_index = 3,
                                                .pkey_index = 1,
                                                .service_level = 2,
                                                .traffic_class = 104,
                                                .path_mtu = 1024,
                                                .ack_timeout = 18,
                                                .retries = 5}));
  EXPECT_THAT(complaint("--retries", "8"), HasSubstr("--retries takes"));
  for (const char* const way : {"rdmacm", "both"}) {
    for (const char* const option : {"--pkey-index=1", "--gid-index=1", "--device=mlx5_0/1"}) {
      EXPECT_THROW(parse({"--export", "a=memory:1M", "--insecure", "--cm", way, option}),
                   UsageError)
          << way << " " << option;
    }
    EXPECT_TRUE(parse({"--export", "a=memory:1M", "--insecure", "--cm", way, "--device=mlx5_0"}));
  }
}

TEST(OptionsTest, NamesTheSettingsThatHaveChanged) {
  const auto now = [](const char* option) {
    const auto before = parse({"--export", "a=memory:1M", "--insecure", "--cm", "tcp"});
    return changed_settings(
        *before, *parse({"--export", "a=memory:1M", "--insecure", "--cm", "tcp", option}));
  };
  for (const std::string option :
       {"--device=rxe0", "--device=rxe0/1", "--gid-index=3", "--pkey-index=1", "--service-level=2",
        "--traffic-class=104", "--path-mtu=1024", "--ack-timeout=18", "--retries=5"}) {
    EXPECT_THAT(now(option.c_str()), testing::ElementsAre(option.substr(0, option.find('='))));
  }
}

}  // namespace
}  // namespace rdmablk::target
