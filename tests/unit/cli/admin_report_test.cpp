#include "initiator/cli/admin_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "initiator/cli/spec_paths.h"
#include "initiator/cli/time_text.h"

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AdminReport, ShowsExports) {
  const Json exports = Json::parse(R"([
      {"name":"disk","type":"file","size_bytes":1073741824,"read_only":false,"shared":true,
       "file":"/srv/disk","save":null,"origin":"run_time","readers":2,"writers":1,"leaving":false},
      {"name":"m","type":"memory","size_bytes":512,"read_only":true,"file":null,"save":"/srv/m",
       "origin":"command_line","readers":0,"writers":0,"leaving":true}])");
  EXPECT_EQ(
      admin_exports_text(exports),
      "NAME  TYPE         SIZE  ACCESS              READERS  WRITERS  FROM          FILE\n"
      "disk  file        1 GiB  read-write, shared        2        1  run time      /srv/disk\n"
      "m     memory  512 bytes  leaving                   0        0  command line  /srv/m\n");
}

TEST(AdminReport, ShowsSessions) {
  const Json sessions = Json::parse(R"([
      {"session":7,"client":"alice","address":"192.0.2.1:4000","device":"rxe0","age_s":3723,
       "silence_ms":10,"attachments":[{"export":"disk","access":"read_write","queues":4},
                                      {"export":"m","access":"read_only","queues":1}]},
      {"session":12,"client":null,"address":"[2001:db8::1]:1","device":"rxe0","age_s":3,
       "silence_ms":10,"attachments":[]}])");
  const std::string text = admin_sessions_text(sessions);
  EXPECT_THAT(text, HasSubstr("      7  alice   192.0.2.1:4000   rxe0    1 h 2 min  "
                              "disk (rw, 4 queues), m (ro, 1 queue)\n"));
  EXPECT_THAT(text, HasSubstr("     12  -       [2001:db8::1]:1  rxe0    3 s        -\n"));
}

TEST(AdminReport, ShowsTheStatus) {
  const Json status = Json::parse(R"({"program_version":"1.2","pid":7,"uptime_s":61,
      "listening":["192.0.2.1:1","[::1]:1"],"devices":["rxe0"],"configuration":null,
      "authentication":true,"exports":2,"offered_bytes":1024,"sessions":3,"attachments":4,
      "io_queues":5,"registered_bytes":2048})");
  const std::string text = target_status_text(status);
  EXPECT_THAT(text, HasSubstr("up             1 min 1 s\n"));
  EXPECT_THAT(text, HasSubstr("listening on   192.0.2.1:1, [::1]:1\n"));
  EXPECT_THAT(text, HasSubstr("configuration  -\n"));
  EXPECT_THAT(text, HasSubstr("exports        2, 1 KiB in all\n"));
  EXPECT_THAT(text, HasSubstr("sessions       3, with 4 attachments and 5 I/O queues\n"));
}

TEST(AdminReport, BearsAnyReply) {
  for (const char* value : {"null", "7", "{}", "[]", "[[]]", "[7]", R"([{"name":{"a":1}}])",
                            R"([{"size_bytes":-1,"attachments":[3]}])"}) {
    const Json reply = Json::parse(value);
    admin_exports_text(reply);
    admin_sessions_text(reply);
    target_status_text(reply);
    document_of(reply, "exports");
  }
}

TEST(AdminReport, ShowsNothingThatATerminalObeys) {
  const Json exports = Json::parse(R"([{"name":"d","file":"/srv/\u001b[2J"}])");
  EXPECT_THAT(admin_exports_text(exports), Not(HasSubstr("\x1b")));
}

TEST(TimeText, IsOfTheTwoLargestUnits) {
  using std::chrono::seconds;
  EXPECT_EQ(time_text(seconds(0)), "0 s");
  EXPECT_EQ(time_text(seconds(59)), "59 s");
  EXPECT_EQ(time_text(seconds(723)), "12 min 3 s");
  EXPECT_EQ(time_text(seconds(11'559)), "3 h 12 min");
  EXPECT_EQ(time_text(seconds(352'800)), "4 d 2 h");
}

TEST(AbsoluteSpec, CompletesPaths) {
  EXPECT_EQ(absolute_spec("d=file:x.img,size=1M", "/srv"), "d=file:/srv/x.img,size=1M");
  EXPECT_EQ(absolute_spec("d=file:/x.img,size=1M", "/srv"), "d=file:/x.img,size=1M");
  EXPECT_EQ(absolute_spec("d=memory:1M,save=x", "/a,b\\c"), "d=memory:1M,save=/a\\,b\\\\c/x");
  EXPECT_EQ(absolute_spec("d=file:a\\,save=b", "/srv"), "d=file:/srv/a\\,save=b");
}

TEST(AbsoluteSpec, LeavesTheRestAlone) {
  for (const char* text : {"", ",", "d", "d=memory:1M", "d=file:", "d=file:/x,save=", "=,=,\\"}) {
    EXPECT_EQ(absolute_spec(text, "/srv"), text);
  }
}

}  // namespace
}  // namespace rdmablk::cli
