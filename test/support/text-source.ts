import { createHash } from "node:crypto";
import type { ConfigSource } from "../../lib/platform/ports/config-source.ts";

export interface TextSource extends ConfigSource {
  /** Text of the config from now on; undefined for a missing config. */
  write(text: string | undefined): void;
}

/** A config source with a text of the test. */
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
