import type { ComponentChildren, ComponentProps, JSX } from "preact";
import type { FormField } from "../../admin/forms.ts";

/** The problems at a path such as `body.scale.min`. */
export type ProblemsAt = (path: string) => readonly string[];

export interface FieldProps {
  readonly field: FormField;
  /** Dotted path in the request; also the id of the input. */
  readonly path: string;
  /** Undefined: left out of the request. */
  readonly value: unknown;
  readonly problemsAt: ProblemsAt;
  readonly onChange: (value: unknown) => void;
  /** Shown instead of the field's name. */
  readonly label?: string;
}

/**
 * The value of typed text. A whole number that a double keeps exactly becomes a number; other text stays text, for
 * the check to refuse. 64-bit values stay decimal text.
 */
const valueOfText = ({ control }: FormField, text: string): unknown => {
  if (control !== "integer" || !/^-?(0|[1-9]\d*)$/.test(text)) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
};

const exampleText = ({ example }: FormField): string | undefined => {
  if (example === undefined || example === null || typeof example === "object") return undefined;
  return `e.g. ${example}`;
};

/** Label, limits and problems of a field around its input. */
const Field = (props: FieldProps & { children: ComponentChildren }): JSX.Element => {
  const { field, path, problemsAt } = props;
  const problems = problemsAt(path);
  return (
    <div class="field">
      <label for={path}>
        <code>{props.label ?? field.name}</code>
        {field.required && <span class="required"> required</span>}
        {field.secret && <span class="required"> secret</span>}
      </label>
      {props.children}
      <p class="hint" id={`${path}:hint`}>
        {field.description && `${field.description}: `}
        {field.rule}
      </p>
      <p class="problem" id={`${path}:problem`} role="status">
        {problems.join("; ")}
      </p>
    </div>
  );
};

const inputProps = ({ path, problemsAt }: FieldProps) => ({
  id: path,
  "aria-describedby": `${path}:hint ${path}:problem`,
  "aria-invalid": problemsAt(path).length > 0,
});

/** A text input; a secret's text is not shown. */
export const Input = (
  props: { isSecret: boolean } & Omit<ComponentProps<"input">, "type" | "list" | "role">,
): JSX.Element => {
  const { isSecret, ...input } = props;
  const plain = { ...input, autocomplete: "off", spellcheck: false };
  return isSecret ? <input {...plain} type="password" /> : <input {...plain} type="text" />;
};

const NULL = "null";

/** A choice, with a word for "left out". Values are named by their JSON, because `true` is no text. */
export const SelectField = (props: FieldProps): JSX.Element => {
  const { field, value, onChange } = props;
  const options = field.options ?? [true, false];
  const choose = (text: string): void => {
    const chosen = options.find((option) => JSON.stringify(option) === text);
    onChange(text === NULL ? null : chosen);
  };
  return (
    <Field {...props}>
      <select
        {...inputProps(props)}
        value={value === undefined ? "" : JSON.stringify(value)}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{field.required ? "choose" : "left out"}</option>
        {options.map((option) => (
          <option key={String(option)} value={JSON.stringify(option)}>
            {String(option)}
          </option>
        ))}
        {field.nullable && <option value={NULL}>null</option>}
      </select>
    </Field>
  );
};

export const TextField = (props: FieldProps): JSX.Element => {
  const { field, path, value, onChange } = props;
  const isNull = value === null;
  return (
    <Field {...props}>
      <div class="input-row">
        <Input
          {...inputProps(props)}
          isSecret={field.secret}
          inputMode={field.type === "number" ? "numeric" : "text"}
          placeholder={isNull ? "null" : exampleText(field)}
          disabled={isNull}
          value={value === undefined || isNull ? "" : String(value)}
          onInput={({ currentTarget: { value: text } }) =>
            onChange(text === "" ? undefined : valueOfText(field, text))
          }
        />
        {field.nullable && (
          <label class="inline">
            <input
              type="checkbox"
              aria-label={`${path}: null`}
              checked={isNull}
              onChange={(event) => onChange(event.currentTarget.checked ? null : undefined)}
            />
            null
          </label>
        )}
      </div>
    </Field>
  );
};
