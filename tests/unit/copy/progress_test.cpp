#include "initiator/copy/progress.h"

#include <gtest/gtest.h>

namespace rdmablk::copy {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;

TEST(ProgressText, ShowsHowFarItIs) {
  EXPECT_EQ(progress_text(256 * kMebibyte, 1024 * kMebibyte, 128.0 * kMebibyte),
            "[#####...............]  25 %  256.0 MiB of 1.0 GiB  128.0 MiB/s  0:06 left");
}

TEST(ProgressText, BearsNoTotalNoRateAndNothing) {
  EXPECT_EQ(progress_text(1536, UINT64_MAX, 0), "1.5 KiB  0 bytes/s");
  EXPECT_EQ(progress_text(0, 100, 0),
            "[....................]   0 %  0 bytes of 100 bytes  0 bytes/s");
  EXPECT_EQ(progress_text(0, 0, 0), "[####################] 100 %  0 bytes of 0 bytes  0 bytes/s");
}

TEST(ProgressText, ShowsHours) {
  const std::string text = progress_text(0, 7384 * kMebibyte, kMebibyte);
  EXPECT_NE(text.find("2:03:04 left"), std::string::npos) << text;
}

}  // namespace
}  // namespace rdmablk::copy
