import type { ConfigSource } from "../../../../lib/platform/ports/config-source.ts";
import { HANGS, type Sandbox } from "../cloud/sandbox.ts";

/** The config object in the bucket. */
export interface ConfigObjects {
  write(number: number, text: string): void;
  isUsed(): boolean;
  newest(): { readonly text: string; readonly version: string } | undefined;
  /** The newest version, as one machine reads it. */
  readBy(machine: string): ReturnType<ConfigObjects["newest"]>;
  /** The version that a machine read last. */
  lastReadBy(machine: string): string | undefined;
}

export const createConfigObjects = (): ConfigObjects => {
  let newest: ReturnType<ConfigObjects["newest"]>;
  const lastRead = new Map<string, string | undefined>();
  return {
    write(number, text) {
      newest = { text, version: String(number) };
    },
    isUsed: () => newest !== undefined,
    newest: () => newest,
    readBy(machine) {
      lastRead.set(machine, newest?.version);
      return newest;
    },
    lastReadBy: (machine) => lastRead.get(machine),
  };
};

/** The config as a machine reads it; a successful read of S3 always returns the newest version. */
export const hostileConfigSource = (configs: ConfigObjects, sandbox: Sandbox): ConfigSource => ({
  name: "s3://configs/thresholds.yaml",
  read: () =>
    sandbox.call("config.read", ["read fails", ...HANGS], async (kind) => {
      if (kind === "read fails") throw new Error("the config cannot be read");
      return configs.readBy(sandbox.name);
    }),
});
