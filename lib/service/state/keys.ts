import { createHmac, hash } from "node:crypto";
import * as z from "zod";
import { PROJECT_A, PROJECT_B } from "./fields.ts";

/** An API key: its SHA-256 in lower-case hex, never the key itself, and the projects that it opens. */
export const keyRecord = z.strictObject({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "SHA-256 of a key in lower-case hex" }),
  client_id: z.int(),
  user_id: z.int(),
  project_ids: z.array(z.int()),
  revoked: z.boolean(),
});

export type KeyRecord = z.output<typeof keyRecord>;

/** SHA-256 of a key in lower-case hex, the only form in which the service stores a key. */
export const hashApiKey = (apiKey: string): string => hash("sha256", apiKey, "hex");

export interface BuiltInKeys {
  readonly first: string;
  /** Key of another client with an empty project, to test that clients are isolated. */
  readonly second: string;
}

/**
 * Published keys of the built-in state. They are valid only on this machine, in a run that keeps its state in
 * memory. A run with a data directory, or that other machines may reach, replaces them by its own keys,
 * `createBuiltInKeys`.
 */
export const BUILT_IN_API_KEYS = {
  first: "2001_5eed0c0de5eed0c0de5eed0c0de00001",
  second: "2002_5eed0c0de5eed0c0de5eed0c0de00002",
} as const satisfies BuiltInKeys;

/** Derives keys in the provider's format from a secret. */
export const createBuiltInKeys = (secret: string): BuiltInKeys => {
  const keyOf = (id: string): string => {
    const digest = createHmac("sha256", secret).update(`built-in API key ${id}`).digest("hex");
    return `${id}_${digest.slice(0, 32)}`;
  };
  return { first: keyOf("2001"), second: keyOf("2002") };
};

/** Replaces a published built-in key by the key of this run. */
export const replaceBuiltInKey = (stored: KeyRecord, own: BuiltInKeys): KeyRecord => {
  if (stored.sha256 === hashApiKey(BUILT_IN_API_KEYS.first)) {
    return { ...stored, sha256: hashApiKey(own.first) };
  }
  return stored.sha256 === hashApiKey(BUILT_IN_API_KEYS.second)
    ? { ...stored, sha256: hashApiKey(own.second) }
    : stored;
};

export const builtInKeys = (): KeyRecord[] => [
  {
    id: "2001",
    sha256: hashApiKey(BUILT_IN_API_KEYS.first),
    client_id: 1,
    user_id: 11,
    project_ids: [PROJECT_A.project_id, PROJECT_B.project_id],
    revoked: false,
  },
  {
    id: "2002",
    sha256: hashApiKey(BUILT_IN_API_KEYS.second),
    client_id: 2,
    user_id: 12,
    project_ids: [1337],
    revoked: false,
  },
];
