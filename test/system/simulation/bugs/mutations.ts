/**
 * A bug that a developer could make: a change of one place in the sources.
 *
 * To add one: append it to `MUTATIONS`, run `npm run test:bugs -- --bug "part of its name" --note`, which writes a seed
 * that finds it into seeds.json, and commit both. Decide on the bug before you look whether it is found. A bug without
 * a finding seed stays, with `null`. After a change that gives seeds another meaning, `npm run test:bugs -- --note`
 * replaces each seed that no longer finds its bug.
 */
export interface Mutation {
  /** What the system does wrong. */
  readonly name: string;
  /** Source file, below `lib`. */
  readonly file: string;
  /** Text that occurs exactly once in the file, and its replacement. */
  readonly find: string;
  readonly replace: string;
  /** Number of the invariant that has to break; absent: any. 0 is any other rule. */
  readonly invariant?: number;
}

export const MUTATIONS: readonly Mutation[] = [
  // Each invariant.
  {
    name: "an entry that the bus refused counts as published",
    file: "events/event.ts",
    find: 'if (outcome?.kind === "published") published.add(event.deduplicationId);',
    replace: "if (outcome) published.add(event.deduplicationId);",
    invariant: 1,
  },
  {
    name: "an ended command is not due although its events are unpublished",
    file: "engine/command.ts",
    find: "? (resolution?.resolvedAt ?? state.endedAt) + FINISH_GRACE_MS\n",
    replace: "? undefined\n",
    invariant: 1,
  },
  {
    name: "absence counts at once, although requests are still on their way",
    file: "engine/after-ambiguous-send.ts",
    find: "now < lastSentAt + account.ambiguityWindowMs",
    replace: "now < lastSentAt",
    invariant: 2,
  },
  {
    name: "a lost connection is taken for a refused one",
    file: "provider/provider-error.ts",
    find: "return hasNeverLeft(error)\n",
    replace: "return true\n",
    invariant: 2,
  },
  {
    name: "the lease of an attempt ends while its request is on its way",
    file: "engine/attempt.ts",
    find: "leaseUntil: now + deps.leaseMs }",
    replace: "leaseUntil: now + 500 }",
    invariant: 3,
  },
  {
    name: "a conflict is taken for a write",
    file: "ledger/record.ts",
    find: 'return written === "written" ? { version, dueAt, expiresAt, value } : undefined;',
    replace: "return { version, dueAt, expiresAt, value };",
    invariant: 3,
  },
  {
    name: "only two of a command's tasks are followed",
    file: "engine/command-transitions.ts",
    find: "tasks: [...new Set(taskIds)].map(",
    replace: "tasks: [...new Set(taskIds)].slice(0, 2).map(",
    invariant: 4,
  },
  {
    name: "lost replies are not counted",
    file: "engine/command-transitions.ts",
    find: "lostReplies: command.lostReplies + 1,",
    replace: "lostReplies: command.lostReplies,",
    invariant: 4,
  },
  {
    name: "a task that has not begun counts as finished",
    file: "engine/poller/read-tasks.ts",
    find: 'if (state === "FINISHED" && !error) {',
    replace: 'if ((state === "FINISHED" || state === "NEW") && !error) {',
    invariant: 5,
  },
  {
    name: "limits of thresholds are read as JavaScript numbers",
    file: "provider/client.ts",
    find: "parseMoneyJson(text) : parseWireJson(text);",
    replace: "parseMoneyJson(text) : JSON.parse(text);",
    invariant: 7,
  },
  {
    name: "an invalid config counts as one that wants nothing",
    file: "jobs/thresholds/sync.ts",
    find: "const read = readThresholdConfig(text);\n",
    replace: `let read = readThresholdConfig(text);
  if (read.kind === "invalid") read = readThresholdConfig("prune: true\\nthresholds: []");
`,
    invariant: 7,
  },
  {
    name: "a request is not erased when its command ends",
    file: "engine/command-transitions.ts",
    find: "const { request: _, uncertain: __, ...kept } = command;",
    replace: "const { uncertain: __, ...kept } = command;",
    invariant: 8,
  },
  {
    name: "64-bit numbers are sent as JavaScript numbers",
    file: "provider/client.ts",
    find: "body: body === undefined ? null : formatWireJson(body),",
    replace: "body: body === undefined ? null : JSON.stringify(JSON.parse(formatWireJson(body))),",
    invariant: 9,
  },
  // Order in a lane.
  {
    name: "a command passes those that wait in its lane",
    file: "engine/lane.ts",
    find: "waiting: [...waiting, key],",
    replace: "waiting: [key, ...waiting],",
  },
  {
    name: "a command that leaves the middle of a lane takes those behind it along",
    file: "engine/lane.ts",
    find: "current.waiting.filter((other) => other !== key)",
    replace: "current.waiting.slice(0, current.waiting.indexOf(key))",
  },
  {
    name: "the next command of a lane gets no message",
    file: "engine/finish.ts",
    find: "if (next !== undefined && next !== before) {",
    replace: "if (next !== undefined && next === before) {",
  },
  {
    name: "a holder that runs counts as one that has ended",
    file: "engine/advance.ts",
    find: "const isLeft = holder !== undefined && (await hasEnded(deps, holder));",
    replace: "const isLeft = holder !== undefined;",
    invariant: 3,
  },
  {
    name: "a holder that has ended lets a command pass those that wait",
    file: "engine/lane.ts",
    find: "(holder === ended && waiting.length === 0)",
    replace: "holder === ended",
  },
  {
    name: "the last holder stays although the lane is due for its sake",
    file: "engine/lane.ts",
    find: "if (next === undefined && current.checkAt === undefined) return current;",
    replace: "if (next === undefined) return current;",
  },
  {
    name: "a grant is confirmed although its command still waits",
    file: "engine/advance.ts",
    find: 'const isActive = status === "running" || status === "following";',
    replace: 'const isActive = status !== "accepted";',
  },
  {
    name: "the rest of a lane in a batch is acknowledged after a failure",
    file: "platform/lambda/batch.ts",
    find: "return { unfinished: items.slice(index), error };",
    replace: "return { unfinished: [item], error };",
  },
  // Leases.
  {
    name: "an attempt begins although another one is running",
    file: "engine/advance.ts",
    find: "(state.lease ? state.lease.until <= now : state.notBefore <= now)",
    replace: "state.notBefore <= now",
  },
  {
    name: "a lease is taken from a live runner",
    file: "ledger/lease.ts",
    find: "if (found && found.value.until > clock.now()) return undefined;",
    replace: "if (found?.value.by === by) return undefined;",
  },
  {
    name: "a lease is not renewed",
    file: "ledger/lease.ts",
    find: "if (isEarly() || leftMs() > durationMs / 2) return true;",
    replace: "if (isEarly() || leftMs() > 0) return true;",
  },
  {
    name: "a sync sends without its lease",
    file: "jobs/thresholds/sync.ts",
    find: "if (!isHeld) throw notSent(",
    replace: "if (!isHeld && !lease) throw notSent(",
  },
  // Ambiguity window.
  {
    name: "the window of a lost attempt begins with the attempt",
    file: "engine/command-transitions.ts",
    find: "markUncertain(command, lease?.until ?? now)",
    replace: "markUncertain(command, command.attempts.at(-1)?.startedAt ?? lease?.until ?? now)",
  },
  {
    name: "the window of an unanswered attempt begins with the attempt",
    file: "engine/reply.ts",
    find: "markUncertain(command, context.now)",
    replace: "markUncertain(command, command.attempts.at(-1)?.startedAt ?? context.now)",
  },
  {
    name: "the window begins with the first unanswered attempt",
    file: "engine/after-ambiguous-send.ts",
    find: "if (now < lastSentAt + account.ambiguityWindowMs)",
    replace: "if (now < uncertainty.firstSentAt + account.ambiguityWindowMs || lastSentAt === 0)",
  },
  {
    name: "a router is created again although its task may still be running",
    file: "engine/after-ambiguous-send.ts",
    find: "if (pending > 0) return checkAgain;",
    replace: "if (pending > 0 && now < lastSentAt + account.ambiguityWindowMs) return checkAgain;",
  },
  {
    name: "a conflict after a lost reply always means created",
    file: "engine/after-ambiguous-send.ts",
    find: 'return { kind: isListed(wanted, list) ? "done" : "refused" };',
    replace: 'return { kind: isListed(wanted, list) || list ? "done" : "refused" };',
  },
  // Task ids.
  {
    name: "a router of another command is adopted",
    file: "engine/after-ambiguous-send.ts",
    find: 'if (task.state === "ERROR" || (await isClaimed(task.id))) return "other";',
    replace: 'if (task.state === "ERROR" || (isClaimed === undefined)) return "other";',
  },
  {
    name: "a task of two commands is recorded for the first only",
    file: "engine/follow.ts",
    find: "if (isOurs(first)) return;",
    replace: "if (isOurs(first) || first.sharedAs) return;",
  },
  {
    name: "a command ends with the first end of its tasks",
    file: "engine/follow.ts",
    find: "if (followed.some(({ end }) => !end)) return command;",
    replace: "if (followed.every(({ end }) => !end)) return command;",
  },
  {
    name: "a command without recorded tasks is due at its deadline",
    file: "engine/command.ts",
    find: "return state.tasksRecorded ? undefined : 0;",
    replace: "return state.tasksRecorded ? undefined : deadline;",
  },
  {
    name: "a task is done before its command can record that it follows it",
    file: "engine/poller/task-end.ts",
    find: 'if (command && !("tasks" in command.value.state)) return known;',
    replace: "",
  },
  {
    name: "a command follows a task that has the item of another command",
    file: "engine/follow.ts",
    find: "return isNew ? tasksRecorded(following) : following;",
    replace: "return tasksRecorded(following);",
  },
  {
    name: "publications of one call get the outcomes of the first one",
    file: "platform/aws/shared-calls.ts",
    find: "      first = to;\n",
    replace: "",
  },
  {
    name: "the event of a task is lost when the bus fails",
    file: "engine/finish.ts",
    find: "if (published.size < events.length)",
    replace: "if (published.size > events.length)",
  },
  {
    name: "a task is given up after five seconds instead of minutes",
    file: "engine/task.ts",
    find: "UNKNOWN_FOR_MS = 5 * 60 * 1000",
    replace: "UNKNOWN_FOR_MS = 5 * 1000",
  },
  {
    name: "a follower sees the end of a task of a project without rights",
    file: "engine/poller/check-tasks.ts",
    find: "deps.access.maySee(followedBy, account, report.project)",
    replace: "deps.access.maySee(deps.ownSender, account, report.project)",
  },
  {
    name: "the followers of a task share one record",
    file: "engine/task.ts",
    find: "task.command}`",
    replace: "task.followedBy ?? task.command}`",
  },
  // Prune and thresholds sync.
  {
    name: "unwanted thresholds are deleted without prune",
    file: "jobs/thresholds/threshold.ts",
    find: "const unwanted = prune ? actual.filter(",
    replace: "const unwanted = prune !== undefined ? actual.filter(",
  },
  {
    name: "the event of a newer config counts as synced",
    file: "jobs/thresholds/sync.ts",
    find: "isAtMost(sequencer, sync.sequencer);",
    replace: "isAtMost(sync.sequencer, sequencer);",
  },
  {
    name: "a threshold that exists already counts as created",
    file: "jobs/thresholds/apply.ts",
    find: "await send(updateStorageEvent, bodyOf(threshold));\n    return isPerhapsOurs",
    replace: "return isPerhapsOurs",
  },
  {
    name: "a sync with changes left counts as complete",
    file: "jobs/thresholds/threshold-sync.ts",
    find: 'lasting.every(({ outcome }) => outcome === "done")',
    replace: 'lasting.every(({ outcome }) => outcome !== "failed")',
  },
  {
    name: "changes that cannot be listed are not recorded before they are sent",
    file: "jobs/thresholds/threshold-sync.ts",
    find: '...(facts.actualFrom === "ledger" && { applied: intendedBy(sync) }),',
    replace: '...(facts.actualFrom === "ledger" && { applied: sync.remembered }),',
  },
  {
    name: "a sync applies a config that was replaced meanwhile",
    file: "jobs/thresholds/sync.ts",
    find: "(await source.read())?.version !== facts.source.version",
    replace: "(await source.read()) === undefined && facts.source.version",
  },
  // Deduplication and outbox.
  {
    name: "events that the bus did not take leave the outbox",
    file: "ledger/outbox.ts",
    find: "outbox: current.outbox.filter(({ deduplicationId }) => !published.has(deduplicationId)),",
    replace: "outbox: published ? [] : current.outbox,",
  },
  {
    name: "a command is sent before its acceptance is published",
    file: "engine/advance.ts",
    find: "const found = await publishOutbox(deps, given);",
    replace: "const found = await publishOutbox(deps, given).catch(() => given);",
  },
  {
    name: "a command is due later than it says",
    file: "ledger/record.ts",
    find: "return previous >= from && previous <= to ? previous : dueAt;",
    replace: "return previous >= from ? previous : dueAt;",
  },
  {
    name: "a command that entered its lane after its end stays there",
    file: "engine/advance.ts",
    find: "  await handOver(deps, command.lane, commandKey(command));\n",
    replace: "",
  },
  {
    name: "the end of a command is published before that of its task",
    file: "engine/advance.ts",
    find: "const isFinished = command.state.settled || isEndedByTasks(command.state);",
    replace: "const isFinished = command.state.settled;",
  },
  {
    name: "a command that its only task ends keeps its lane",
    file: "engine/finish.ts",
    find: "  await handOver(deps, command.lane, key);\n  const events = [",
    replace: "  const events = [",
  },
  {
    name: "another request with the same operation counts as a repeat",
    file: "engine/accept.ts",
    find: "known.value.fingerprint === requestFingerprint(request, deps.fingerprintKey)",
    replace: "known.value.operation === request.operation.id",
  },
  {
    name: "two messages for one command count as one",
    file: "engine/queue-message.ts",
    find: "deduplicationId: random.uuid(),",
    replace: "deduplicationId: random ? groupIdOf(command) : command,",
  },
  // Deadlines.
  {
    name: "a command is sent after its deadline",
    file: "engine/advance.ts",
    find: "if (now >= command.deadline) {",
    replace: "if (now >= command.deadline && command.attemptCount > 0) {",
  },
  {
    name: "a command in its lane is not due at its deadline",
    file: "engine/command.ts",
    find: "return Math.min(state.lookAt ?? deadline, deadline);",
    replace: "return state.lookAt;",
  },
  // After.
  {
    name: "a dry run lets the commands after it start",
    file: "engine/dependencies.ts",
    find: 'outcome === "dry-run" && !waiting.dryRun',
    replace: 'outcome === "dry-run" && waiting.dryRun',
  },
  {
    name: "a command waits for one of the commands of after only",
    file: "engine/dependencies.ts",
    find: "if (others.every((other) => other && isEnded(other)))",
    replace: "if (others.some((other) => other && isEnded(other)))",
  },
  {
    name: "commands that wait for each other are not found",
    file: "engine/dependencies.ts",
    find: 'const isNew = command.state.status === "accepted";',
    replace: 'const isNew = command.state.status === "waiting" && command.after === undefined;',
  },
  // Guards and dry runs.
  {
    name: "guards are read before the first attempt only",
    file: "engine/preflight.ts",
    find: "of (command.guards ?? []).entries()) {",
    replace: "of (command.attemptCount > 0 ? [] : (command.guards ?? [])).entries()) {",
  },
  {
    name: "a guard that breaks after a lost reply cancels the command",
    file: "engine/preflight.ts",
    find: "return command.uncertain\n    ? leaveUnknown",
    replace: "return command.uncertain && !command.guards\n    ? leaveUnknown",
  },
  {
    name: "a dry run reads no guards",
    file: "engine/preflight.ts",
    find: "of (command.guards ?? []).entries()) {",
    replace: "of (command.dryRun ? [] : (command.guards ?? [])).entries()) {",
  },
  // Cancel and resolve.
  {
    name: "an operator cancels a command with a request in flight",
    file: "admin/operator-actions.ts",
    find: '|| command.state.status === "following" || leaseOf(command)) return found;',
    replace: '|| command.state.status === "following") return found;',
  },
  {
    name: "a cancelled command with a lost reply counts as without effect",
    file: "admin/operator-actions.ts",
    find: "return command.uncertain\n    ? leaveUnknown",
    replace: "return command.uncertain && command.guards\n    ? leaveUnknown",
  },
  {
    name: "an outcome is resolved twice",
    file: "engine/command-transitions.ts",
    find: '=== "unknown-outcome" && !command.resolution',
    replace: '=== "unknown-outcome"',
  },
  {
    name: "the task of a cancelled follow-task is still checked",
    file: "engine/finish.ts",
    find: "await leaveTasks(deps, command);",
    replace: "",
  },
  // Retention.
  {
    name: "a command is deleted before its request is too old",
    file: "ledger/retention.ts",
    find: "LEDGER_RETENTION_MS = 60 * DAY_MS",
    replace: "LEDGER_RETENTION_MS = 6 * DAY_MS",
  },
  {
    name: "a command with unpublished events expires",
    file: "engine/command.ts",
    find: '"endedAt" in state && !isToFinish(state) ?',
    replace: '"endedAt" in state ?',
  },
  // Rejections.
  {
    name: "a repeated rejection has another time",
    file: "engine/rejection.ts",
    find: "return (known ?? rejection).rejectedAt;",
    replace: "return rejection.rejectedAt;",
  },
  {
    name: "a rejection before and one after the command have one id",
    file: "engine/rejection.ts",
    find: '...(isTaken ? ["taken"] : [])',
    replace: "",
  },
  // Price snapshots and AI tasks.
  {
    name: "an older price replaces a newer one",
    file: "jobs/prices/capture-item.ts",
    find: "lastRun.bucket >= bucket;",
    replace: "lastRun.bucket === bucket;",
  },
  {
    name: "the baseline publishes ends of AI tasks",
    file: "jobs/ai-tasks/read-list.ts",
    find: "const isBaseline = run.watch.fullReadAt === undefined;",
    replace:
      "const isBaseline = run.watch.fullReadAt === undefined && run.watch.nextPage === undefined;",
  },
  {
    name: "the end of an AI task is published again",
    file: "jobs/ai-tasks/ai-task.ts",
    find: 'if (task?.state.kind === "ended" && task.state.isTold) return task;',
    replace: 'if (task?.state.kind === "ended" && task.outbox.length > 0) return task;',
  },
  // Wakes and due entries.
  {
    name: "a pause between attempts ends without a wake signal",
    file: "engine/advance.ts",
    find: 'if (state.status === "running") await wakeForCommand(deps, key, state.lookAt);',
    replace: 'if (state.status === "running") return;',
  },
  {
    name: "a grant of a lane is never checked",
    file: "engine/lane.ts",
    find: "dueAt: (lane) => (lane.holder === undefined ? undefined : lane.checkAt),",
    replace: "dueAt: () => undefined,",
  },
  {
    name: "the first check of a task has no wake signal",
    file: "engine/follow.ts",
    find: "await waker.wakeAt(clock.now() + FIRST_CHECK_MS, shard);",
    replace: "",
  },
  // Rate limit, pause and API key.
  {
    name: "a permit is granted twice",
    file: "provider/rate-limiter.ts",
    find: "      permits.free -= count;\n",
    replace: "",
    invariant: 6,
  },
  {
    name: "granted permits are not counted",
    file: "provider/rate-limiter.ts",
    find: "granted: current.granted + permits, key: breaker.key",
    replace: "granted: current.granted, key: breaker.key",
    invariant: 6,
  },
  {
    name: "the window of the rate limit does not advance",
    file: "provider/rate-limiter.ts",
    find: "? { ...rateLimit, windowStartedAt: windowAt(now), granted: 0 }",
    replace: "? { ...rateLimit, granted: 0 }",
    invariant: 6,
  },
  {
    name: "an expired permit is used",
    file: "provider/rate-limiter.ts",
    find: "permits[from] >= count && clock.now() < permits.expiresAt;",
    replace: "permits[from] >= count;",
    invariant: 6,
  },
  {
    name: "a pause in the ledger is ignored",
    file: "provider/rate-limiter.ts",
    find: "if (pausedUntil !== undefined) return {",
    replace: "if (pausedUntil === 0) return {",
    invariant: 6,
  },
  {
    name: "a pause is not recorded",
    file: "provider/rate-limiter.ts",
    find: "pauseRequests(rateLimit, { now: clock.now(), until }),",
    replace: "pauseRequests(rateLimit, { now: clock.now(), until: 0 }),",
    invariant: 6,
  },
  {
    name: "a pause does not apply to its receiver while the ledger is down",
    file: "provider/rate-limiter.ts",
    find: "      pausedUntil = Math.max(pausedUntil, until);\n",
    replace: "",
    invariant: 6,
  },
  {
    name: "Retry-After is ignored",
    file: "provider/account-client.ts",
    find: "(error.retryAfterMs ?? DEFAULT_PAUSE_MS)",
    replace: "DEFAULT_PAUSE_MS",
    invariant: 6,
  },
  {
    name: "a request is sent again without a permit",
    file: "provider/account-client.ts",
    find: "await acquirePermit(operation, signal, true).catch(",
    replace: "await Promise.resolve().catch(",
    invariant: 6,
  },
  {
    name: "permits at hand stay during a pause",
    file: "provider/rate-limiter.ts",
    find: "    permits = noPermits();\n  };\n",
    replace: "    permits.free = 0;\n  };\n",
    invariant: 6,
  },
  {
    name: "a permit of a grant in progress is used in a pause",
    file: "provider/rate-limiter.ts",
    find: "if (grant) addTo(target, grant);",
    replace: "if (grant) addTo(target === permits ? target : permits, grant);",
    invariant: 6,
  },
  {
    name: "a reserved permit is used more than once",
    file: "provider/rate-limiter.ts",
    find: "      permits.reserved -= 1;\n",
    replace: "",
    invariant: 6,
  },
  {
    name: "an aborted request stays in line",
    file: "provider/rate-limiter.ts",
    find: 'abort: () => leave(waiter, { kind: "aborted" }),',
    replace: 'abort: () => resolve({ kind: "aborted" }),',
  },
  {
    name: "a refused key is cached for ever",
    file: "provider/api-key.ts",
    find: "      const next = await readAgain();\n",
    replace: "      const next = now;\n",
  },
  {
    name: "a refused key is not recorded",
    file: "provider/account-client.ts",
    find: "refuseKey(state, { now: clock.now(), sentAt }),",
    replace: "refuseKey(state, { now: clock.now(), sentAt: -1 }),",
  },
  {
    name: "an accepted key is not recorded",
    file: "provider/account-client.ts",
    find: "          await noteAccepted(attempt);\n          return reply;",
    replace: "          return reply;",
  },
  {
    name: "half-open probes leave at once",
    file: "provider/api-key.ts",
    find: "key: { ...key, nextProbeAt: now + PROBE_INTERVAL_MS } }",
    replace: "key }",
  },
  {
    name: "a process with a slow clock opens an old window again",
    file: "provider/rate-limiter.ts",
    find: "windowAt(now) > rateLimit.windowStartedAt ||",
    replace: "windowAt(now) !== rateLimit.windowStartedAt ||",
  },
  {
    name: "a shorter pause replaces a longer one",
    file: "provider/rate-limit.ts",
    find: "if (until <= before.blockedUntil) return rateLimit;",
    replace: "if (until === before.blockedUntil) return rateLimit;",
  },
  {
    name: "a failed read of the key is kept for ever",
    file: "provider/api-key.ts",
    find: "      cached = undefined;\n",
    replace: "",
  },
  {
    name: "a refused key counts for all before it is read again",
    file: "provider/account-client.ts",
    find: "const isLast = sends >= MAX_SENDS;",
    replace: "const isLast = sends >= 1;",
  },
  {
    name: "an answer from before the refusal makes the key accepted",
    file: "provider/api-key.ts",
    find: 'if (key.state === "accepted" || (sentAt <= key.since && !isFarAhead(key.since, now))) {',
    replace: 'if (key.state === "accepted") {',
  },
  // Following by lists.
  {
    name: "each page of tasks is the first one",
    file: "engine/poller/task-lists.ts",
    find: "offset: page * PAGE_SIZE,",
    replace: "offset: 0,",
  },
  {
    name: "a page of tasks leaves out the first task of the next one",
    file: "engine/poller/task-lists.ts",
    find: "offset: page * PAGE_SIZE,",
    replace: "offset: page * (PAGE_SIZE + 1),",
  },
  {
    name: "only the first page of tasks is read",
    file: "engine/poller/task-lists.ts",
    find: "Math.max(read, Math.ceil(count / PAGE_SIZE));",
    replace: "read;",
  },
  {
    name: "a page of tasks is read after the last one",
    file: "engine/poller/task-lists.ts",
    find: "Math.max(read, Math.ceil(count / PAGE_SIZE));",
    replace: "Math.max(read, Math.floor(count / PAGE_SIZE) + 2);",
  },
  {
    name: "a task that is in no list has finished",
    file: "engine/poller/read-tasks.ts",
    find: "  if (trouble) for (const id of unread) reports.set(id, trouble);",
    replace:
      '  if (lists?.isComplete) for (const id of unread) reports.set(id, { kind: "ended", end: { status: "finished" }, project: undefined });\n  else if (trouble) for (const id of unread) reports.set(id, trouble);',
  },
  {
    name: "an ended task in the list counts as running",
    file: "engine/poller/read-tasks.ts",
    find: "for (const [id, record] of open.found) reports.set(id, reportOf(record));",
    replace:
      'for (const [id, record] of open.found) reports.set(id, { kind: "open", project: record.project_id ?? undefined, createdAt: undefined });',
  },
  {
    name: "only one of the commands that wait for a task learns its end",
    file: "engine/poller/check-tasks.ts",
    find: "await Promise.all(open.map((each) => limit(() => apply(each))));",
    replace:
      "const first = open.filter(({ task }, at) => open.findIndex((each) => each.task.id === task.id) === at);\n  await Promise.all(first.map((each) => limit(() => apply(each))));",
  },
  {
    name: "an unanswered list counts as an empty one",
    file: "engine/poller/read-tasks.ts",
    find: 'if (open.error) return { isComplete, trouble: troubleOf(open.error, "open", memory) };',
    replace: "if (open.error) return { isComplete: true };",
  },
  {
    name: "the list leaves out tasks of a provider with a slow clock",
    file: "engine/poller/task-lists.ts",
    find: "recordedAt - (isBeside ? BEGAN_BEFORE_MS : CLOCK_SKEW_MS),",
    replace: "recordedAt - (isBeside ? BEGAN_BEFORE_MS : 0),",
  },
  {
    name: "the list leaves out followed tasks that began long ago",
    file: "engine/poller/task-lists.ts",
    find: "recordedAt - (isBeside ? BEGAN_BEFORE_MS : CLOCK_SKEW_MS),",
    replace: "recordedAt - CLOCK_SKEW_MS,",
  },
  {
    name: "the list begins with the youngest task",
    file: "engine/poller/task-lists.ts",
    find: "Math.min(first, creationOf(task)[0]), Infinity)",
    replace: "Math.max(first, creationOf(task)[0]), 0)",
  },
  {
    name: "the list leaves out tasks that have not begun",
    file: "engine/poller/task-lists.ts",
    find: 'state: ["NEW", "RUNNING"],',
    replace: 'state: ["RUNNING"],',
  },
  {
    name: "tasks of every account are read at one account",
    file: "engine/poller/poller-memory.ts",
    find: 'splitKey(key)[1].split("/", 1).join()',
    replace: 'splitKey(key)[1].replace("blind/", "local/").split("/", 1).join()',
  },
  {
    name: "tasks are never listed",
    file: "engine/poller/read-tasks.ts",
    find: "taskCount >= Math.max(MIN_TASKS_TO_LIST, pages)",
    replace: "taskCount >= Math.max(100_000, pages)",
  },
  {
    name: "a list is requested where there is none",
    file: "engine/poller/read-tasks.ts",
    find: "  account.canList &&\n  !refused",
    replace: "  !refused",
  },
  {
    name: "a listed task is read again by itself",
    file: "engine/poller/read-tasks.ts",
    find: "    (id) => !reports.has(id),",
    replace: '    (id) => id !== "",',
  },
  {
    name: "a task that is missing for a moment is forgotten",
    file: "engine/poller/check-tasks.ts",
    find: "=> markMissing(current, now);",
    replace: "=> abandonTask(current, now);",
  },
  {
    name: "running tasks of the list of ended ones have finished",
    file: "engine/poller/read-tasks.ts",
    find: "for (const [id, record] of ended.found) reports.set(id, reportOf(record));",
    replace:
      'for (const { task } of gone) reports.set(task.id, { kind: "ended", end: { status: "finished" }, project: undefined });',
  },
  {
    name: "the list of ended tasks has those that failed only",
    file: "engine/poller/task-lists.ts",
    find: 'state: ["FINISHED", "ERROR"],',
    replace: 'state: ["ERROR"],',
  },
  {
    name: "the list of ended tasks begins with the youngest one",
    file: "engine/poller/task-lists.ts",
    find: "from_timestamp: timestampOf(window.from),",
    replace: "from_timestamp: timestampOf(window.to),",
  },
  {
    name: "pages are read however few tasks are missing",
    file: "engine/poller/task-lists.ts",
    find: "(read < ids.size && pages - read <= ids.size - found.size)",
    replace: "true",
  },
  {
    name: "the list of ended tasks is read page by page for one task",
    file: "engine/poller/task-lists.ts",
    find: "    if (ids.size === 1) continue;\n",
    replace: "",
  },
  {
    name: "a list that is left early counts as complete",
    file: "engine/poller/task-lists.ts",
    find: "isComplete: read === pages || found.size === ids.size",
    replace: "isComplete: true",
  },
  {
    name: "lists follow each other without a pause",
    file: "engine/poller/open-tasks.ts",
    find: "Math.min(MAX_PAUSE_MS, Math.max(MIN_LIST_PAUSE_MS, pages * PAUSE_OF_PAGE_MS));",
    replace: "500;",
  },
  {
    name: "a task that was checked is due again at once",
    file: "engine/poller/check-tasks.ts",
    find: "const checkAt = !report && planned > startedAt ? planned : now + pause;",
    replace: "const checkAt = planned;",
  },
  {
    name: "a new task is not listed with the others",
    file: "engine/poller/poller-memory.ts",
    find: "Math.max(account.nextListAt, wakeOfOther",
    replace: "Math.max(wakeOfOther",
  },
  {
    name: "an old task is never checked again",
    file: "engine/poller/open-tasks.ts",
    find: "const MAX_PAUSE_MS = 60_000;",
    replace: "const MAX_PAUSE_MS = 60_000_000;",
  },
  {
    name: "no wake signal leads to the next check",
    file: "engine/poller/poll.ts",
    find: "  await waker.wakeAt(at, memory.shard);\n  memory.wakeAt = at;\n",
    replace: "",
  },
  {
    name: "a wake signal that is past counts as promised",
    file: "engine/poller/poll.ts",
    find: "wakeAt > now && wakeAt <= next + LATE_WAKE_MS",
    replace: "wakeAt <= next + LATE_WAKE_MS",
  },
  {
    name: "a wake signal behind the next check counts as promised",
    file: "engine/poller/poll.ts",
    find: "wakeAt > now && wakeAt <= next + LATE_WAKE_MS",
    replace: "wakeAt > now",
  },
  {
    name: "a process remembers tasks that another one has changed",
    file: "engine/poller/poller-memory.ts",
    find: "    forgetEntries(memory);\n    memory.left",
    replace: "    memory.left",
  },
  {
    name: "what was handled is never handled again",
    file: "engine/poller/poller-memory.ts",
    find: "  memory.handled.clear();\n",
    replace: "",
  },
  {
    name: "a new process waits longer than another one has promised",
    file: "engine/poller/poller-memory.ts",
    find: "Math.min(wakeAt, queriedAt + MAX_SKEW_MS) : wakeAt;",
    replace: "Math.min(wakeAt, queriedAt + MAX_SKEW_MS) : wakeAt + 600_000;",
  },
  // Many due entries.
  {
    name: "a query of what is new begins at the last one",
    file: "engine/poller/poller-memory.ts",
    find: "memory.queriedAt - OVERLAP_MS",
    replace: "memory.queriedAt",
  },
  {
    name: "the whole shard is read once",
    file: "engine/poller/poller-memory.ts",
    find: "const COMPLETE_MS = 60_000;",
    replace: "const COMPLETE_MS = 60_000_000;",
  },
  // Shorter and fewer writes.
  {
    name: "the deadline of a command that follows tasks is not seen",
    file: "engine/poller/check-tasks.ts",
    find: "if (deps.clock.now() < task.deadline) return false;",
    replace: "if (task.deadline > 0) return false;",
  },
  {
    name: "the stored form of a command forgets its lost replies",
    file: "engine/stored-command.ts",
    find: "lostReplies: lostReplies === 0 ? undefined : lostReplies,",
    replace: "lostReplies: undefined,",
  },
  {
    name: "the stored form of a command forgets which events are unpublished",
    file: "engine/stored-command.ts",
    find: "outbox: unlessEmpty(command.outbox),",
    replace: "outbox: undefined,",
  },
  {
    name: "only the first of several tasks wakes the poller",
    file: "skyhook.ts",
    find: "wakesAt >= clock.now() + INDEX_LAG_MS && wakesAt <= at",
    replace: "wakesAt > 0",
  },
  {
    name: "the poller of each shard handles the first one",
    file: "engine/poller/poll.ts",
    find: "    memory.shard,\n",
    replace: "    0,\n",
  },
  {
    name: "the poller of each shard wakes that of the first one",
    file: "engine/poller/poll.ts",
    find: "await waker.wakeAt(at, memory.shard);",
    replace: "await waker.wakeAt(at, 0);",
  },
  {
    name: "a new task wakes the poller of the first shard",
    file: "engine/follow.ts",
    find: "waker.wakeAt(clock.now() + FIRST_CHECK_MS, shard);",
    replace: "waker.wakeAt(clock.now() + FIRST_CHECK_MS, 0 * shard);",
  },
  {
    name: "a waiting command wakes the poller of the first shard",
    file: "engine/advance.ts",
    find: "waker.wakeAt(at, shards.of(commands.itemKey(key)))",
    replace: "waker.wakeAt(at, 0 * shards.of(commands.itemKey(key)))",
  },
  {
    name: "a wake signal counts for all shards",
    file: "skyhook.ts",
    find: "wakes.set(shard, at);",
    replace: "for (let each = 0; each < 4; each += 1) wakes.set(each, at);",
  },
  {
    name: "only the first shard of a batch of wake signals is handled",
    file: "skyhook.ts",
    find: "[...shardsIn(event)].map(",
    replace: "[...shardsIn(event)].slice(0, 1).map(",
  },
];
