#include "initiator/doctor/doctor_report.h"

#include <gtest/gtest.h>

namespace rdmablk::doctor {
namespace {

const Findings kFindings{good("fuse", "is there"), skipped("service", "none"),
                         warning("memlock", "8 MiB", "raise it"),
                         failure("name", "unknown", "check the spelling")};

TEST(DoctorReport, IsForPeople) {
  EXPECT_EQ(doctor_text(kFindings),
            "ok      fuse     is there\n"
            "skipped service  none\n"
            "warning memlock  8 MiB\n"
            "        -> raise it\n"
            "failure name     unknown\n"
            "        -> check the spelling\n"
            "4 checks: 1 ok, 1 skipped, 1 warning, 1 failure\n");
}

TEST(DoctorReport, IsForPrograms) {
  EXPECT_EQ(doctor_json(HostPort{"host", 1}, {kFindings[0], kFindings[3]}),
            cli::Json::parse(R"({"version": 1, "target": "host:1", "healthy": false, "checks": [
                {"check": "fuse", "verdict": "ok", "found": "is there", "advice": null},
                {"check": "name", "verdict": "failure", "found": "unknown",
                 "advice": "check the spelling"}]})"));
  EXPECT_EQ(doctor_json({}, {})["target"], nullptr);
  EXPECT_EQ(doctor_json({}, {})["healthy"], true);
}

TEST(DoctorReport, AWarningIsNoFailure) {
  EXPECT_TRUE(is_well({kFindings[0], kFindings[1], kFindings[2]}));
  EXPECT_FALSE(is_well(kFindings));
}

}  // namespace
}  // namespace rdmablk::doctor
