/* SPDX-License-Identifier: Apache-2.0 */
/* The version of mlmargin; the build reads it from here. */
#ifndef MLMARGIN_VERSION_H_
#define MLMARGIN_VERSION_H_

#define MLMARGIN_VERSION_MAJOR 0
#define MLMARGIN_VERSION_MINOR 1
#define MLMARGIN_VERSION_PATCH 0

#endif /* MLMARGIN_VERSION_H_ */
