import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { Dialog, ErrorNote } from "./parts.tsx";

/** A dialog for a change: the failure, the action, and the way back. */
export const DialogForm = (props: {
  title: string;
  action: string;
  back: string;
  onAct: (form: FormData) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element => {
  const [error, setError] = useState<ApiError>();
  const [isActing, setActing] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setActing(true);
    try {
      await props.onAct(new FormData(event.currentTarget as HTMLFormElement));
    } catch (failure) {
      setError(failure as ApiError);
      setActing(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={submit}>
        {props.children}
        {error && <ErrorNote error={error} />}
        <div class="actions">
          <button type="submit" disabled={isActing}>
            {props.action}
          </button>
          <button type="button" class="quiet" onClick={props.onClose}>
            {props.back}
          </button>
        </div>
      </form>
    </Dialog>
  );
};
