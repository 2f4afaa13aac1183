// The binding function of each area of the core: bind_<area> is defined in cpp/bindings/<area>.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace keyhole::bindings {

void bind_newton(nanobind::module_& m);
void bind_thrifty(nanobind::module_& m);

}  // namespace keyhole::bindings
