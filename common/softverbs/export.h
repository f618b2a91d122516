#pragma once

/// Marks a function that programs call: everything else in the library is hidden.
#define SOFTVERBS_EXPORT extern "C" __attribute__((visibility("default")))
