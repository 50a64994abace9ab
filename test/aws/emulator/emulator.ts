import { spawnSync } from "node:child_process";
import { findPython, PINNED } from "../../../infra/python-tools.mjs";
import { startFromPython } from "./from-python.ts";
import { startInDocker } from "./in-docker.ts";

/** An AWS emulator that answers. */
export interface Emulator {
  readonly endpoint: string;
  /** What runs there, for whoever reads the output. */
  readonly what: string;
  stop(): Promise<void>;
}

const given = async (endpoint: string): Promise<Emulator> => {
  const { hostname } = new URL(endpoint);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) {
    throw new Error(
      `AWS_ENDPOINT_URL is ${endpoint}: these tests deploy, break and remove, so only an emulator on this machine will do`,
    );
  }
  await fetch(endpoint).catch(() => {
    throw new Error(`nothing answers at ${endpoint}, which AWS_ENDPOINT_URL names`);
  });
  return { endpoint, what: "AWS_ENDPOINT_URL", stop: async () => undefined };
};

/**
 * The emulator that is given by AWS_ENDPOINT_URL; or MiniStack, from its Python package or, where there
 * is no Python, its Docker image.
 * @throws Error when there is none of the three, or it does not answer
 */
export const startEmulator = async (): Promise<Emulator> => {
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (endpoint) return given(endpoint);
  if (findPython() !== undefined) return startFromPython();
  if (spawnSync("docker", ["info"]).status === 0) return startInDocker(PINNED.ministack);
  throw new Error(
    "there is neither Python 3.10 or newer nor Docker to run an AWS emulator with, and no AWS_ENDPOINT_URL",
  );
};
