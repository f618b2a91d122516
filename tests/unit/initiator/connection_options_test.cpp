#include "initiator/connection_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::initiator {
namespace {

using cm::Method;
using cm::Spelling;
using testing::HasSubstr;

/// The message of the refusal; empty when there is none.
std::string refusal(const std::string& name, const std::string& value,
                    Spelling spelling = Spelling::command_line) {
  try {
    ConnectionOptions().set(name, spelling, value);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ConnectionOptions, FillTheSessionsOptions) {
  ConnectionOptions options;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"cm", "tcp"},
                                                                  {"device", "mlx5_0/2"},
                                                                  {"gid_index", "255"},
                                                                  {"pkey_index", "65535"},
                                                                  {"service_level", "15"},
                                                                  {"traffic_class", "106"},
                                                                  {"path_mtu", "2048"},
                                                                  {"ack_timeout", "31"},
                                                                  {"retries", "0"}}) {
    EXPECT_TRUE(ConnectionOptions::has(name));
    options.set(name, Spelling::mount_option, value);
  }
  options.check(Spelling::mount_option);
  SessionOptions session;
  options.apply_to(session);
  EXPECT_EQ(session.method, Method::tcp);
  EXPECT_EQ(session.connections, (cm::Settings{.device = "mlx5_0",
                                               .port = 2,
                                               .gid_index = 255,
                                               .pkey_index = 65535,
                                               .service_level = 15,
                                               .traffic_class = 106,
                                               .path_mtu = 2048,
                                               .ack_timeout = 31,
                                               .retries = 0}));
}

TEST(ConnectionOptions, TakePathsWithThePortOfTheWayToConnect) {
  EXPECT_TRUE(ConnectionOptions::has("path"));
  ConnectionOptions options;
  options.set("path", Spelling::command_line, "192.0.2.2");
  options.set("path", Spelling::command_line, "[2001:db8::3]:7000");
  options.set("cm", Spelling::command_line, "tcp");
  options.check(Spelling::command_line);
  SessionOptions session;
  options.apply_to(session);
  EXPECT_THAT(session.paths,
              testing::ElementsAre(HostPort{"192.0.2.2", 10813}, HostPort{"2001:db8::3", 7000}));
  EXPECT_THAT(refusal("path", "host:port"), HasSubstr("host:port"));
  while (options.paths.size() < 8) options.paths.emplace_back("192.0.2.9");
  EXPECT_THROW(options.check(Spelling::command_line), UsageError);
}

TEST(ConnectionOptions, LeaveOutWhatIsNotGiven) {
  SessionOptions session;
  ConnectionOptions().apply_to(session);
  EXPECT_EQ(session.method, Method::rdmacm);
  EXPECT_EQ(session.connections, cm::Settings{});
  EXPECT_FALSE(ConnectionOptions::has("gid-index"));
  EXPECT_FALSE(ConnectionOptions::has("port"));
}

TEST(ConnectionOptions, ForgetThePortOfAnEarlierDevice) {
  ConnectionOptions options;
  options.set("device", Spelling::command_line, "mlx5_0/2");
  options.set("device", Spelling::command_line, "mlx5_1");
  EXPECT_EQ(options.settings.device, "mlx5_1");
  EXPECT_EQ(options.settings.port, std::nullopt);
}

TEST(ConnectionOptions, SayWhatAnOptionTakes) {
  EXPECT_EQ(refusal("gid_index", "256"), "--gid-index takes a number from 0 to 255, not '256'");
  EXPECT_EQ(refusal("ack_timeout", "0", Spelling::mount_option),
            "option ack_timeout takes a number from 1 to 31, not '0'");
  EXPECT_EQ(refusal("path_mtu", "1500"), "--path-mtu takes 256, 512, 1024, 2048, 4096, not '1500'");
  EXPECT_EQ(refusal("cm", "both"), "--cm takes rdmacm or tcp, not 'both'");
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"pkey_index", "65536"},
                                                                  {"service_level", "16"},
                                                                  {"traffic_class", "256"},
                                                                  {"ack_timeout", "32"},
                                                                  {"retries", "8"},
                                                                  {"retries", "-1"},
                                                                  {"path_mtu", "0"},
                                                                  {"gid_index", ""},
                                                                  {"device", ""},
                                                                  {"device", "/1"},
                                                                  {"device", "mlx5_0/0"},
                                                                  {"device", "mlx5_0/256"},
                                                                  {"device", "mlx5_0/"},
                                                                  {"device", "mlx5 0"}}) {
    EXPECT_THAT(refusal(name, value), HasSubstr(" takes ")) << name << " " << value;
  }
}

TEST(ConnectionOptions, RefuseForRdmacmWhatItDecidesAlone) {
  struct Expected {
    const char* name;
    const char* value;
    const char* option;
  };
  for (const Expected& expected : {Expected{"pkey_index", "0", "--pkey-index"},
                                   {"service_level", "3", "--service-level"},
                                   {"path_mtu", "1024", "--path-mtu"}}) {
    ConnectionOptions options;
    options.set(expected.name, Spelling::command_line, expected.value);
    try {
      options.check(Spelling::command_line);
      ADD_FAILURE() << expected.name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected.option));
      EXPECT_THAT(error.what(), HasSubstr("--cm tcp"));
    }
    options.set("cm", Spelling::command_line, "tcp");
    EXPECT_NO_THROW(options.check(Spelling::command_line));
  }
}

TEST(ConnectionOptions, KnowThePortOfATarget) {
  ConnectionOptions options;
  EXPECT_EQ(options.default_port(), 10812);
  options.set("cm", Spelling::mount_option, "tcp");
  EXPECT_EQ(options.default_port(), 10813);
}

TEST(ConnectionOptions, KnowThePortThatAMountsOptionsMean) {
  EXPECT_EQ(default_port_of(""), 10812);
  EXPECT_EQ(default_port_of("ro,cm=tcp"), 10813);
  EXPECT_EQ(default_port_of("cm=tcp,noauto,cm=rdmacm"), 10812);
  EXPECT_EQ(default_port_of("cm=rdmacm,cm=tcp,"), 10813);
  EXPECT_EQ(default_port_of("fsname=cm=tcp"), 10812);
  EXPECT_EQ(default_port_of("cm=tcpx"), 10812);
  EXPECT_EQ(default_port_of("fsname=a\\,cm=tcp"), 10812);
  EXPECT_EQ(default_port_of("fsname=a\\,b\\,c,cm=tcp"), 10813);
}

}  // namespace
}  // namespace rdmablk::initiator
