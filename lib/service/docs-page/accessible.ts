/** Changes to components of Swagger UI, without which axe-core reports its page as hard to use without a mouse. */

type Props = Readonly<Record<string, unknown>>;

interface React {
  createElement(type: unknown, props: Props | null, ...children: readonly unknown[]): unknown;
}

/** Replaces a component; `original` is the one of Swagger UI. */
type Wrapper = (original: unknown, system: { readonly React: React }) => (props: Props) => unknown;

const adding =
  (added: Props): Wrapper =>
  (original, { React }) =>
  (props) =>
    React.createElement(original, { ...props, ...added });

/** A part of a schema, as an immutable map. */
interface Schema {
  getIn(path: readonly string[]): unknown;
}

/** Gives a field the name of its parameter, if it is one list of choices. The other fields have a placeholder. */
const naming =
  (isChoice: (schema: Schema) => boolean): Wrapper =>
  (original, { React }) =>
  (props) => {
    const field = React.createElement(original, props);
    if (!isChoice(props.schema as Schema)) return field;
    const name = React.createElement("span", { className: "unseen" }, props.description);
    return React.createElement("label", null, name, field);
  };

const HOW_TO_TRY =
  "Authorize takes the API key that the service printed at its start. Then open an operation, choose Try it out, and Execute.";

const wrapComponents: Readonly<Record<string, Wrapper>> = {
  // A link inside the button that opens an operation; the button sets the address too.
  DeepLink:
    (_, { React }) =>
    ({ text }) =>
      React.createElement("span", null, text),
  InfoContainer:
    (original, { React }) =>
    (props) =>
      React.createElement(
        "section",
        { "aria-label": "About" },
        React.createElement(original, props),
      ),
  // The only server is the one that serves the page.
  ServersContainer: () => () => null,
  AuthorizeBtnContainer:
    (original, { React }) =>
    (props) =>
      React.createElement(
        "section",
        { className: "try", "aria-labelledby": "try" },
        React.createElement("h2", { id: "try" }, "Send requests"),
        React.createElement("p", null, HOW_TO_TRY),
        React.createElement(original, props),
      ),
  // Its label would differ from the text that a person sees and says.
  Button: adding({ "aria-label": undefined }),
  CloseIcon: adding({ "aria-hidden": undefined, role: "img", "aria-label": "Close" }),
  TextArea: adding({ "aria-label": "Request body" }),
  JsonSchema_boolean: naming(() => true),
  JsonSchema_string: naming((schema) => schema.getIn(["enum"]) !== undefined),
  JsonSchema_array: naming((schema) => schema.getIn(["items", "enum"]) !== undefined),
};

export const accessible = () => ({ wrapComponents });
