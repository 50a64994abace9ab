import type { Emulator } from "./emulator.ts";
import { startMinistack } from "./ministack.ts";

/**
 * MiniStack from its Docker image, on the network of this machine: the functions that it runs have to
 * reach the provider's service, which listens on 127.0.0.1. So this is for Linux.
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
