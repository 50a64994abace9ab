import type { JSX } from "preact";
import type { DeadLetterOutcome } from "../../admin/answers.ts";
import { Badge, Table } from "./parts.tsx";

const TEXTS: Readonly<Record<DeadLetterOutcome["outcome"], readonly [string, string]>> = {
  "sent-back": ["sent back", "good"],
  "in-both": ["sent back, and still a dead letter", "bad"],
  deleted: ["deleted", "good"],
  kept: ["kept", "wait"],
  "not-found": ["not found", "wait"],
  failed: ["failed", "bad"],
  "would-send-back": ["would be sent back", "busy"],
  "would-delete": ["would be deleted", "busy"],
};

/** What an action did, or would do, with each dead letter. */
export const Outcomes = (props: {
  label: string;
  outcomes: readonly DeadLetterOutcome[];
}): JSX.Element => (
  <Table
    label={props.label}
    heads={["outcome", "message", "why"]}
    rows={props.outcomes.map(({ messageId, outcome, what, why }) => {
      const [text, tone] = TEXTS[outcome];
      return {
        key: messageId,
        cells: [
          <Badge text={text} tone={tone} />,
          what ?? <span class="id">{messageId}</span>,
          why,
        ],
      };
    })}
  />
);
