import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { commandLine, DATA_FILE, type FilledForm } from "../../admin/command-line.ts";
import type { OperationForm } from "../../admin/forms.ts";

const PLACES = ["params", "query", "body"] as const;

/** The content of the file with `…` for each secret, which the page does not show. */
const outlineOf = (form: OperationForm, file: Readonly<Record<string, unknown>>) => {
  const secrets = new Set(
    PLACES.flatMap((place) => form[place] ?? []).flatMap(({ name, secret }) =>
      secret ? [name] : [],
    ),
  );
  return Object.fromEntries(
    Object.entries(file).map(([place, values]) => [
      place,
      Object.fromEntries(
        Object.entries(values ?? {}).map(([name, value]) => [
          name,
          secrets.has(name) ? "…" : value,
        ]),
      ),
    ]),
  );
};

/** The line that sends the same request from a shell, with a button that copies it. */
export const SendLine = (props: { form: OperationForm; filled: FilledForm }): JSX.Element => {
  const { parts, file } = commandLine(props.form, props.filled, location.origin);
  const text = parts.join(" \\\n    ");
  const [copied, setCopied] = useState<{ text: string; note: string }>();
  const copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setCopied({ text, note: isCopied ? "Copied." : "Not copied: select the line instead." });
  };
  return (
    <section aria-label="Command line">
      <h2>Command line</h2>
      <pre class="line">{text}</pre>
      <div class="actions">
        <button type="button" class="quiet small" onClick={copy}>
          Copy
        </button>
        <span role="status" class="muted">
          {copied?.text === text && copied.note}
        </span>
      </div>
      {file && (
        <p class="muted">
          <code>{DATA_FILE}</code> is a JSON file that you write, readable only by you, because
          other users of a machine see command lines:
        </p>
      )}
      {file && <pre>{JSON.stringify(outlineOf(props.form, file), undefined, 2)}</pre>}
    </section>
  );
};
