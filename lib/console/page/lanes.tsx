import type { JSX } from "preact";
import type { Session } from "../../admin/answers.ts";
import type { LaneMember, LaneView } from "../../admin/open.ts";
import { linkTo, useOpenWork } from "./hooks.ts";
import { Empty, PageHead, Pending, Since, Table } from "./parts.tsx";

const MemberLink = ({ member }: { member: LaneMember }): JSX.Element => (
  <>
    <a class="id" href={linkTo(["commands", member.sender, member.commandId])}>
      {member.commandId}
    </a>{" "}
    <span class="muted">{member.operation}</span>
  </>
);

const Waiting = (props: { waiting: readonly LaneMember[]; now: string }): JSX.Element => (
  <details>
    <summary>{props.waiting.length} waiting</summary>
    <ol>
      {props.waiting.map((member) => (
        <li key={`${member.sender}/${member.commandId}`}>
          <MemberLink member={member} />{" "}
          {member.acceptedAt !== undefined && (
            <span class="muted">
              accepted <Since at={member.acceptedAt} now={props.now} /> ago
            </span>
          )}
        </li>
      ))}
    </ol>
  </details>
);

const cellsOf = ({ lane, holder, waiting }: LaneView, now: string) => [
  <span class="id">{lane}</span>,
  <MemberLink member={holder} />,
  <Since at={holder.since} now={now} />,
  waiting.length === 0 ? <span class="muted">none</span> : <Waiting waiting={waiting} now={now} />,
];

/** Held lanes: the command in flight, and the waiting ones in order. */
export const LanesPage = ({ session }: { session: Session }): JSX.Element => {
  const { data, error } = useOpenWork(session);
  return (
    <>
      <PageHead title="Lanes" />
      <p class="muted">
        Commands on one resource share a lane: one is in flight, the others wait in order.
      </p>
      <Pending error={error} hasData={data !== undefined} />
      {data?.more && <p class="note">Shows the {data.commands} open commands that are due next.</p>}
      {data?.lanes.length === 0 && (
        <Empty>
          No lane is held. Lanes appear here while commands run. <a href="#/commands">Commands</a>{" "}
          shows ended ones.
        </Empty>
      )}
      {data && data.lanes.length > 0 && (
        <Table
          label="Held lanes"
          heads={["lane", "in flight", "held for", "waiting"]}
          rows={data.lanes.map((view) => ({ key: view.lane, cells: cellsOf(view, data.at) }))}
        />
      )}
    </>
  );
};
