#include "common/softverbs/cm/process.h"

namespace softverbs::cm {

Process::Process() : progress(mutex) {}

Process& Process::get() {
  static Process* const process = new Process;
  return *process;
}

}  // namespace softverbs::cm
