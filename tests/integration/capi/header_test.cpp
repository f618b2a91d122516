// The same for C++.
#include <rdmablk.h>

int rdmablk_is_in_cpp();
int rdmablk_is_in_cpp() {
  return rdmablk_version() >= RDMABLK_VERSION_NUMBER ? 1 : 0;
}
