import type { RequestData } from "./requests.ts";

/** A request for a command, in any form. */
export interface Asking {
  readonly sender: string;
  readonly commandId: string;
  readonly data: RequestData;
  /** Its `metadata.time`, if it has one. */
  readonly time?: string;
  /** The rejection reason that it must get; absent for a valid request. */
  readonly rejectedAs?: string;
}

/** A step of the workload. */
export type Deed =
  /**
   * A `CommandRequested` on the bus, or its detail directly on the queue as our own AWS account may
   * send it.
   */
  | { readonly kind: "request"; readonly way: "bus" | "queue" }
  /** An event of another system with a matching reaction. */
  | { readonly kind: "invoice" }
  /** A `TaskFollowRequested` for the first task of that command, or for an unknown task. */
  | { readonly kind: "follow"; readonly startedBy: string }
  /** A `CommandRequested` under Skyhook's own source. */
  | { readonly kind: "forgery"; readonly sender: string; readonly data: RequestData }
  /** A message that is not JSON. */
  | { readonly kind: "rubbish" }
  /** An operator cancels a command, by its key. */
  | { readonly kind: "cancel"; readonly command: string }
  /**
   * An operator resolves every unknown outcome from now on. A careless operator resolves each outcome
   * twice, the second time with the contrary.
   */
  | {
      readonly kind: "resolve";
      readonly applied: boolean;
      readonly isCareless: boolean;
      readonly lateMs: number;
    }
  /** A client changes a tag that guards read. */
  | { readonly kind: "new tag" }
  /** The provider accepts only a new API key from now on; ours is replaced after `lateMs`. */
  | { readonly kind: "new key"; readonly lateMs: number };

/** One input of the workload. */
export interface Input {
  /** Unique in the run; for an event its id. */
  readonly id: string;
  /** When it happens, ms after the start. */
  readonly afterMs: number;
  readonly deed: Deed;
  /** The requested command, if the input requests one. */
  readonly asking?: Asking;
}

/** An input that requests a command. */
export interface Asked extends Input {
  readonly asking: Asking;
}

/** Key of the requested command in the ledger. */
export const keyOf = ({ sender, commandId }: Pick<Asking, "sender" | "commandId">): string =>
  `${sender}/${commandId}`;

/** The requested commands of the inputs. */
export const askingsOf = (inputs: readonly Input[]): readonly Asking[] =>
  inputs.flatMap(({ asking }) => (asking ? [asking] : []));

export const REACTION = "resume-when-paid";
/** The id of a task that does not exist. */
export const UNKNOWN_TASK = "00000000-0000-4000-8000-000000000000";

/** Whether it may change thresholds that a config manages. */
export const isOnStorageEvent = ({ asking }: Input): boolean =>
  asking?.data.operation.endsWith("storage-event") ?? false;
