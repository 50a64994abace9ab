/** Every environment variable that `skyhook` reads, for the code, the help and docs/reference/cli.md. */
export const ENVIRONMENT = {
  SKYHOOK_ENDPOINT: "Address of the running Skyhook, for every command with `--endpoint`.",
  SKYHOOK_TOKEN:
    "Token of the running Skyhook. Default: the token of your own run at that address, from its file in `$XDG_STATE_HOME/skyhook/runs`.",
  SKYHOOK_API_KEY:
    "API key of the provider, for `start --base-url`, `read` and `thresholds`. No option has it, so that no process list shows it.",
  SKYHOOK_BASE_URL:
    "Address of the provider's API, for `read` and `thresholds`. `start` reads only `--base-url`.",
  SKYHOOK_CONTROL_TOKEN:
    "Token for `/_skyhook/`, the controls of the service, for `service --control` and `start --control`. Default: a new one, in a file of `$XDG_STATE_HOME/skyhook/control`.",
  XDG_STATE_HOME:
    "Folder of `skyhook/runs`, which holds address and token of each `skyhook start`, and of `skyhook/control`. Default: `~/.local/state`.",
  AWS_PROFILE: "Credentials for `--stage` and `--api-key-parameter`, as in every AWS SDK.",
  AWS_REGION: "Region of the stage.",
  AWS_ENDPOINT_URL: "Address of an AWS emulator, instead of AWS.",
  COLUMNS: "Width of a terminal that does not report one. Default: 80.",
  TERM: "`dumb` and `linux` get no line of blocks in `prices history`.",
  NO_COLOR: "If set, the output has no colours.",
} as const;

/** The environment of the process; a variable without an entry in `ENVIRONMENT` cannot be read. */
export type Environment = Readonly<Partial<Record<keyof typeof ENVIRONMENT, string | undefined>>>;
