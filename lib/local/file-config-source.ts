import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConfigSource } from "../platform/ports/config-source.ts";

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ENOENT" || error.code === "ENOTDIR");

/** A config in a file, which people edit while it is watched. */
export const createFileConfigSource = (path: string): ConfigSource => ({
  name: path,
  async read() {
    try {
      const text = await readFile(path, "utf8");
      return { text, version: createHash("sha256").update(text).digest("hex").slice(0, 16) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
});
