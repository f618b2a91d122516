#include "initiator/cli/map_report.h"

#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

ExportMap map() {
  return {{{"storage1", 10812}, "disk"}, 4096, {{512, false}, {1U << 20U, true}}};
}

TEST(ExportMapText, HasALineForEachExtent) {
  EXPECT_EQ(export_map_text(map()),
            "OFFSET   LENGTH  TYPE\n"
            "  4096      512  data\n"
            "  4608  1048576  hole\n");
}

TEST(ExportMapJson, HasTheExtents) {
  EXPECT_EQ(export_map_json(map()), Json::parse(R"({
      "version": 1, "uri": "rdmablk://storage1:10812/disk", "extents": [
        {"offset_bytes": 4096, "length_bytes": 512, "type": "data"},
        {"offset_bytes": 4608, "length_bytes": 1048576, "type": "hole"}]})"));
}

}  // namespace
}  // namespace rdmablk::cli
