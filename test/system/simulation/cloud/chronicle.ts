import type { LogLine } from "../../../support/logs.ts";

/** A mutation's request that left a machine. */
interface Departure {
  readonly at: number;
  readonly sandbox: string;
  /** Key of its command. */
  readonly command: string;
  readonly lane: string;
  /** Whether the machine held the lease of the attempt. */
  readonly isLeased: boolean;
}

/** The provider's reaction to a mutation that arrived. */
interface Effect {
  readonly at: number;
  readonly command: string;
  readonly status: number;
  /** Task ids of its answer. */
  readonly taskIds: readonly string[];
  /** Whether the answer was lost on the way to the machine. */
  readonly isLost: () => boolean;
}

export interface Violation {
  /**
   * Number of the invariant in docs/internals/architecture.md; 0 for any other rule, such as coming
   * to rest.
   */
  readonly invariant: number;
  readonly text: string;
}

/** Facts of a run that the checks need and the system does not keep. */
export interface Chronicle {
  readonly departures: Departure[];
  readonly effects: Effect[];
  /** Command keys by lane, in the order of entering it. */
  readonly entered: Map<string, string[]>;
  /** When a command's end was written, by its key, epoch ms. */
  readonly endedAt: Map<string, number>;
  readonly lines: LogLine[];
  /** When a client changed the tag that guards read, epoch ms. */
  tagChangedAt: number | undefined;
  /** Violations found while the run was under way. */
  readonly violations: Violation[];
  /** Coverage that only an observer of the run sees. */
  readonly met: Set<string>;
  /** Violations only if no fault struck in the whole run. */
  readonly ifCalm: Violation[];
  /** Violations only if nothing but queries of the due index failed. */
  readonly ifIndexLags: Violation[];
}

export const createChronicle = (): Chronicle => ({
  departures: [],
  effects: [],
  entered: new Map(),
  endedAt: new Map(),
  lines: [],
  tagChangedAt: undefined,
  violations: [],
  met: new Set(),
  ifCalm: [],
  ifIndexLags: [],
});
