#include "common/unexpected_argument.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "common/arguments.h"
#include "common/error.h"

namespace rdmablk {
namespace {

/// A program with an option of its own, one that it does not tell of, and a command.
class UnexpectedArgument : public testing::Test {
 protected:
  UnexpectedArgument() {
    program_.add_option("--workers", workers_);
    program_.add_option("--secret", workers_)->group("");
    list_ = program_.add_subcommand("list");
    list_->add_flag("--json", json_);
  }

  /// What a line is refused with; empty when it is not.
  std::string refusal(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    try {
      read_arguments(program_, static_cast<int>(words.size()), words.data());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  CLI::App program_;
  CLI::App* list_ = nullptr;
  std::string workers_;
  bool json_ = false;
};

TEST_F(UnexpectedArgument, SuggestsAnOption) {
  EXPECT_EQ(complaint_about_word(program_, "--wokers"),
            "unknown option '--wokers'; do you mean '--workers'?");
  EXPECT_EQ(complaint_about_word(*list_, "-json"), "unknown option '-json'; do you mean '--json'?");
}

TEST_F(UnexpectedArgument, LeavesTheValueOut) {
  EXPECT_EQ(complaint_about_word(program_, "--wokers=2"),
            "unknown option '--wokers'; do you mean '--workers'?");
}

TEST_F(UnexpectedArgument, DoesNotGuess) {
  EXPECT_EQ(complaint_about_word(program_, "--frob"), "unknown option '--frob'");
  EXPECT_EQ(complaint_about_word(program_, "--secrt"), "unknown option '--secrt'");
  EXPECT_EQ(complaint_about_word(program_, "--jsno"), "unknown option '--jsno'");
  EXPECT_EQ(complaint_about_word(*list_, "lits"), "unexpected argument 'lits'");
}

TEST_F(UnexpectedArgument, SuggestsACommandWhereOneIsNeeded) {
  program_.require_subcommand(1);
  EXPECT_EQ(complaint_about_word(program_, "lits"), "unknown command 'lits'; do you mean 'list'?");
  EXPECT_EQ(complaint_about_word(program_, "frob"), "unknown command 'frob'");
}

TEST_F(UnexpectedArgument, ComesBeforeWhatIsMissing) {
  program_.add_option("--export", json_)->required();
  EXPECT_EQ(refusal({"--exprot", "1"}),
            "unknown option '--exprot'; do you mean '--export'?; --help shows how to use it");
  EXPECT_EQ(refusal({}), "--export is required; --help shows how to use it");
}

}  // namespace
}  // namespace rdmablk
