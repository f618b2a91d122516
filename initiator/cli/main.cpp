#include <cerrno>
#include <cstdio>

#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/command_line.h"

namespace {

int run(int argc, char** argv) {
  const int status = rdmablk::cli::run_command_line(argc, argv);
  if (std::fflush(stdout) != 0) throw rdmablk::SystemError("write to standard output", errno);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return rdmablk::run_program("rdmablk", run, argc, argv);
}
