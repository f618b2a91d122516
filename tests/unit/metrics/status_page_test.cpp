#include "common/metrics/status_page.h"

#include <gmock/gmock.h>

#include <string>

namespace rdmablk::metrics {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(StatusPage, IsWhole) {
  const std::string page = status_page();
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, EndsWith("</html>\n"));
}

TEST(StatusPage, NeedsNothingFromElsewhere) {
  const std::string page = status_page();
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST(StatusPage, TakesNoTextForHtml) {
  const std::string page = status_page();
  EXPECT_THAT(page, Not(HasSubstr("innerHTML")));
  EXPECT_THAT(page, Not(HasSubstr("insertAdjacentHTML")));
  EXPECT_THAT(page, Not(HasSubstr("document.write")));
}

}  // namespace
}  // namespace rdmablk::metrics
