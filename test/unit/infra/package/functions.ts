import {
  aiTaskSettingsSchema,
  commandSettingsSchema,
  configSettingsSchema,
  intakeSettingsSchema,
  priceSettingsSchema,
} from "../../../../functions/settings.ts";

/** The properties that only run-commands and poll-tasks have. */
export const COMMAND_FUNCTIONS = [
  {
    name: "run-commands",
    id: "RunDashcommandsLambdaFunction",
    settings: commandSettingsSchema,
    role: "RunCommandsRole",
    queue: "CommandQueue",
  },
  {
    name: "poll-tasks",
    id: "PollDashtasksLambdaFunction",
    settings: commandSettingsSchema,
    role: "PollTasksRole",
    queue: "WakeQueue",
  },
] as const;

/** Functions that send requests to the provider. */
const ASKING_FUNCTIONS = [
  ...COMMAND_FUNCTIONS,
  {
    name: "sync-thresholds",
    id: "SyncDashthresholdsLambdaFunction",
    settings: configSettingsSchema,
    role: "SyncThresholdsRole",
  },
  {
    name: "snapshot-prices",
    id: "SnapshotDashpricesLambdaFunction",
    settings: priceSettingsSchema,
    role: "SnapshotPricesRole",
  },
  {
    name: "watch-ai-tasks",
    id: "WatchDashaiDashtasksLambdaFunction",
    settings: aiTaskSettingsSchema,
    role: "WatchAiTasksRole",
  },
] as const;

export const FUNCTIONS = [
  {
    name: "intake",
    id: "IntakeLambdaFunction",
    settings: intakeSettingsSchema,
    role: "IntakeRole",
    queue: "RequestQueue",
  },
  ...ASKING_FUNCTIONS,
] as const;
