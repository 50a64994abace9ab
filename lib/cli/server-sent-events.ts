/** An event of a stream of Server-Sent Events. */
interface ServerSentEvent {
  readonly type: string;
  /** The newest id of the stream; empty before the first. */
  readonly id: string;
  /** Empty for a comment, and for an event that only sets the id. */
  readonly data: string;
}

/** Fields of the lines between two blank ones; comments are left out. */
const fieldsOf = (block: string): ReadonlyMap<string, string> =>
  new Map(
    block
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(":"))
      .map((line) => {
        const [name = "", value = ""] = line.split(/: ?(.*)/s);
        return [name, value] as const;
      }),
  );

/**
 * Reads the Server-Sent Events of Skyhook's own interface, which ends each line with LF and writes each datum in one
 * line.
 */
export async function* serverSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let text = "";
  let id = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const fields of blocks.map(fieldsOf)) {
      id = fields.get("id") ?? id;
      yield { type: fields.get("event") ?? "message", id, data: fields.get("data") ?? "" };
    }
  }
}
