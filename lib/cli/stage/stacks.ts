import type { ResourceChange } from "./change-set.ts";

export interface Stack {
  /** CloudFormation's status, such as `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export interface StackEvent {
  readonly id: string;
  readonly logicalId: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string | undefined;
}

export type ChangeSet =
  | { readonly kind: "pending" }
  | { readonly kind: "empty" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "ready"; readonly changes: readonly ResourceChange[] };

/** A bucket for zips. */
export interface ZipBucket {
  readonly name: string;
  /** AWS account that must own the bucket of an upload; undefined: the owner is not checked. */
  readonly owner: string | undefined;
}

export interface NewChangeSet {
  readonly stackName: string;
  readonly name: string;
  /** Whether it creates the stack. */
  readonly isNew: boolean;
  /** The text of a small template, or the object of a large one. */
  readonly template: { readonly text: string } | { readonly bucket: string; readonly key: string };
  readonly tags: Readonly<Record<string, string>>;
}

/** What a deployment needs of AWS. Each method throws the SDK's error. */
export interface Stacks {
  /** Undefined if there is no such stack. */
  find(stackName: string): Promise<Stack | undefined>;
  /** The bucket of the zips that the stack created; undefined if it has none. */
  ownBucket(stackName: string): Promise<ZipBucket | undefined>;
  /** The SSM parameters that do not exist. Reads no decrypted value. */
  missingParameters(names: readonly string[]): Promise<readonly string[]>;
  /** Writes an object; replaces an earlier one of the key. */
  upload(bucket: ZipBucket, key: string, bytes: Uint8Array): Promise<void>;
  createChangeSet(changeSet: NewChangeSet): Promise<void>;
  changeSet(stackName: string, name: string): Promise<ChangeSet>;
  removeChangeSet(stackName: string, name: string): Promise<void>;
  /** Removes a stack that has no resources yet, because its first change set was never executed. */
  removeEmptyStack(stackName: string): Promise<void>;
  execute(stackName: string, name: string): Promise<void>;
  /** The events after a given one, the oldest first; all without one. */
  eventsAfter(stackName: string, id: string | undefined): Promise<readonly StackEvent[]>;
}
