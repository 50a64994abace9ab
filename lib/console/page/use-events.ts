import { useEffect, useRef, useState } from "preact/hooks";
import type { StreamedEvent } from "../../admin/event-stream.ts";

/** Rows that a tab keeps, so that it stays small over a day of events. */
export const MAX_ROWS = 200;
/** Rows are drawn together, so that a burst of events draws the page once. */
const DRAW_MS = 200;

export interface EventRow extends StreamedEvent {
  /** Continues the stream after this event. */
  readonly cursor: string;
}

export interface EventLog {
  /** The newest first. */
  readonly rows: readonly EventRow[];
  /** `lost`: the browser tries again; `refused`: it does not. */
  readonly state: "connecting" | "open" | "lost" | "refused";
  /** Events that were missed; `unknown`: perhaps some. */
  readonly missed: number | "unknown" | undefined;
}

const EMPTY: EventLog = { rows: [], state: "connecting", missed: undefined };

/** A stage sends some events again to a reader that comes back. */
const isNewIn = (rows: readonly EventRow[]) => {
  const ids = new Set(rows.map(({ id }) => id));
  return ({ id }: EventRow): boolean => !ids.has(id);
};

/**
 * The events of a stream, while the page is visible and not paused. Continues after the last one.
 * @param path of the stream with its filters; another path starts anew
 */
export const useEvents = (path: string, isPaused: boolean): EventLog => {
  const [log, setLog] = useState<EventLog & { path: string }>({ ...EMPTY, path });
  const [isVisible, setVisible] = useState(document.visibilityState === "visible");
  const last = useRef<{ path: string; cursor: string }>(undefined);
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  useEffect(() => {
    if (isPaused || !isVisible) return;
    const change = (next: (old: EventLog) => Partial<EventLog>): void =>
      setLog((found) => {
        const old = found.path === path ? found : { ...EMPTY, path };
        return { ...old, ...next(old) };
      });
    const after = last.current?.path === path ? last.current.cursor : undefined;
    const source = new EventSource(
      after === undefined ? path : `${path}&after=${encodeURIComponent(after)}`,
    );
    let fresh: EventRow[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      timer = undefined;
      const newest = fresh.toReversed();
      fresh = [];
      change(({ rows, state }) => ({
        rows: [...newest.filter(isNewIn(rows)), ...rows].slice(0, MAX_ROWS),
        state: source.readyState === EventSource.OPEN ? "open" : state,
      }));
    };
    // Drawn with the first events, so that the page does not say that there are none.
    source.onopen = () => {
      timer ??= setTimeout(draw, DRAW_MS);
    };
    source.onerror = () =>
      change(() => ({ state: source.readyState === EventSource.CLOSED ? "refused" : "lost" }));
    source.onmessage = ({ data, lastEventId: cursor }) => {
      last.current = { path, cursor };
      fresh.push({ ...(JSON.parse(data) as StreamedEvent), cursor });
      if (fresh.length > MAX_ROWS) fresh.shift();
      timer ??= setTimeout(draw, DRAW_MS);
    };
    source.addEventListener("idle", ({ lastEventId: cursor }) => {
      last.current = { path, cursor };
    });
    source.addEventListener("gap", ({ data }) => {
      const { missed } = JSON.parse(data) as { missed?: number };
      change((old) => ({
        missed:
          missed === undefined || old.missed === "unknown" ? "unknown" : (old.missed ?? 0) + missed,
      }));
    });
    return () => {
      source.close();
      clearTimeout(timer);
      if (fresh.length > 0) draw();
    };
  }, [path, isPaused, isVisible]);
  return log.path === path ? log : EMPTY;
};
