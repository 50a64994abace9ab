import type { RequestData } from "./requests.ts";

/** That somebody wants a command, however they say so. */
export interface Asking {
  readonly sender: string;
  readonly commandId: string;
  readonly data: RequestData;
  /** When it was made, if it says so. */
  readonly time?: string;
  /** Of one that has to be rejected: as what. */
  readonly rejectedAs?: string;
}

/** What is done in order to have a run of its own course. */
export type Deed =
  /** A `CommandRequested` on the bus, or its detail on the queue, as our own AWS account may. */
  | { readonly kind: "request"; readonly way: "bus" | "queue" }
  /** An event of another system, for which there is a reaction. */
  | { readonly kind: "invoice" }
  /** A `TaskFollowRequested` for the first task of that command, or for one that nobody knows. */
  | { readonly kind: "follow"; readonly startedBy: string }
  /** A `CommandRequested` in the name of Skyhook itself. */
  | { readonly kind: "forgery"; readonly sender: string; readonly data: RequestData }
  /** A message that nobody understands. */
  | { readonly kind: "rubbish" }
  /** A person wants a command to end, by its key. */
  | { readonly kind: "cancel"; readonly command: string }
  /**
   * A person finds out about every outcome that is unknown from now on; one who is careless says so of
   * every outcome, and then the contrary.
   */
  | {
      readonly kind: "resolve";
      readonly applied: boolean;
      readonly isCareless: boolean;
      readonly lateMs: number;
    }
  /** Somebody changes a tag that guards look at. */
  | { readonly kind: "new tag" }
  /** The provider takes another API key from now on; ours is replaced after `lateMs`. */
  | { readonly kind: "new key"; readonly lateMs: number };

/** Something that somebody does in a run. */
export interface Input {
  /** Tells it from the others of the run. Of an event, its id. */
  readonly id: string;
  /** After the beginning. */
  readonly afterMs: number;
  readonly deed: Deed;
  /** Of those that ask for a command: for which. */
  readonly asking?: Asking;
}

/** An input that asks for a command. */
export interface Asked extends Input {
  readonly asking: Asking;
}

/** Key of a command in the ledger. */
export const keyOf = ({ sender, commandId }: Pick<Asking, "sender" | "commandId">): string =>
  `${sender}/${commandId}`;

/** The commands that inputs ask for. */
export const askingsOf = (inputs: readonly Input[]): readonly Asking[] =>
  inputs.flatMap(({ asking }) => (asking ? [asking] : []));

export const REACTION = "resume-when-paid";
/** Named by whoever follows a task that is not there. */
export const UNKNOWN_TASK = "00000000-0000-4000-8000-000000000000";

/** Whether it may meet the thresholds of a config. */
export const isOnStorageEvent = ({ asking }: Input): boolean =>
  asking?.data.operation.endsWith("storage-event") ?? false;
