import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import { type ApiError, get, post, refreshMs } from "./api.ts";
import { useLoaded } from "./hooks.ts";
import { Badge, durationText, ErrorNote, Fact, Time } from "./parts.tsx";
import { type Answer, Answered } from "./provider-records.tsx";

const STEPS = [
  ["10s", "10 s"],
  ["1m", "1 min"],
  ["1h", "1 h"],
  ["1d", "1 d"],
] as const;

const distanceText = (aheadMs: number): string => {
  if (aheadMs === 0) return "the same as the clock of this machine";
  return `${durationText(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} the clock of this machine`;
};

/** The clock of the embedded service: shows, moves, stops and resumes it. */
export const ClockTab = ({ session }: { session: Session }): JSX.Element => {
  const read = (signal: AbortSignal) => get<Answer<"clock">>("/provider/clock", signal);
  const loaded = useLoaded("provider-clock", read, refreshMs(session));
  const [error, setError] = useState<ApiError>();
  const act = async (action: string, body: object = {}): Promise<void> => {
    setError(undefined);
    try {
      await post(`/provider/clock/${action}`, body);
    } catch (failure) {
      setError(failure as ApiError);
    }
    loaded.reload();
  };
  const advance = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void act("advance", { by: String(form.get("by") ?? "").trim() });
  };
  return (
    <Answered loaded={loaded}>
      {({ now, frozen, aheadMs }) => (
        <>
          <p class="muted">
            Tasks, price lists and delays of the service go by this clock. Skyhook keeps the clock
            of this machine: it sees what has ended at its next poll. While the clock is frozen, no
            task ends.
          </p>
          <dl>
            <Fact name="time of the service">
              <Time at={now} />{" "}
              <Badge text={frozen ? "frozen" : "runs"} tone={frozen ? "wait" : "good"} />
            </Fact>
            <Fact name="distance">{distanceText(aheadMs)}</Fact>
          </dl>
          {session.allowsChanges && (
            <>
              <div class="actions">
                {STEPS.map(([by, text]) => (
                  <button
                    key={by}
                    type="button"
                    class="quiet"
                    onClick={() => act("advance", { by })}
                  >
                    Advance {text}
                  </button>
                ))}
                <button type="button" onClick={() => act(frozen ? "resume" : "freeze")}>
                  {frozen ? "Resume" : "Freeze"}
                </button>
              </div>
              <form class="filters advance" onSubmit={advance}>
                <label>
                  advance by, such as 90s, 30m, 2h or 7d
                  <input name="by" required autocomplete="off" spellcheck={false} />
                </label>
                <div class="actions">
                  <button type="submit" class="quiet">
                    Advance
                  </button>
                </div>
              </form>
            </>
          )}
          {error && <ErrorNote error={error} />}
        </>
      )}
    </Answered>
  );
};
