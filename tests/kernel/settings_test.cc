// SPDX-License-Identifier: Apache-2.0
#include "mlmargin/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "environment/unknown_variables.h"
#include "kernel/parallel_for.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin {
namespace {

using ::testing::HasSubstr;

TEST(SettingsTest, ThreadsAreAtLeastOneAndAtMostTheCpus) {
  EXPECT_EQ(NumThreads(), kernel::AvailableCpus());
  ASSERT_TRUE(SetNumThreads(1).ok());
  EXPECT_EQ(NumThreads(), 1);
  ASSERT_TRUE(SetNumThreads(1'000'000).ok());
  EXPECT_EQ(NumThreads(), kernel::AvailableCpus());
  const Status status = SetNumThreads(-1);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("-1"));
  EXPECT_EQ(NumThreads(), kernel::AvailableCpus());
  ASSERT_TRUE(SetNumThreads(0).ok());
}

TEST(SettingsTest, LabelCheckIsWarnUntilSet) {
  EXPECT_EQ(GetLabelCheck(), LabelCheck::kWarn);
  SetLabelCheck(LabelCheck::kError);
  EXPECT_EQ(GetLabelCheck(), LabelCheck::kError);
  SetLabelCheck(LabelCheck::kWarn);
}

TEST(SettingsTest, BestTargetIsTheDefaultAndEachOneCanBeForced) {
  const std::vector<std::string> targets = SupportedTargets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(Target(), targets.front());
  for (const std::string& target : targets) {
    ASSERT_TRUE(SetTarget(target).ok());
    EXPECT_EQ(Target(), target);
  }
  ASSERT_TRUE(SetTarget("").ok());
  EXPECT_EQ(Target(), targets.front());
}

TEST(SettingsTest, UnknownTargetIsRefusedWithTheList) {
  const Status status = SetTarget("MMX");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("\"MMX\""));
  EXPECT_THAT(status.message(), HasSubstr(SupportedTargets().back()));
}

// The environment is read once in a process, so each of these looks at it in a process of its own.
void ExitWithSettings() {
  const bool good = NumThreads() == 1 && GetLabelCheck() == LabelCheck::kIgnore &&
                    Target() == SupportedTargets().back() && EnvironmentErrors().empty();
  std::exit(good ? 0 : 1);
}

TEST(SettingsDeathTest, EnvironmentIsReadOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MLMARGIN_NUM_THREADS", "1", 1);
        setenv("MLMARGIN_LABEL_CHECK", "ignore", 1);
        setenv("MLMARGIN_TARGET", SupportedTargets().back().c_str(), 1);
        ExitWithSettings();
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(SettingsDeathTest, BadValuesAreNamedAndIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MLMARGIN_NUM_THREADS", "two", 1);
        setenv("MLMARGIN_LABEL_CHECK", "maybe", 1);
        setenv("MLMARGIN_TARGET", "MMX", 1);
        std::fputs(EnvironmentErrors().c_str(), stderr);
        std::exit(NumThreads() == kernel::AvailableCpus() && GetLabelCheck() == LabelCheck::kWarn
                      ? 0
                      : 1);
      },
      ::testing::ExitedWithCode(0), "NUM_THREADS.*two.*\n.*LABEL_CHECK.*maybe.*\n.*TARGET.*MMX");
}

TEST(UnknownVariablesTest, TheNearestSettingMayHaveBeenMeant) {
  using environment::MeantSetting;
  EXPECT_EQ(MeantSetting("MLMARGIN_NUM_THREAD"), "MLMARGIN_NUM_THREADS");
  EXPECT_EQ(MeantSetting("MLMARGIN_TRAGET"), "MLMARGIN_TARGET");
  EXPECT_EQ(MeantSetting("MLMARGIN_DEVICES_COUNT"), "MLMARGIN_DEVICE_COUNT");
  EXPECT_EQ(MeantSetting("MLMARGIN_RACECHEK"), "MLMARGIN_RACE_CHECK");  // Two letters.
  EXPECT_EQ(MeantSetting("MLMARGIN_RACHEK"), "");                       // Four.
  EXPECT_EQ(MeantSetting("MLMARGIN_FOO"), "");                          // Three of three.
  EXPECT_EQ(MeantSetting("MLMARGIN_"), "");
  EXPECT_EQ(MeantSetting("MLMARGIN_COLOUR"), "");
  EXPECT_EQ(MeantSetting("MLMARGIN_HOMES"), "");  // Not of the libraries.
  EXPECT_EQ(MeantSetting(std::string(1000, 'M')), "");
}

TEST(UnknownVariablesDeathTest, AreNamedOnceAtTheFirstCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MLMARGIN_NUM_THREAD", "1", 1);
        setenv("MLMARGIN_COLOUR\x1b[31m", "red", 1);
        setenv("MLMARGIN_NUM_THREADS", "1", 1);
        setenv("MLMARGIN_HOME", "/", 1);
        setenv("OTHER_MLMARGIN_THREADS", "1", 1);
        NumThreads();
        GetLabelCheck();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0),
      "^mlmargin: the environment variable MLMARGIN_NUM_THREAD is no setting and does nothing; did "
      "you mean MLMARGIN_NUM_THREADS.\n"
      "mlmargin: the environment variable MLMARGIN_COLOUR.x1b.31m is no setting and does "
      "nothing.\n$");
}

}  // namespace
}  // namespace mlmargin
