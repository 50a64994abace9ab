import type { JsonValue } from "../platform/ports/ledger.ts";

export type MapChange =
  | { readonly kind: "put"; readonly key: string; readonly value: JsonValue }
  | { readonly kind: "delete"; readonly key: string };

/** What one local adapter must not forget. The adapter keeps its state in memory and reads once. */
export interface DurableMap {
  /** Everything that is stored, in the order of the keys. */
  load(): Promise<readonly (readonly [key: string, value: unknown])[]>;
  /**
   * All changes or none. Resolves when they outlive the death of this process, by kill -9 too. A power
   * cut takes back deletions alone: changes that put a value outlive it with all that came before.
   */
  write(changes: readonly MapChange[]): Promise<void>;
}

/** One place that holds several maps, each under its own name. */
export interface DurableStore {
  map(name: string): DurableMap;
  close(): Promise<void>;
}
