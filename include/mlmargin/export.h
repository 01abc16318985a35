// SPDX-License-Identifier: Apache-2.0
#ifndef MLMARGIN_EXPORT_H_
#define MLMARGIN_EXPORT_H_

// Marks what libmlmargin.so exports; everything else in it is hidden.
#define MLMARGIN_API __attribute__((visibility("default")))

#endif  // MLMARGIN_EXPORT_H_
