import type { Emulator } from "./emulator.ts";
import { startMinistack } from "./ministack.ts";

/**
 * MiniStack from its Docker image, on the host network: its functions must reach the provider's service, which
 * listens on 127.0.0.1. This works on Linux only.
 */
export const startInDocker = (version: string): Promise<Emulator> =>
  startMinistack(`MiniStack ${version} (Docker)`, (settings) => ({
    command: "docker",
    args: [
      ...["run", "--rm", "--init", "--network", "host"],
      ...Object.entries(settings).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      `ministackorg/ministack:${version}`,
    ],
    env: process.env,
  }));
