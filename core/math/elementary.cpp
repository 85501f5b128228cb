#include "core/math/elementary.h"

namespace trigram {

double cos_pi_portable(double x) {
  // The series is needed only up to pi/2, because cos(pi x) = -cos(pi (1 - x)).
  const bool upper = x > 0.5;
  const double y = (upper ? 1 - x : x) * 3.141592653589793;
  // 1 - y^2/2! + y^4/4! - ...; the first omitted term is below 2e-17 at pi/2.
  constexpr double kTerms[] = {1,
                               -1. / 2,
                               1. / 24,
                               -1. / 720,
                               1. / 40320,
                               -1. / 3628800,
                               1. / 479001600,
                               -1. / 87178291200,
                               1. / 20922789888000,
                               -1. / 6402373705728000,
                               1. / 2432902008176640000};
  const double c = elementary::polynomial(kTerms, y * y);
  return upper ? -c : c;
}

}  // namespace trigram
