import type { VirtualClock } from "../../../support/virtual-clock.ts";

/** Prefix of every API key of the account. It may appear in headers of requests only. */
export const API_KEY = "key-canary-9e31c0de5eed0c0de";

/** The API key at the provider, and our stored copy. */
export interface ApiKeys {
  /** The key that the provider accepts. */
  accepted(): string;
  /** The key in our store of secrets. */
  stored(): string;
  /** Number of replacements so far. */
  replacements(): number;
  /** The provider accepts only a new key from now on; our copy is replaced after `lateMs`. */
  replace(lateMs: number): void;
}

export const createApiKeys = (timeline: VirtualClock): ApiKeys => {
  let replaced = 0;
  let accepted = API_KEY;
  let stored = API_KEY;
  return {
    accepted: () => accepted,
    stored: () => stored,
    replacements: () => replaced,
    replace(lateMs) {
      replaced += 1;
      accepted = `${API_KEY}-${replaced}`;
      timeline.after(lateMs, () => {
        stored = accepted;
      });
    },
  };
};
