// SPDX-License-Identifier: Apache-2.0
// The whole of an aclnn program in one flow, from aclInit to aclFinalize.
#ifndef MLMARGIN_TESTS_FAULTS_OPERATOR_FLOW_H_
#define MLMARGIN_TESTS_FAULTS_OPERATOR_FLOW_H_

#include <string>

#include "faults/fault_sweep.h"

namespace mlmargin::testing {

// The file that the flow gives to aclInit.
inline std::string operator_flow_config;

void RunOperatorFlow(Attempt attempt);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_FAULTS_OPERATOR_FLOW_H_
