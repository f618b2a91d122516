#include "common/uri.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk {
namespace {

TEST(HostPort, TakesNamesAndAddresses) {
  EXPECT_EQ(parse_host_port("storage1"), (HostPort{"storage1", kDefaultPort}));
  EXPECT_EQ(parse_host_port("192.0.2.1:10900"), (HostPort{"192.0.2.1", 10900}));
  EXPECT_EQ(parse_host_port("[2001:db8::1]"), (HostPort{"2001:db8::1", kDefaultPort}));
  EXPECT_EQ(parse_host_port("[2001:db8::1]:1"), (HostPort{"2001:db8::1", 1}));
  EXPECT_EQ(parse_host_port("2001:db8::1"), (HostPort{"2001:db8::1", kDefaultPort}));
  EXPECT_EQ(parse_host_port("fe80::1%eth0"), (HostPort{"fe80::1%eth0", kDefaultPort}));
}

TEST(HostPort, TakesTheInterfaceOfALinkLocalAddress) {
  EXPECT_EQ(parse_host_port("[fe80::1%eth0]:7"), (HostPort{"fe80::1%eth0", 7}));
  EXPECT_EQ(parse_host_port("[fe80::1%25eth0]:7"), (HostPort{"fe80::1%eth0", 7}));
  EXPECT_EQ(parse_host_port("fe80::1%25eth0.100"), (HostPort{"fe80::1%eth0.100", kDefaultPort}));
  EXPECT_EQ(parse_host_port("[fe80::1%2]"), (HostPort{"fe80::1%2", kDefaultPort}));
  EXPECT_EQ(parse_host_port("[fe80::1%25]"), (HostPort{"fe80::1%25", kDefaultPort}));
  EXPECT_EQ(parse_uri("rdmablk://[fe80::1%25v0]/disk"),
            (Uri{{"fe80::1%v0", kDefaultPort}, "disk"}));
  EXPECT_EQ(parse_uri("rdmablk://[fe80::1%v0]/disk").text(), "rdmablk://[fe80::1%v0]:10812/disk");
  for (const char* text : {"[fe80::1%]", "host%eth0", "192.0.2.1%eth0", "[fe80::1%a%b]", "%eth0"}) {
    EXPECT_THROW(parse_host_port(text), UsageError) << text;
  }
}

TEST(HostPort, RefusesWhatIsNone) {
  for (const char* text :
       {"",       ":1",        "host:",  "host:0", "host:65536", "host:-1", "host:1x",
        "[::1",   "[]",        "[]:1",   "[::1]x", "[::1]:",     "[::1]:0", "a b",
        "host/x", "user@host", "host\n", "a:]:",   "[[::1]",     "host]",   "[::1\n]"}) {
    EXPECT_THROW(parse_host_port(text), UsageError) << "'" << text << "'";
  }
}

TEST(HostPort, TextCanBeReadAgain) {
  for (const HostPort& target :
       {HostPort{"storage1", 1}, HostPort{"::1", 65535}, HostPort{"fe80::1%eth0", 1},
        HostPort{"fe80::1%25", 1}, HostPort{"fe80::1%25x", 1}, HostPort{"fe80::1%2525", 1}}) {
    EXPECT_EQ(parse_host_port(target.text()), target);
  }
  EXPECT_EQ((HostPort{"::1", 2}).text(), "[::1]:2");
}

TEST(Uri, TakesATargetAndAnExport) {
  EXPECT_EQ(parse_uri("rdmablk://host/disk"), (Uri{{"host", kDefaultPort}, "disk"}));
  EXPECT_EQ(parse_uri("rdmablk://[::1]:7/a.b-c_d"), (Uri{{"::1", 7}, "a.b-c_d"}));
}

TEST(Uri, TextCanBeReadAgain) {
  const Uri uri{{"::1", 7}, "disk"};
  EXPECT_EQ(uri.text(), "rdmablk://[::1]:7/disk");
  EXPECT_EQ(parse_uri(uri.text()), uri);
}

TEST(Uri, RefusesWhatIsNone) {
  for (const char* text :
       {"", "disk", "http://host/disk", "rdmablk:/host/disk", "rdmablk://", "rdmablk://host",
        "rdmablk://host/", "rdmablk:///disk", "rdmablk://host/a/b", "rdmablk://host/-a",
        "rdmablk://host/a b", "rdmablk://host:0/disk", "RDMABLK://host/disk"}) {
    EXPECT_THROW(parse_uri(text), UsageError) << "'" << text << "'";
  }
}

TEST(Uri, ComplaintQuotesWhatWasTypedInOneLine) {
  try {
    parse_uri("rdmablk://host");
    FAIL();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'rdmablk://host'"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace rdmablk
