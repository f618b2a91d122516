#include <cerrno>
#include <cstdio>

#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/command_line.h"
#include "initiator/cli/mapping/map_generator.h"
#include "initiator/cli/unmount_helper.h"

namespace {

int run(int argc, char** argv) {
  const int status = rdmablk::cli::run_command_line(argc, argv);
  if (std::fflush(stdout) != 0) throw rdmablk::SystemError("write to standard output", errno);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rdmablk::cli;  // NOLINT(google-build-using-namespace)
  if (argc > 0 && is_umount_helper(argv[0])) return run_umount_helper(argc, argv);
  if (argc > 0 && mapping::is_map_generator(argv[0])) {
    return mapping::run_map_generator(argc, argv);
  }
  return rdmablk::run_program("rdmablk", run, argc, argv);
}
