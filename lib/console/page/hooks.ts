import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { OpenWork } from "../../admin/open.ts";
import { type ApiError, get, refreshMs } from "./api.ts";

export interface Route {
  /** Decoded segments of the hash: `#/commands/x` gives `commands` and `x`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const readRoute = (): Route => {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const segments = path.split("/").filter((segment) => segment !== "");
  return { path: segments.map(decoded), query: new URLSearchParams(query) };
};

/** A hash for a link: `linkTo(["commands", id])`. */
export const linkTo = (
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
};

export const useRoute = (): Route => {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const update = () => setRoute(readRoute());
    addEventListener("hashchange", update);
    // The hash may have changed between the first render and this effect.
    update();
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
};

export interface Loaded<T> {
  /** The newest answer; stays while a later read fails. */
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

/**
 * Reads at once, and again every `everyMs` while the page is visible.
 * @param key names what is read; another key starts anew, without the old data
 * @param everyMs undefined: only once, and on `reload`
 */
export const useLoaded = <T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  everyMs?: number,
): Loaded<T> => {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>({ key });
  const [asked, setAsked] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    const load = async (): Promise<void> => {
      isReading = true;
      try {
        const data = await latest.current(ending.signal);
        if (!ending.signal.aborted) setState({ key, data });
      } catch (error) {
        if (ending.signal.aborted) return;
        setState((old) => ({ ...(old.key === key ? old : { key }), error: error as ApiError }));
      }
      isReading = false;
      const isShown = document.visibilityState === "visible" && !ending.signal.aborted;
      if (everyMs !== undefined && isShown) timer = setTimeout(load, everyMs);
    };
    /** A hidden page reads nothing; one that reads by itself does so at once when it is shown again. */
    const onVisibility = (): void => {
      clearTimeout(timer);
      const isShown = document.visibilityState === "visible";
      if (everyMs !== undefined && isShown && !isReading) void load();
    };
    void load();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      ending.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [key, everyMs, asked]);
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload,
  };
};

/** Events that come together, such as all of a command's end, cause one read. */
const TOGETHER_MS = 300;

/**
 * Calls `onNews` soon after events on the bus of a local run. A stage has no live events.
 * @param onNews must stay the same function, as the `reload` of `useLoaded` does
 */
export const useNews = (session: Session, onNews: () => void): void => {
  const isLive = session.kind === "local" && session.features.includes("events");
  useEffect(() => {
    if (!isLive) return;
    let stream: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const notice = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        onNews();
      }, TOGETHER_MS);
    };
    const close = (): void => {
      stream?.close();
      stream = undefined;
      clearTimeout(timer);
      timer = undefined;
    };
    // A browser opens six connections to one host: a hidden page must not keep one of them.
    const follow = (): void => {
      close();
      if (document.visibilityState === "hidden") return;
      stream = new EventSource("/events/stream");
      stream.addEventListener("message", notice);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      close();
      document.removeEventListener("visibilitychange", follow);
    };
  }, [isLive, onNews]);
};

/** Held lanes and followed tasks, live. */
export const useOpenWork = (session: Session): Loaded<OpenWork> => {
  const read = (signal: AbortSignal) => get<OpenWork>("/open", signal);
  const loaded = useLoaded("open", read, refreshMs(session));
  useNews(session, loaded.reload);
  return loaded;
};
