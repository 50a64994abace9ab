import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { FormField } from "../../admin/forms.ts";
import { type FieldProps, Input, type ProblemsAt, SelectField, TextField } from "./form-inputs.tsx";

export type Values = Readonly<Record<string, unknown>>;

const without = (values: Values, name: string): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));

const asObject = (value: unknown): Values =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

/** The parts of an object, list or map, and buttons that add it, leave it out or make it null. */
const GroupField = (
  props: FieldProps & { readonly empty: unknown; readonly children: ComponentChildren },
): JSX.Element => {
  const { field, path, value, onChange, empty } = props;
  const name = props.label ?? field.name;
  const problems = props.problemsAt(path);
  return (
    <fieldset class="group" id={path}>
      <legend>
        <code>{name}</code>
        {field.required && <span class="required"> required</span>}
        {field.secret && <span class="required"> secret</span>}
      </legend>
      <p class="hint">
        {field.description && `${field.description}: `}
        {field.rule}
      </p>
      <p class="problem" role="status">
        {problems.join("; ")}
      </p>
      {value === null && <p>null</p>}
      {value !== undefined && value !== null && props.children}
      <div class="actions">
        {(value === undefined || value === null) && (
          <button type="button" class="quiet small" onClick={() => onChange(empty)}>
            Add {name}
          </button>
        )}
        {value !== undefined && (
          <button type="button" class="quiet small" onClick={() => onChange(undefined)}>
            Leave {name} out
          </button>
        )}
        {field.nullable && value !== null && (
          <button type="button" class="quiet small" onClick={() => onChange(null)}>
            Set {name} to null
          </button>
        )}
      </div>
    </fieldset>
  );
};

const ListField = (props: FieldProps & { readonly item: FormField }): JSX.Element => {
  const { field, path, item, onChange } = props;
  const entries: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const empty = item.control === "object" ? {} : "";
  return (
    <GroupField {...props} empty={[empty]}>
      {entries.map((entry, index) => (
        <div class="entry" key={index}>
          <AnyField
            field={item}
            path={`${path}.${index}`}
            label={`${field.name} ${index + 1}`}
            value={entry}
            problemsAt={props.problemsAt}
            onChange={(value) => onChange(entries.with(index, value ?? empty))}
          />
          <button
            type="button"
            class="quiet small"
            onClick={() => onChange(entries.toSpliced(index, 1))}
          >
            Remove {field.name} {index + 1}
          </button>
        </div>
      ))}
      <button type="button" class="quiet small" onClick={() => onChange([...entries, empty])}>
        Add an entry
      </button>
    </GroupField>
  );
};

/** Names and values. Keeps its rows, because two rows may have one name while the user types. */
const MapField = (props: FieldProps & { readonly item: FormField }): JSX.Element => {
  const { field, path, item, value, onChange } = props;
  const [rows, setRows] = useState(() =>
    Object.entries(asObject(value)).map(([name, text]) => [name, String(text)] as const),
  );
  const change = (next: typeof rows): void => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name !== "")));
  };
  return (
    <GroupField
      {...props}
      empty={{}}
      onChange={(next) => {
        setRows(next ? [["", ""]] : []);
        onChange(next);
      }}
    >
      {rows.map(([name, text], index) => (
        <div class="pair" key={index}>
          <Input
            isSecret={false}
            aria-label={`${field.name} name ${index + 1}`}
            placeholder="name"
            value={name}
            onInput={(event) => change(rows.with(index, [event.currentTarget.value, text]))}
          />
          <Input
            isSecret={item.secret}
            aria-label={`${field.name} value ${index + 1}`}
            placeholder="value"
            value={text}
            onInput={(event) => change(rows.with(index, [name, event.currentTarget.value]))}
          />
          <button
            type="button"
            class="quiet small"
            aria-label={`Remove ${field.name} ${index + 1}`}
            onClick={() => change(rows.toSpliced(index, 1))}
          >
            Remove
          </button>
          <p class="problem" role="status">
            {props.problemsAt(`${path}.${name}`).join("; ")}
          </p>
        </div>
      ))}
      <button type="button" class="quiet small" onClick={() => change([...rows, ["", ""]])}>
        Add an entry
      </button>
    </GroupField>
  );
};

/** The fields of an object, each with its part of the values. */
export const FieldSet = (props: {
  fields: readonly FormField[];
  /** Path of the object, with a dot at its end; empty for the request itself. */
  prefix: string;
  values: Values;
  problemsAt: ProblemsAt;
  onChange: (values: Values) => void;
}): JSX.Element => {
  const { fields, prefix, values, problemsAt, onChange } = props;
  return (
    <div class="fields">
      {fields.map((field) => (
        <AnyField
          key={field.name}
          field={field}
          path={`${prefix}${field.name}`}
          value={values[field.name]}
          problemsAt={problemsAt}
          onChange={(value) =>
            onChange(
              value === undefined
                ? without(values, field.name)
                : { ...values, [field.name]: value },
            )
          }
        />
      ))}
    </div>
  );
};

/** The input of a field, by its control. */
const AnyField = (props: FieldProps): JSX.Element => {
  const { field, path, value, onChange } = props;
  switch (field.control) {
    case "boolean":
    case "choice":
      return <SelectField {...props} />;
    case "object":
      return (
        <GroupField {...props} empty={{}}>
          <FieldSet
            fields={field.fields ?? []}
            prefix={`${path}.`}
            values={asObject(value)}
            problemsAt={props.problemsAt}
            onChange={onChange}
          />
        </GroupField>
      );
    case "list":
      return field.item ? <ListField {...props} item={field.item} /> : <TextField {...props} />;
    case "map":
      return field.item ? <MapField {...props} item={field.item} /> : <TextField {...props} />;
    default:
      return <TextField {...props} />;
  }
};
