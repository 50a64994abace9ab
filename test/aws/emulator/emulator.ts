import { spawnSync } from "node:child_process";
import { findPython, PINNED } from "../../../infra/python-tools.mjs";
import { startFromPython } from "./from-python.ts";
import { startInDocker } from "./in-docker.ts";

/** A running AWS emulator. */
export interface Emulator {
  readonly endpoint: string;
  /** Its kind and version, for the output. */
  readonly what: string;
  stop(): Promise<void>;
}

const given = async (endpoint: string): Promise<Emulator> => {
  const { hostname } = new URL(endpoint);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) {
    throw new Error(
      `AWS_ENDPOINT_URL=${endpoint}: must be an emulator on this machine, because these tests create, break and delete resources`,
    );
  }
  await fetch(endpoint).catch(() => {
    throw new Error(
      `AWS_ENDPOINT_URL=${endpoint}: no answer; start the emulator, or unset the variable to start MiniStack`,
    );
  });
  return { endpoint, what: "AWS_ENDPOINT_URL", stop: async () => undefined };
};

/**
 * The emulator at AWS_ENDPOINT_URL, or MiniStack from its Python package, or without Python from its Docker image.
 * @throws Error if none of the three is available, or it does not answer
 */
export const startEmulator = async (): Promise<Emulator> => {
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (endpoint) return given(endpoint);
  if (findPython() !== undefined) return startFromPython();
  if (spawnSync("docker", ["info"]).status === 0) return startInDocker(PINNED.ministack);
  throw new Error(
    "no AWS emulator: install Python 3.10 or newer or Docker, or set AWS_ENDPOINT_URL",
  );
};
