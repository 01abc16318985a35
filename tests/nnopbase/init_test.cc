// SPDX-License-Identifier: Apache-2.0
// aclnnInit and aclnnFinalize as the library's own pair; how they mix with aclInit is the
// runtime's matter.
#include "aclnn/aclnn_base.h"
#include "nnopbase/nnopbase_fixture.h"

namespace mlmargin::nnopbase {
namespace {

TEST(AclnnInitTest, IsEnoughForADevice) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
  ASSERT_EQ(aclnnInit(nullptr), ACLNN_SUCCESS) << TakeErrorText();
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclnnFinalize(), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
}

TEST(AclnnInitTest, AFileThatIsNotThereIsAnError) {
  EXPECT_NE(aclnnInit("/no/such/file.json"), ACLNN_SUCCESS);
  EXPECT_THAT(TakeErrorText(), testing::HasSubstr("/no/such/file.json"));
}

}  // namespace
}  // namespace mlmargin::nnopbase
