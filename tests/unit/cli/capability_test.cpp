#include "initiator/cli/capability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using protocol::ExportInfo;
using protocol::ExportKind;
using testing::ElementsAre;

/// What an export can do, of everything that may be asked.
std::vector<std::string> abilities(const ExportInfo& info) {
  std::vector<std::string> found;
  for (const char* name : {"read", "write", "flush", "fua", "zero", "discard", "map", "direct"}) {
    if (Capability(name).is_of(info)) found.emplace_back(name);
  }
  return found;
}

ExportInfo file_export() {
  ExportInfo info;
  info.kind = ExportKind::file;
  info.is_direct = true;
  info.needs_flush = true;
  info.can_discard = true;
  return info;
}

TEST(Capability, OfAMemoryExport) {
  EXPECT_THAT(abilities({}), ElementsAre("read", "write"));
}

TEST(Capability, OfAFileExport) {
  EXPECT_THAT(abilities(file_export()),
              ElementsAre("read", "write", "flush", "fua", "zero", "discard", "map", "direct"));
}

TEST(Capability, OfAReadOnlyExport) {
  ExportInfo info = file_export();
  info.read_only = true;
  EXPECT_THAT(abilities(info), ElementsAre("read", "flush", "map", "direct"));
}

TEST(Capability, OfAResidentExport) {
  ExportInfo info = file_export();
  info.kind = ExportKind::resident;
  info.can_discard = false;
  EXPECT_THAT(abilities(info), ElementsAre("read", "write", "flush", "fua", "direct"));
}

TEST(Capability, RefusesAnUnknownName) {
  EXPECT_THROW(Capability("fly"), UsageError);
  EXPECT_THROW(Capability(""), UsageError);
}

TEST(Capability, ExplainsItself) {
  EXPECT_THAT(Capability::help(), testing::HasSubstr("  discard  give the space"));
}

}  // namespace
}  // namespace rdmablk::cli
