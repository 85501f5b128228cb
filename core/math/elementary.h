#pragma once

namespace trigram {

/// Elementary functions from additions and multiplications alone, in a fixed order. The C library's
/// differ in their last bits between versions and machines; these give the same weights everywhere.

/// e^x, within 2 ulp. 0 below -87.3, infinity above 88.7; NaN stays NaN.
float exp_portable(float x);
/// The natural logarithm, within 4e-16 relative or absolute. -infinity at 0, NaN below.
double log_portable(double x);
/// cos(pi * x) for x in [0, 1], within 1e-15.
double cos_pi_portable(double x);

}  // namespace trigram
