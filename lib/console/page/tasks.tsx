import type { JSX } from "preact";
import type { Session } from "../../admin/answers.ts";
import type { FollowedTaskView } from "../../admin/open.ts";
import { linkTo, useOpenWork } from "./hooks.ts";
import { LiveTask } from "./live-task.tsx";
import { Badge, Empty, PageHead, Pending, Since, Table, Time } from "./parts.tsx";

const cellsOf = (task: FollowedTaskView, now: string, canRead: boolean) => {
  const { recorded, nextCheckBy } = task;
  return [
    <>
      <span class="id">{task.taskId}</span>
      <br />
      <span class="muted">account {task.account}</span>
      {canRead && <LiveTask account={task.account} id={task.taskId} />}
    </>,
    <>
      <Badge text={recorded?.status ?? "not yet recorded"} />
      {recorded?.missingSince !== undefined && (
        <span class="reason">
          unknown to the provider for <Since at={recorded.missingSince} now={now} />
        </span>
      )}
    </>,
    recorded && <Since at={recorded.since} now={now} />,
    nextCheckBy !== undefined && <Time at={nextCheckBy} />,
    <>
      <a class="id" href={linkTo(["commands", task.sender, task.commandId])}>
        {task.commandId}
      </a>{" "}
      <span class="muted">{task.operation}</span>
    </>,
    <Time at={task.deadline} />,
  ];
};

/** The provider's tasks that Skyhook follows, with their last recorded states. */
export const TasksPage = ({ session }: { session: Session }): JSX.Element => {
  const { data, error } = useOpenWork(session);
  return (
    <>
      <PageHead title="Tasks" />
      <p class="muted">
        Background work of the provider that a command started or follows. Skyhook checks each task
        until it ends.
      </p>
      <Pending error={error} hasData={data !== undefined} />
      {data?.more && <p class="note">Shows the {data.commands} open commands that are due next.</p>}
      {data?.tasks.length === 0 && (
        <Empty>
          No task is followed. Tasks appear here after a command such as update-container.
        </Empty>
      )}
      {data && data.tasks.length > 0 && (
        <Table
          label="Followed tasks"
          heads={["task", "last state", "followed for", "next check by", "command", "deadline"]}
          rows={data.tasks.map((task) => ({
            key: [task.account, task.taskId, task.sender, task.commandId].join("/"),
            cells: cellsOf(task, data.at, session.features.includes("task")),
          }))}
        />
      )}
    </>
  );
};
