import { createHash } from "node:crypto";
import type { ConfigSource } from "../../lib/platform/ports/config-source.ts";

export interface TextSource extends ConfigSource {
  /** What is read from now on; undefined: there is no config. */
  write(text: string | undefined): void;
}

/** A config that the test writes. */
export const createTextSource = (first?: string): TextSource => {
  let text = first;
  return {
    name: "test.yaml",
    read: async () =>
      text === undefined
        ? undefined
        : { text, version: createHash("sha256").update(text).digest("hex").slice(0, 8) },
    write(next) {
      text = next;
    },
  };
};
