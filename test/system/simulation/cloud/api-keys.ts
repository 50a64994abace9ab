import type { Timeline } from "../engine/timeline.ts";

/** Begins every key of the account at the provider, which are nowhere but in the headers of requests. */
export const API_KEY = "key-canary-9e31c0de5eed0c0de";

/** The API key as the provider and as we have it. */
export interface ApiKeys {
  /** The one that the provider takes. */
  accepted(): string;
  /** The one in our store of secrets. */
  stored(): string;
  /** How often it has been replaced. */
  replacements(): number;
  /** The provider takes another one from now on; ours is replaced after `lateMs`. */
  replace(lateMs: number): void;
}

export const createApiKeys = (timeline: Timeline): ApiKeys => {
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
