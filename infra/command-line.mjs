/**
 * Options of esbuild for the `skyhook` command. A call takes about as long as its modules take to load, so its bundle
 * has the packages that it needs: zod loads from a bundle in a fifth of the time.
 */
import { readFile } from "node:fs/promises";
import { BASE, compileSchemasLate, YAML_OF_BROWSERS } from "./bundling.mjs";

/** Databases stay imports: one has a native part. zod is bundled for speed, and a dependency for its types. */
const DATABASES = ["level", "memory-level"];

const SEGMENTER = "const segmenter = new Intl.Segmenter();";
const SEGMENTER_WHEN_USED = `let made;
const segmenter = { segment: (text) => (made ??= new Intl.Segmenter()).segment(text) };`;

/** commander is CommonJS, and an ES module has no `require` for the modules of Node. */
const REQUIRES_NODE = /\brequire\((?=['"]node:)/g;

/** Only for verbs that are programs of their own; `skyhook` has none. */
const CHILD_PROCESS = "require('node:child_process')";
const CHILD_PROCESS_WHEN_USED =
  "{ get spawn() { return globalThis.process.getBuiltinModule('node:child_process').spawn; } }";

/** Its class of characters takes 1 ms to build. */
const IGNORABLE = "const defaultIgnorableCodePointRegex = /^\\p{Default_Ignorable_Code_Point}$/u;";
const IGNORABLE_WHEN_USED = `let ignorable;
const defaultIgnorableCodePointRegex = { test: (text) => (ignorable ??= /^\\p{Default_Ignorable_Code_Point}$/u).test(text) };`;

const HASHES = "import { createHash } from 'node:crypto';";
const HASHES_WHEN_USED =
  'const createHash = (name) => process.getBuiltinModule("node:crypto").createHash(name);';

/** The text of an error that reads the flags of each given option, and deriving those of a field takes 12 ms. */
const INVALID_VALUE = /(?<=const invalidValueMessage = )(`error: option [^`]* argument [^`]*`)/;
const INVALID_VALUE_WHEN_USED = "{ toString: () => $1 }";

/** Per file: texts to find, each with its replacement. */
const CHANGES = [
  {
    filter: /[\\/]commander[\\/]lib[\\/]command\.js$/,
    changes: [
      [INVALID_VALUE, INVALID_VALUE_WHEN_USED],
      [CHILD_PROCESS, CHILD_PROCESS_WHEN_USED],
      [REQUIRES_NODE, "globalThis.process.getBuiltinModule("],
    ],
  },
  {
    // Names from hashes share a chunk with random ids, which nearly every verb needs.
    filter: /[\\/]uuid[\\/]dist-node[\\/]sha1\.js$/,
    changes: [[HASHES, HASHES_WHEN_USED]],
  },
  {
    // Creating a segmenter takes 11 ms of CPU time, and `lib/cli/text-width.ts` seldom needs one.
    filter: /[\\/]string-width[\\/]index\.js$/,
    changes: [
      [SEGMENTER, SEGMENTER_WHEN_USED],
      [IGNORABLE, IGNORABLE_WHEN_USED],
    ],
  },
];

/** Changes the packages above for a bundle that loads fast. Fails where a text is not found. */
const quickPackages = {
  name: "quick-packages",
  setup({ onLoad }) {
    for (const { filter, changes } of CHANGES) {
      onLoad({ filter }, async ({ path }) => {
        let contents = await readFile(path, "utf8");
        const errors = [];
        for (const [found, replacement] of changes) {
          const changed = contents.replace(found, replacement);
          if (changed === contents) errors.push({ text: `${path}: nothing to change: ${found}` });
          contents = changed;
        }
        return { contents, loader: "js", errors };
      });
    }
  },
};

/** Options for the command line, and for what shares chunks with it. */
export const COMMAND_LINE = {
  ...BASE,
  outExtension: { ".js": ".mjs" },
  splitting: true,
  external: DATABASES,
  alias: YAML_OF_BROWSERS,
  // Names stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [quickPackages, compileSchemasLate],
};
