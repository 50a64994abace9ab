import { createHmac, hash } from "node:crypto";
import * as z from "zod";
import { PROJECT_A, PROJECT_B } from "./fields.ts";

/** An API key as the provider knows it: never the key, only its SHA-256 in lower-case hex. */
export const keyRecord = z.strictObject({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "SHA-256 of a key in lower-case hex" }),
  client_id: z.int(),
  user_id: z.int(),
  project_ids: z.array(z.int()),
  revoked: z.boolean(),
});

export type KeyRecord = z.output<typeof keyRecord>;

/** The only form in which the service keeps a key: SHA-256 in lower-case hex. */
export const hashApiKey = (apiKey: string): string => hash("sha256", apiKey, "hex");

export interface BuiltInKeys {
  readonly first: string;
  /** The key of another client with an empty project, to see that clients are kept apart. */
  readonly second: string;
}

/**
 * Published keys, valid for the built-in state of a run in memory, on this machine, only. A run that
 * keeps data replaces them by keys of its own, `createBuiltInKeys`.
 */
export const BUILT_IN_API_KEYS = {
  first: "2001_5eed0c0de5eed0c0de5eed0c0de00001",
  second: "2002_5eed0c0de5eed0c0de5eed0c0de00002",
} as const satisfies BuiltInKeys;

/** Derives keys in the provider's form from a secret. */
export const createBuiltInKeys = (secret: string): BuiltInKeys => {
  const keyOf = (id: string): string => {
    const digest = createHmac("sha256", secret).update(`built-in API key ${id}`).digest("hex");
    return `${id}_${digest.slice(0, 32)}`;
  };
  return { first: keyOf("2001"), second: keyOf("2002") };
};

/** Replaces a published built-in key by the run's own. */
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
