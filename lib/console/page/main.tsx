import { type ComponentType, type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import { AiTasksPage } from "./ai-tasks.tsx";
import { type Connection, get, onConnection } from "./api.ts";
import { CommandPage } from "./command.tsx";
import { CommandsPage } from "./commands.tsx";
import { DeadLettersPage } from "./dead-letters.tsx";
import { EventsPage } from "./events.tsx";
import { type Route, useLoaded, useRoute } from "./hooks.ts";
import { LanesPage } from "./lanes.tsx";
import { Empty, PageHead, Pending } from "./parts.tsx";
import { PricesPage } from "./prices.tsx";
import { ProviderPage } from "./provider.tsx";
import { SendPage } from "./send.tsx";
import { TasksPage } from "./tasks.tsx";
import { ThresholdsPage } from "./thresholds.tsx";

interface Page {
  /** First segment of the page's hash. */
  readonly name: string;
  readonly label: string;
  /** The part of `Admin` without which the page is absent. */
  readonly needs?: string;
  readonly component: ComponentType<{ route: Route; session: Session }>;
}

/** The pages, in the order of the navigation. */
const PAGES: readonly Page[] = [
  {
    name: "commands",
    label: "Commands",
    component: ({ route, session }) =>
      route.path.length > 1 ? (
        <CommandPage route={route} session={session} />
      ) : (
        <CommandsPage route={route} session={session} />
      ),
  },
  { name: "send", label: "Send", needs: "send", component: SendPage },
  { name: "lanes", label: "Lanes", component: LanesPage },
  { name: "tasks", label: "Tasks", component: TasksPage },
  { name: "dead-letters", label: "Dead letters", component: DeadLettersPage },
  { name: "events", label: "Events", needs: "events", component: EventsPage },
  { name: "thresholds", label: "Thresholds", needs: "thresholds", component: ThresholdsPage },
  { name: "prices", label: "Prices", component: PricesPage },
  { name: "ai-tasks", label: "AI tasks", needs: "aiTasks", component: AiTasksPage },
  { name: "provider", label: "Provider", needs: "provider", component: ProviderPage },
];

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  open: "",
  lost: "Connection lost. The page tries again.",
  "no-token":
    "This page's token is not valid any more. Open the address that Skyhook printed at its start.",
};

const useConnection = (): Connection => {
  const [connection, setConnection] = useState<Connection>("open");
  useEffect(() => onConnection(setConnection), []);
  return connection;
};

const Navigation = (props: { pages: readonly Page[]; current: Page | undefined }): JSX.Element => {
  const current = useRef<HTMLAnchorElement>(null);
  // On a narrow screen the pages are a row that scrolls sideways.
  useEffect(() => {
    current.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [props.current]);
  return (
    <nav aria-label="Pages">
      {props.pages.map((page) => (
        <a
          key={page.name}
          href={`#/${page.name}`}
          ref={page === props.current ? current : null}
          aria-current={page === props.current ? "page" : undefined}
        >
          {page.label}
        </a>
      ))}
    </nav>
  );
};

const units = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** What reading a stage costs, and why nothing can be changed. */
const StageNote = ({ session }: { session: Session }): JSX.Element => (
  <footer class="muted">
    {session.allowsChanges ? (
      "Changes use your AWS credentials."
    ) : (
      <>
        Read-only: to change anything, start the console with{" "}
        <code class="nowrap">--allow-changes</code>.
      </>
    )}{" "}
    The page reads the ledger every 5 s while it is visible. Consumed since the start of the
    console: {units.format(session.readUnits ?? 0)} read units.
  </footer>
);

const Shell = ({ session }: { session: Session }): JSX.Element => {
  const route = useRoute();
  const connection = useConnection();
  const pages = PAGES.filter(
    ({ needs }) => needs === undefined || session.features.includes(needs),
  );
  const current = pages.find(({ name }) => name === (route.path[0] ?? "commands"));
  const Component = current?.component;
  useEffect(() => {
    document.title = `${current?.label ?? "Not found"} · Skyhook`;
  }, [current]);
  return (
    <>
      <header>
        <a class="brand" href="#/commands">
          Skyhook
        </a>
        <span class="where">
          {session.kind === "stage" ? `stage ${session.name}` : "this machine"}
          {!session.allowsChanges && ", read-only"}
        </span>
      </header>
      <div class="frame">
        <Navigation pages={pages} current={current} />
        <main>
          <p class="note bad" role="status" hidden={connection === "open"}>
            {CONNECTIONS[connection]}
          </p>
          {Component ? (
            <Component route={route} session={session} />
          ) : (
            <>
              <PageHead title="Not found" />
              <Empty>There is no such page. The navigation lists all of them.</Empty>
            </>
          )}
          {session.kind === "stage" && <StageNote session={session} />}
        </main>
      </div>
    </>
  );
};

const App = (): JSX.Element => {
  const session = useLoaded("session", (signal) => get<Session>("/session", signal), 10_000);
  return session.data ? (
    <Shell session={session.data} />
  ) : (
    <main>
      <h1>Skyhook</h1>
      <Pending error={session.error} />
    </main>
  );
};

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
