import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  DeadLetterList,
  DeadLetterOutcome,
  Explanation,
  Session,
} from "../../admin/answers.ts";
import { get, post } from "./api.ts";
import { DeadLetterBulk } from "./dead-letter-bulk.tsx";
import { Outcomes } from "./dead-letter-outcomes.tsx";
import { DialogForm } from "./dialog-form.tsx";
import { linkTo, useLoaded } from "./hooks.ts";
import { Badge, Empty, ErrorNote, PageHead, Pending, Table, Time } from "./parts.tsx";

const ADVICE: Readonly<Record<Explanation["advice"], string>> = {
  redrive: "redrive it",
  delete: "delete it",
  mend: "remove the cause, then redrive it",
};

const CommandCell = ({ letter }: { letter: Explanation }): JSX.Element => {
  const { sender, commandId, operation, standing } = letter;
  return (
    <>
      {sender !== undefined && commandId !== undefined && (
        <div>
          <a class="id" href={linkTo(["commands", sender, commandId])}>
            {commandId}
          </a>{" "}
          {operation}
        </div>
      )}
      <span class="muted">{standing}</span>
    </>
  );
};

const Effect = ({ letter }: { letter: Explanation }): JSX.Element => (
  <>
    <div>{letter.redrive}</div>
    <strong>{ADVICE[letter.advice]}</strong>
    {(letter.problems ?? []).map(({ path, rule }) => (
      <div key={path + rule} class="muted">
        {path === "" ? rule : `${path}: ${rule}`}
      </div>
    ))}
  </>
);

const Message = ({ letter }: { letter: Explanation }): JSX.Element => (
  <>
    <div>{letter.what}</div>
    <span class="muted">
      queue {letter.queue}, receives: {letter.receiveCount}
    </span>
    {letter.content !== undefined && (
      <details>
        <summary>content, without secrets</summary>
        <pre>{JSON.stringify(letter.content, undefined, 2)}</pre>
      </details>
    )}
  </>
);

const cellsOf = (letter: Explanation) => [
  <Message letter={letter} />,
  <Badge text={letter.diagnosis} />,
  <CommandCell letter={letter} />,
  <Effect letter={letter} />,
  <Time at={letter.cameAt} />,
];

const HEADS = ["message", "diagnosis", "command now", "a redrive", "arrived"];

interface Selecting {
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

const Letters = (props: {
  letters: readonly Explanation[];
  selecting: Selecting | undefined;
}): JSX.Element => {
  const { letters, selecting } = props;
  return (
    <Table
      label="Dead letters"
      heads={selecting ? ["select", ...HEADS] : HEADS}
      rows={letters.map((letter) => ({
        key: letter.messageId,
        cells: [
          ...(selecting
            ? [
                <input
                  type="checkbox"
                  aria-label={`Select ${letter.messageId}`}
                  checked={selecting.chosen.has(letter.messageId)}
                  onChange={() => selecting.toggle(letter.messageId)}
                />,
              ]
            : []),
          ...cellsOf(letter),
        ],
      }))}
    />
  );
};

type Done = readonly DeadLetterOutcome[];

const ActionDialog = (props: {
  kind: "redrive" | "delete";
  ids: readonly string[];
  onDone: (outcomes: Done) => void;
  onClose: () => void;
}): JSX.Element => {
  const { kind, ids, onDone, onClose } = props;
  const act = async (form: FormData): Promise<void> => {
    const force = kind === "delete" ? { force: form.get("force") === "on" } : {};
    onDone(await post<Done>(`/dead-letters/${kind}`, { ids, ...force }));
  };
  const count = ids.length === 1 ? "1 dead letter" : `${ids.length} dead letters`;
  return (
    <DialogForm
      title={kind === "redrive" ? `Redrive ${count}?` : `Delete ${count}?`}
      action={kind === "redrive" ? "Redrive" : "Delete"}
      back="Keep"
      onAct={act}
      onClose={onClose}
    >
      {kind === "redrive" ? (
        <p>Each goes back to its queue. A repeat is safe: Skyhook runs a command once.</p>
      ) : (
        <>
          <p>A request that never became a command is kept, unless you allow its loss.</p>
          <label>
            <input type="checkbox" name="force" /> Delete such requests too; they are lost
          </label>
        </>
      )}
    </DialogForm>
  );
};

const EMPTY: DeadLetterList = { deadLetters: [], more: 0 };

/** Dead letters with their explanation. On a stage they are read only on request. */
export const DeadLettersPage = ({ session }: { session: Session }): JSX.Element => {
  const isStage = session.kind === "stage";
  const [isAsked, setAsked] = useState(!isStage);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<"redrive" | "delete">();
  const [outcomes, setOutcomes] = useState<Done>();
  const { data, error, reload } = useLoaded(`dead-letters ${isAsked}`, async (signal) =>
    isAsked ? get<DeadLetterList>("/dead-letters", signal) : EMPTY,
  );
  const letters = data?.deadLetters ?? [];
  const ids = letters.map(({ messageId }) => messageId).filter((id) => chosen.has(id));
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const finish = (found: Done): void => {
    setDialog(undefined);
    setOutcomes(found);
    setChosen(new Set());
    reload();
  };
  return (
    <>
      <PageHead title="Dead letters">
        <button type="button" class="quiet" onClick={() => (isAsked ? reload() : setAsked(true))}>
          {isAsked ? "Read again" : "Read dead letters"}
        </button>
      </PageHead>
      <p class="muted">Messages that Skyhook could not process, with what a redrive would do.</p>
      {isStage && (
        <p class="note">
          Reading changes the messages: SQS counts each read as a receive, and hides the message
          from other readers for up to a minute. This page therefore reads only on request.
        </p>
      )}
      {session.allowsChanges && <DeadLetterBulk onDone={reload} />}
      {outcomes && <Outcomes label="Result" outcomes={outcomes} />}
      {!data && <Pending error={error} />}
      {data && error && <ErrorNote error={error} />}
      {data && isAsked && letters.length === 0 && data.more === 0 && (
        <Empty>No dead letters: Skyhook could process every message.</Empty>
      )}
      {data && data.more > 0 && (
        <p class="note">About {data.more} more: held by another reader, or behind these.</p>
      )}
      {letters.length > 0 && (
        <>
          {session.allowsChanges && (
            <div class="actions">
              <button
                type="button"
                class="quiet"
                onClick={() => setChosen(new Set(letters.map(({ messageId }) => messageId)))}
              >
                Select all
              </button>
              <button
                type="button"
                disabled={ids.length === 0}
                onClick={() => setDialog("redrive")}
              >
                Redrive {ids.length} …
              </button>
              <button type="button" disabled={ids.length === 0} onClick={() => setDialog("delete")}>
                Delete {ids.length} …
              </button>
            </div>
          )}
          <Letters
            letters={letters}
            selecting={session.allowsChanges ? { chosen, toggle } : undefined}
          />
        </>
      )}
      {dialog && (
        <ActionDialog
          kind={dialog}
          ids={ids}
          onDone={finish}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  );
};
