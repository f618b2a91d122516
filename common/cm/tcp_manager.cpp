#include "common/cm/managers.h"
#include "common/error.h"

namespace rdmablk::cm {

std::unique_ptr<ConnectionManager> make_tcp(asio::io_context& /*io*/,
                                            std::shared_ptr<Devices> /*devices*/,
                                            const Settings& /*settings*/) {
  throw Error("connecting by TCP is not possible yet");
}

}  // namespace rdmablk::cm
