import type { FilledForm } from "../../admin/command-line.ts";
import type { OperationForm } from "../../admin/forms.ts";
import { TIME_SPAN, timeSpanMs } from "../../contract/time-span.ts";
import type { Values } from "./form-fields.tsx";

/** The values of a form. */
export interface Draft {
  readonly params: Values;
  readonly query: Values;
  readonly body?: Values | undefined;
  /** Fields of every command, such as the account. */
  readonly common: Values;
}

/** The form as the command line takes it: a time span stays a time span. */
export const filledOf = (
  form: OperationForm,
  { params, query, body = {}, common }: Draft,
): FilledForm => ({ params, query, ...(form.body && { body }), ...common });

interface Ids {
  readonly id: string;
  readonly commandId: string;
  readonly correlationId: string;
}

/**
 * The detail of a `CommandRequested`.
 * @param now epoch ms, from which a time span counts
 * @param ids absent: only to check the form, with the id that the user typed
 */
export const detailOf = (
  form: OperationForm,
  draft: Draft,
  { now, ids, dryRun }: { readonly now: number; readonly ids?: Ids; readonly dryRun: boolean },
) => {
  const { commandId, deadline, ...data } = filledOf(form, draft);
  const at =
    deadline !== undefined && TIME_SPAN.test(deadline)
      ? new Date(now + timeSpanMs(deadline)).toISOString()
      : deadline;
  return {
    metadata: ids ?? (commandId === undefined ? {} : { commandId }),
    data: {
      operation: form.id,
      ...data,
      ...(at !== undefined && { deadline: at }),
      ...(dryRun && { dryRun }),
    },
  };
};
