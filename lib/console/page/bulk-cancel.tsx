import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { BulkPage, BulkRow } from "../../admin/bulk-cancel.ts";
import { type ApiError, get, post, withQuery } from "./api.ts";
import { Dialog, ErrorNote, Table } from "./parts.tsx";

type Filters = Readonly<Record<string, string>>;

/** What a cancellation would do, or has done, by kind of answer. */
const FORESEEN = new Map([
  ["stopped", "will be cancelled"],
  ["unknown-outcome", "will end as failed (unknown-outcome): a request may have taken effect"],
  ["under-way", "have a request in flight: left alone now, try again later"],
  ["following", "stay: the provider works on their tasks"],
  ["ended", "have ended"],
  ["rejected", "never became commands"],
  ["unreadable", "cannot be read by this version"],
  ["error", "cannot be read now"],
]);
const DONE = new Map([
  ...FORESEEN,
  ["stopped", "are cancelled"],
  ["unknown-outcome", "ended as failed (unknown-outcome): a request may have taken effect"],
  ["error", "failed: try again"],
]);

const effectOf = ({ cancel }: BulkRow): string =>
  cancel.kind === "stopped" && cancel.status === "failed" ? "unknown-outcome" : cancel.kind;

interface Progress {
  readonly counts: ReadonlyMap<string, number>;
  readonly until: string;
  readonly isWhole: boolean;
}

const NOTHING: Progress = { counts: new Map(), until: "", isWhole: false };

const countsWith = (counts: Progress["counts"], rows: readonly BulkRow[]): Progress["counts"] => {
  const next = new Map(counts);
  for (const effect of rows.map(effectOf)) next.set(effect, (next.get(effect) ?? 0) + 1);
  return next;
};

/** Reads page by page to the end of the list. The first page bounds all: newer commands are left alone. */
async function* pagesOf(
  read: (query: Filters) => Promise<BulkPage>,
  filters: Filters,
): AsyncGenerator<Progress> {
  let progress = NOTHING;
  let query: Filters | undefined = filters;
  while (query) {
    const { rows, until, cursor }: BulkPage = await read(query);
    const isWhole = cursor === undefined;
    progress = { counts: countsWith(progress.counts, rows), until, isWhole };
    yield progress;
    query = isWhole ? undefined : { ...filters, until, cursor };
  }
}

const Counts = (props: { progress: Progress; texts: ReadonlyMap<string, string> }): JSX.Element => (
  <Table
    label="Effect"
    heads={["commands", "effect"]}
    rows={[...props.texts]
      .filter(([kind]) => props.progress.counts.has(kind))
      .map(([kind, text]) => ({ key: kind, cells: [props.progress.counts.get(kind), text] }))}
  />
);

const BulkDialog = (props: { filters: Filters; onClose: () => void }): JSX.Element => {
  const { filters, onClose } = props;
  const [step, setStep] = useState<"preview" | "cancelling">("preview");
  const [progress, setProgress] = useState(NOTHING);
  const [error, setError] = useState<ApiError>();
  const ending = useRef(new AbortController());
  const run = async (pages: AsyncGenerator<Progress>): Promise<void> => {
    const { signal } = ending.current;
    try {
      for await (const next of pages) {
        if (signal.aborted) return;
        setProgress(next);
      }
    } catch (failure) {
      if (!signal.aborted) setError(failure as ApiError);
    }
  };
  useEffect(() => {
    const { signal } = ending.current;
    const preview = (query: Filters) =>
      get<BulkPage>(withQuery("/commands/cancel/preview", query), signal);
    void run(pagesOf(preview, filters));
    return () => ending.current.abort();
  }, []);
  const cancel = (): void => {
    const bounded = { ...filters, until: progress.until };
    setStep("cancelling");
    setProgress(NOTHING);
    void run(pagesOf((query) => post<BulkPage>("/commands/cancel", query), bounded));
  };
  const countOf = (effect: string): number => progress.counts.get(effect) ?? 0;
  const targets = countOf("stopped") + countOf("unknown-outcome");
  const isDone = step === "cancelling" && (progress.isWhole || error !== undefined);
  return (
    <Dialog title="Cancel matching commands" onClose={onClose}>
      <p>
        Filters:{" "}
        {Object.entries(filters)
          .map(([name, value]) => `${name} ${value}`)
          .join(", ")}
      </p>
      {progress.counts.size > 0 && (
        <Counts progress={progress} texts={step === "preview" ? FORESEEN : DONE} />
      )}
      <p role="status">
        {error === undefined && !progress.isWhole && "Reading the list …"}
        {progress.isWhole && progress.counts.size === 0 && "No command matches."}
        {isDone && error === undefined && "Done."}
      </p>
      {step === "preview" && (
        <p class="muted">
          Cancelled commands send nothing more; commands that were to run after them are cancelled
          too. Commands accepted after this preview stay.
        </p>
      )}
      {error && <ErrorNote error={error} />}
      <div class="actions">
        {step === "preview" && targets > 0 && (
          <button type="button" onClick={cancel} disabled={!progress.isWhole}>
            Cancel {targets} {targets === 1 ? "command" : "commands"}
          </button>
        )}
        <button type="button" class="quiet" onClick={onClose}>
          {step === "preview" ? "Change nothing" : isDone ? "Close" : "Stop"}
        </button>
      </div>
    </Dialog>
  );
};

/** Cancels every command that matches the filters of the list, after a preview. Absent without a filter. */
export const BulkCancel = ({ filters }: { filters: Filters }): JSX.Element | null => {
  const [isOpen, setOpen] = useState(false);
  const { until: _, ...narrowing } = filters;
  if (Object.keys(narrowing).length === 0) return null;
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Cancel matching …
      </button>
      {isOpen && <BulkDialog filters={filters} onClose={() => setOpen(false)} />}
    </>
  );
};
