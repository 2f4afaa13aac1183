// keyhole._core: every area of cpp/ binds its functions in a file of its own.
#include <nanobind/nanobind.h>

#include "bindings/areas.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of keyhole. Numpy arrays are the state; the core reads and writes them and keeps nothing.";
#ifdef KEYHOLE_BOUNDS_CHECK
  m.attr("SANITIZED") = true;
#else
  m.attr("SANITIZED") = false;
#endif
  keyhole::bindings::bind_columns(m);
  keyhole::bindings::bind_dantzig(m);
  keyhole::bindings::bind_newton(m);
  keyhole::bindings::bind_peers(m);
  keyhole::bindings::bind_sampling(m);
  keyhole::bindings::bind_thrifty(m);
}
