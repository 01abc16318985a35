// SPDX-License-Identifier: Apache-2.0
// The life of an executor, and new addresses between its runs.
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "nnopbase/sum_operator.h"

namespace mlmargin::nnopbase {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ExecutorTest : public SumTest {};

// ---- One-shot and repeatable ---------------------------------------------------------------

TEST_F(ExecutorTest, RunsOnceUnlessItIsRepeatable) {
  aclOpExecutor* const executor = Phase1();
  EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(SumOperator::num_runs, 1);
  EXPECT_EQ(SumOperator::num_destroyed, 1);
}

TEST_F(ExecutorTest, KeepsWhatItNeedsWhenItsTensorsAreDestroyed) {
  aclOpExecutor* const executor = Phase1();
  first_.reset();
  second_.reset();
  out_.reset();
  EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(ExecutorTest, RepeatableRunsUntilItIsDestroyed) {
  aclOpExecutor* const executor = Phase1();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);  // Twice is no error.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(SumOperator::num_runs, 3);
  EXPECT_EQ(SumOperator::num_destroyed, 0);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(SumOperator::num_destroyed, 1);
  EXPECT_EQ(Phase2(executor), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_INNER_NULLPTR);
}

TEST_F(ExecutorTest, ThatNeverRanCanBeDestroyed) {
  EXPECT_EQ(aclDestroyAclOpExecutor(Phase1()), ACLNN_SUCCESS);
  EXPECT_EQ(SumOperator::num_destroyed, 1);
  EXPECT_EQ(SumOperator::num_runs, 0);
}

TEST_F(ExecutorTest, MayBeDestroyedWhileItsRunsAreQueued) {
  aclOpExecutor* const executor = Phase1();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(SumOperator::num_runs, 100);
  EXPECT_EQ(SumOperator::num_destroyed, 1);
}

TEST_F(ExecutorTest, SpentForeignAndNullHandlesAreRefused) {
  aclOpExecutor* const spent = Phase1();
  EXPECT_EQ(Phase2(spent), ACLNN_SUCCESS);
  for (aclOpExecutor* executor :
       {spent, static_cast<aclOpExecutor*>(nullptr), ForeignHandle<aclOpExecutor>(),
        reinterpret_cast<aclOpExecutor*>(first_.get())}) {
    EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_EQ(aclSetTensorAddr(executor, 0, first_.get(), nullptr), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_THAT(TakeErrorText(), HasSubstr("AclNN_Inner_Error(EZ9999)"));
  }
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

// ---- Addresses -----------------------------------------------------------------------------

class AddressTest : public SumTest {
 protected:
  void SetUp() override {
    SumTest::SetUp();
    executor_ = Phase1();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor_), ACLNN_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor_), ACLNN_SUCCESS);
    SumTest::TearDown();
  }
  static void* AddressOf(const TensorHolder& tensor) {
    void* address = nullptr;
    EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
    return address;
  }

  aclOpExecutor* executor_ = nullptr;
};

TEST_F(AddressTest, OfAnInputChangesTheNextRunAndTheTensor) {
  const DeviceInts other({100, 200});
  ASSERT_EQ(aclSetInputTensorAddr(executor_, 1, second_.get(), other.data()), ACLNN_SUCCESS);
  EXPECT_EQ(AddressOf(second_), other.data());
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(101, 202));
}

TEST_F(AddressTest, OfAnOutputChangesTheNextRun) {
  const DeviceInts other({-1, -1});
  ASSERT_EQ(aclSetOutputTensorAddr(executor_, 0, out_.get(), other.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(-1, -1));
  EXPECT_THAT(other.Values(), ElementsAre(11, 22));
}

TEST_F(AddressTest, IndexesOfAllTensorsCountTheInputsFirst) {
  const DeviceInts first({1000, 2000});
  const DeviceInts out({-1, -1});
  ASSERT_EQ(aclSetTensorAddr(executor_, 0, first_.get(), first.data()), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetTensorAddr(executor_, 2, out_.get(), out.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(-1, -1));
  EXPECT_THAT(out.Values(), ElementsAre(1010, 2020));
}

TEST_F(AddressTest, TheOtherSpellingIsTheSameFunction) {
  const DeviceInts other({100, 200});
  const DeviceInts out({-1, -1});
  EXPECT_EQ(AclSetInputTensorAddr(executor_, 0, first_.get(), other.data()), ACLNN_SUCCESS);
  EXPECT_EQ(AclSetTensorAddr(executor_, 1, second_.get(), other.data()), ACLNN_SUCCESS);
  EXPECT_EQ(AclSetOutputTensorAddr(executor_, 0, out_.get(), out.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  Out();
  EXPECT_THAT(out.Values(), ElementsAre(200, 400));
}

TEST_F(AddressTest, WorkThatIsQueuedKeepsItsAddresses) {
  const DeviceInts other({100, 200});
  const DeviceInts out({-1, -1});
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 0, first_.get(), other.data()), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetOutputTensorAddr(executor_, 0, out_.get(), out.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_THAT(out.Values(), ElementsAre(110, 220));
}

TEST_F(AddressTest, MayBeSetBeforeTheOnlyRunOfAOneShotExecutor) {
  first_ = MakeTensor({.shape = {2}, .dtype = ACL_INT32});  // No data yet.
  aclOpExecutor* const one_shot = Phase1();
  ASSERT_EQ(aclSetInputTensorAddr(one_shot, 0, first_.get(), memory_->first.data()), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(one_shot), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(AddressTest, AnIndexPastTheEndIsRefused) {
  void* const data = memory_->first.data();
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 2, first_.get(), data), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("index: must be below the number of inputs, 2, got 2"));
  EXPECT_EQ(aclSetOutputTensorAddr(executor_, 1, out_.get(), data), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("number of outputs, 1, got 1"));
  EXPECT_EQ(aclSetTensorAddr(executor_, 3, out_.get(), data), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("number of tensors, 3, got 3"));
  EXPECT_EQ(aclSetTensorAddr(executor_, std::numeric_limits<size_t>::max(), out_.get(), data),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(AddressOf(out_), memory_->out.data());
}

TEST_F(AddressTest, ATensorOfAnotherShapeOrTypeIsRefused) {
  const TensorHolder longer = MakeTensor({.shape = {3}, .dtype = ACL_INT32});
  const TensorHolder floats = MakeTensor({.shape = {2}, .dtype = ACL_FLOAT});
  void* const data = memory_->second.data();
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 0, longer.get(), data), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), AllOf(HasSubstr("for first it must be INT32 of shape (2)"),
                                     HasSubstr("got INT32 of shape (3)")));
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 0, floats.get(), data), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("got FLOAT of shape (2)"));
  EXPECT_EQ(AddressOf(floats), nullptr);
  EXPECT_EQ(Phase2(executor_), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(AddressTest, NullTensorsAndDeadTensorsAreRefused) {
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 0, nullptr, nullptr), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(aclSetInputTensorAddr(nullptr, 0, nullptr, nullptr), ACLNN_ERR_INNER_NULLPTR);
  aclTensor* const dead = CreateTensor({.shape = {2}, .dtype = ACL_INT32});
  aclDestroyTensor(dead);
  EXPECT_EQ(aclSetInputTensorAddr(executor_, 0, dead, nullptr), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AddressTest, OfTensorListsIsRefusedSinceNoOperatorHasThem) {
  aclTensorList* const list = aclCreateTensorList(nullptr, 0);
  for (const auto set :
       {aclSetDynamicInputTensorAddr, aclSetDynamicOutputTensorAddr, aclSetDynamicTensorAddr,
        AclSetDynamicInputTensorAddr, AclSetDynamicOutputTensorAddr, AclSetDynamicTensorAddr}) {
    EXPECT_EQ(set(nullptr, 0, 0, list, nullptr), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_EQ(set(executor_, 0, 0, nullptr, nullptr), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_EQ(set(executor_, 0, 0, ForeignHandle<aclTensorList>(), nullptr),
              ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(set(executor_, 0, 0, list, nullptr), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(TakeErrorText(), HasSubstr("of aclnnSum, which has none, got 0"));
  }
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
}

}  // namespace
}  // namespace mlmargin::nnopbase
