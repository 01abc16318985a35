/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * Place of the graph engine's error codes (145xxx, 245xxx, 345xxx and 545xxx). This package has
 * no graph engine, returns none of them and therefore names none.
 */
#ifndef MLMARGIN_INCLUDE_ACL_ERROR_CODES_GE_ERROR_CODES_H_
#define MLMARGIN_INCLUDE_ACL_ERROR_CODES_GE_ERROR_CODES_H_

#include <stddef.h>
#include <stdint.h>

#endif /* MLMARGIN_INCLUDE_ACL_ERROR_CODES_GE_ERROR_CODES_H_ */
