/* SPDX-License-Identifier: BSD-3-Clause */
/* The logarithm of the gamma function: lgamma of the C library writes a global variable. */
#ifndef LODE_ANALYSIS_LOG_GAMMA_H
#define LODE_ANALYSIS_LOG_GAMMA_H

/* ln(gamma(x)) for x > 0. */
double lode_log_gamma(double x);

#endif
