import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  DeadLetterList,
  DeadLetterOutcome,
  Explanation,
  Session,
} from "../../admin/answers.ts";
import { type ApiError, get, post } from "./api.ts";
import { Dialog, ErrorNote, Table, Time } from "./parts.tsx";

const RedriveDialog = (props: {
  letter: Explanation;
  onClose: () => void;
  onDone: (text: string) => void;
}): JSX.Element => {
  const { letter } = props;
  const [error, setError] = useState<ApiError>();
  const redrive = async (): Promise<void> => {
    try {
      const ids = [letter.messageId];
      const outcomes = await post<readonly DeadLetterOutcome[]>("/dead-letters/redrive", { ids });
      const [{ outcome, why } = { outcome: "not-found", why: undefined }] = outcomes;
      props.onDone(why === undefined ? outcome : `${outcome}: ${why}`);
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  return (
    <Dialog title="Send this message back?" onClose={props.onClose}>
      <p>{letter.what}</p>
      <p>{letter.redrive}</p>
      {error && <ErrorNote error={error} />}
      <div class="actions">
        <button type="button" onClick={redrive}>
          Send it back
        </button>
        <button type="button" class="quiet" onClick={props.onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
};

const noneText = (unread: number): string =>
  unread === 0
    ? "None found."
    : `None found, but about ${unread} more dead letters could not be read now.`;

/** Looks on request for dead letters of one command, because reading them changes their receive count. */
export const LostMessage = (props: {
  sender: string;
  commandId: string;
  session: Session;
  onChange: () => void;
}): JSX.Element => {
  const { sender, commandId, session, onChange } = props;
  const [found, setFound] = useState<readonly Explanation[]>();
  /** Dead letters that could not be read, about. */
  const [unread, setUnread] = useState(0);
  const [error, setError] = useState<ApiError>();
  const [chosen, setChosen] = useState<Explanation>();
  const [done, setDone] = useState<string>();
  const look = async (): Promise<void> => {
    try {
      const { deadLetters, more } = await get<DeadLetterList>("/dead-letters");
      setError(undefined);
      setDone(undefined);
      setUnread(more);
      setFound(
        deadLetters.filter((each) => each.commandId === commandId && each.sender === sender),
      );
    } catch (failure) {
      setError(failure as ApiError);
    }
  };
  const finish = (text: string): void => {
    setChosen(undefined);
    setFound(undefined);
    setDone(text);
    onChange();
  };
  return (
    <section>
      <h2>Dead letters</h2>
      <p class="muted">
        A message that a function failed to handle ten times waits there for an operator.
        {session.kind === "stage" &&
          " Reading raises the receive count of every dead letter and hides it for a moment."}
      </p>
      <button type="button" class="quiet" onClick={look}>
        Look for dead letters of this command
      </button>
      <p role="status">{done ?? (found?.length === 0 ? noneText(unread) : "")}</p>
      {error && <ErrorNote error={error} />}
      {found && found.length > 0 && (
        <Table
          label="Dead letters"
          heads={["since", "message", "state", "action"]}
          rows={found.map((letter) => ({
            key: letter.messageId,
            cells: [
              <Time at={letter.cameAt} />,
              letter.what,
              letter.standing,
              session.allowsChanges && (
                <button type="button" onClick={() => setChosen(letter)}>
                  Redrive …
                </button>
              ),
            ],
          }))}
        />
      )}
      {chosen && (
        <RedriveDialog letter={chosen} onClose={() => setChosen(undefined)} onDone={finish} />
      )}
    </section>
  );
};
