/* That the header is C99, stands on its own, and may be included twice. */
#include <rdmablk.h>
#include <rdmablk.h>

int rdmablk_is_in_c(void);
int rdmablk_is_in_c(void) { return rdmablk_version() >= RDMABLK_MAKE_VERSION(0, 1, 0); }
