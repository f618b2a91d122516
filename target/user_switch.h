#pragma once

#include <functional>
#include <string>

namespace rdmablk::target {

/// Runs something as another user, with the groups and the home of that user and nothing else of
/// root's, in a process of its own. Throws Error when there is no such user, or this one may not
/// become it.
/// @return what it returned, an exit status; kExitFailed when a signal ended it.
int run_as_user(const std::string& user, const std::function<int()>& what);

}  // namespace rdmablk::target
