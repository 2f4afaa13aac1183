// The binding function of each area of the core: bind_<area> is defined in cpp/bindings/<area>.cpp. bind_thrifty calls
// bind_thrifty_layers.
#pragma once

#include <nanobind/nanobind.h>

namespace keyhole::bindings {

void bind_columns(nanobind::module_& m);
void bind_dantzig(nanobind::module_& m);
void bind_newton(nanobind::module_& m);
void bind_peers(nanobind::module_& m);
void bind_sampling(nanobind::module_& m);
void bind_thrifty(nanobind::module_& m);
void bind_thrifty_layers(nanobind::module_& m);

}  // namespace keyhole::bindings
