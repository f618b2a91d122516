#include "initiator/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

int run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "rdmablk");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return run_command_line(static_cast<int>(arguments.size()), pointers.data());
}

/// What the command line is refused with; empty when it is not.
std::string complaint(std::vector<std::string> arguments) {
  try {
    run(std::move(arguments));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string output(std::vector<std::string> arguments) {
  testing::internal::CaptureStdout();
  const int status = run(std::move(arguments));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, kExitDone);
  return text;
}

TEST(CommandLine, AsksForACommand) {
  EXPECT_EQ(complaint({}), "which command?; see `rdmablk --help`");
}

TEST(CommandLine, RefusesUnknownCommandsAndOptions) {
  EXPECT_EQ(complaint({"frobnicate"}), "unknown command 'frobnicate'; see `rdmablk --help`");
  EXPECT_EQ(complaint({"--frob"}), "unexpected argument '--frob'; see `rdmablk --help`");
  EXPECT_EQ(complaint({"devices", "--frob"}),
            "unexpected argument '--frob'; see `rdmablk devices --help`");
  EXPECT_EQ(complaint({"list", "a", "b"}), "unexpected argument 'b'; see `rdmablk list --help`");
}

TEST(CommandLine, RefusesMissingArguments) {
  EXPECT_EQ(complaint({"list"}), "TARGET is required; see `rdmablk list --help`");
  EXPECT_EQ(complaint({"info"}), "URI is required; see `rdmablk info --help`");
  EXPECT_EQ(complaint({"bench", "rdmablk://host/disk", "--bs"}),
            "--bs needs a value; see `rdmablk bench --help`");
  EXPECT_THAT(complaint({"mount"}), HasSubstr("a URI and a mount point"));
  EXPECT_EQ(complaint({"unmount"}), "MOUNTPOINT is required; see `rdmablk unmount --help`");
  EXPECT_EQ(complaint({"timeouts"}), "MOUNTPOINT is required; see `rdmablk timeouts --help`");
}

TEST(CommandLine, KnowsFamiliesOfCommands) {
  EXPECT_EQ(complaint({"export"}), "which command?; see `rdmablk export --help`");
  EXPECT_EQ(complaint({"export", "frob"}), "unknown command 'frob'; see `rdmablk export --help`");
  EXPECT_EQ(complaint({"export", "ls", "x"}),
            "unexpected argument 'x'; see `rdmablk export ls --help`");
  EXPECT_EQ(complaint({"export", "add"}), "EXPORT is required; see `rdmablk export add --help`");
  EXPECT_EQ(complaint({"session", "evict", "x"}),
            "SESSION takes a number from 0 to 4294967295, not 'x'");
  EXPECT_EQ(complaint({"status", "--socket", std::string(200, 'x')}),
            "--socket is longer than the 107 bytes that a socket's path has");
}

TEST(CommandLine, TakesSizesToAddAndToTakeOff) {
  for (const char* bad : {"1X", "+", "-", "0", "513", "--1G"}) {
    EXPECT_NE(complaint({"export", "resize", "disk", bad}), "") << bad;
  }
  EXPECT_EQ(complaint({"export", "resize", "disk"}),
            "SIZE is required; see `rdmablk export resize --help`");
  EXPECT_EQ(complaint({"export", "resize", "disk", "1G", "-1G"}),
            "unexpected argument '-1G'; see `rdmablk export resize --help`");
  for (const char* good : {"1G", "+1G", "-1G"}) {
    EXPECT_THROW(run({"export", "resize", "disk", good, "--json", "--socket", "/none"}), Error)
        << good;
    EXPECT_EQ(complaint({"export", "resize", "disk", good, "--timeout", "0"}).substr(0, 9),
              "--timeout")
        << good;
  }
}

TEST(CommandLine, RefusesOptionsThatContradict) {
  EXPECT_THAT(complaint({"unmount", "/mnt", "--lazy", "--force"}), HasSubstr("excludes"));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--size", "--map"}),
              HasSubstr("--size excludes --map"));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--can", "write", "--map"}),
              HasSubstr("excludes"));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--offset", "1"}), HasSubstr("--map"));
}

TEST(CommandLine, RefusesBadValuesBeforeAnythingElse) {
  EXPECT_THAT(complaint({"info", "host/disk"}), HasSubstr("'host/disk' is not a URI"));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--can", "fly"}),
              HasSubstr("--can is 'fly': it takes one of read write "));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--map", "--length", "1X"}),
              HasSubstr("--length is '1X'"));
  EXPECT_THAT(complaint({"list", "host:0"}), HasSubstr("is not a port"));
  EXPECT_THAT(complaint({"bench", "rdmablk://host/disk", "--depth", "0"}), HasSubstr("--depth"));
  EXPECT_THAT(complaint({"bench", "rdmablk://host/disk", "--depth", "-1"}), HasSubstr("'-1'"));
  EXPECT_THAT(complaint({"list", "host", "--log-level", "loud"}), HasSubstr("'loud'"));
  EXPECT_THAT(complaint({"list", "host", "--timeout", "0"}), HasSubstr("--timeout takes seconds"));
  EXPECT_THAT(complaint({"info", "rdmablk://host/disk", "--timeout", "x"}), HasSubstr("'x'"));
  EXPECT_THAT(complaint({"timeouts", "/mnt", "--reconnect-delay", "never"}),
              HasSubstr("--reconnect-delay takes seconds"));
  EXPECT_THAT(complaint({"timeouts", "/mnt", "--fail-fast", "-1"}), HasSubstr("not '-1'"));
  EXPECT_THAT(complaint({"timeouts", "/mnt", "--give-up", "soon"}), HasSubstr("not 'soon'"));
}

TEST(CommandLine, RefusesNumbersThatAreNone) {
  for (const std::string value : {"-1", "nan", "1e9", "5s", "99999999999999999999", "0x10", " 5"}) {
    for (const char* option :
         {"--bs", "--depth", "--queues", "--time", "--rwmixread", "--offset", "--size"}) {
      EXPECT_THAT(complaint({"bench", "rdmablk://host/disk", option, value}),
                  AllOf(HasSubstr(std::string(option) + " takes "),
                        HasSubstr("not '" + value + "'"), Not(HasSubstr("\n"))));
    }
    EXPECT_THAT(complaint({"list", "host", "--timeout", value}), HasSubstr("not '" + value + "'"));
  }
}

/// The options of a command that take a value, as its help has them.
std::vector<std::string> options_with_value(const std::string& command) {
  const std::string help = output({command, "--help"});
  const std::regex option(R"(\n +(?:-\w,)?(--[a-z-]+) [A-Z](?![a-z]))");
  std::vector<std::string> names;
  for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found) {
    names.push_back((*found)[1]);
  }
  return names;
}

TEST(CommandLine, RefusesEmptyValues) {
  std::size_t count = 0;
  for (const char* command :
       {"devices", "list", "info", "bench", "unmount", "timeouts", "keygen", "status"}) {
    for (const std::string& option : options_with_value(command)) {
      ++count;
      const std::string expected = option + ": its value is empty";
      EXPECT_THAT(complaint({command, "rdmablk://host/disk", option, ""}), HasSubstr(expected));
      EXPECT_EQ(complaint({command, option + "=", "rdmablk://host/disk"}), expected);
    }
  }
  EXPECT_GE(count, 20U);
  EXPECT_THAT(complaint({"keygen", ""}), HasSubstr("CLIENT: its value is empty"));
  EXPECT_THAT(complaint({"list", ""}), HasSubstr("TARGET: its value is empty"));
}

TEST(CommandLine, AsksForOneCapabilityAtATime) {
  EXPECT_THAT(complaint({"info", "--can", "read", "--can", "write", "rdmablk://host/disk"}),
              HasSubstr("--can is given 2 times"));
}

TEST(CommandLine, TakesTheLastOfAnOptionGivenTwice) {
  EXPECT_THAT(complaint({"bench", "rdmablk://host/disk", "--bs", "4k", "--bs", "0"}),
              HasSubstr("'0'"));
}

TEST(CommandLine, HelpsEverywhereWithExamples) {
  EXPECT_THAT(output({"--help"}), HasSubstr("Examples:"));
  for (const char* command : {"devices", "list", "info", "bench", "mount", "unmount", "mounts",
                              "timeouts", "keygen", "status", "export", "session", "reload"}) {
    const std::string text = output({command, "--help"});
    EXPECT_THAT(text, HasSubstr(std::string("rdmablk ") + command)) << command;
    EXPECT_THAT(text, HasSubstr("Examples:")) << command;
  }
}

TEST(CommandLine, WarnsThatWritesDestroy) {
  EXPECT_THAT(output({"bench", "--help"}), HasSubstr("OVERWRITE"));
}

TEST(CommandLine, TellsItsVersion) {
  EXPECT_EQ(output({"--version"}), "rdmablk " RDMABLK_VERSION "\n");
}

}  // namespace
}  // namespace rdmablk::cli
