/** A terminal's text as an SVG picture. */

/** Size of one character in pixels. */
const CELL = { width: 8.4, height: 19 };
const MARGIN = 14;
const FOREGROUND = "#d4d4d4";
const BACKGROUND = "#1e1e1e";

const ESCAPE = "\u001b[";
const ESCAPE_SEQUENCE = new RegExp(`${ESCAPE.replace("[", "\\[")}(\\d+)m`);

/** Effect of each SGR parameter (ECMA-48, 8.3.117) that picocolors writes. */
const STYLES = {
  0: { fill: FOREGROUND, bold: false, dim: false },
  1: { bold: true },
  2: { dim: true },
  22: { bold: false, dim: false },
  31: { fill: "#f14c4c" },
  32: { fill: "#4ec970" },
  33: { fill: "#e5c07b" },
  36: { fill: "#56b6c2" },
  39: { fill: FOREGROUND },
};

const escaped = (text) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

/** One run of characters in one style. Its width is fixed, because fonts differ. */
const runAt = (text, column, baseline, { fill, bold, dim }) => {
  const x = (MARGIN + column * CELL.width).toFixed(1);
  const width = (text.length * CELL.width).toFixed(1);
  const style = `${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
  return `<text x="${x}" y="${baseline}" textLength="${width}" fill="${fill}"${style}>${escaped(text)}</text>`;
};

/**
 * @param lines with the escape sequences of picocolors, none wider than `columns`
 * @param title for screen readers
 * @param rows height in lines
 */
export const terminalSvg = (lines, { title, columns, rows = lines.length }) => {
  let style = STYLES[0];
  const runs = lines.flatMap((line, row) => {
    const baseline = MARGIN + (row + 0.75) * CELL.height;
    let column = 0;
    // The odd entries are the parameters of the escape sequences between the texts.
    return line.split(ESCAPE_SEQUENCE).flatMap((part, index) => {
      if (index % 2 === 1) {
        style = { ...style, ...STYLES[part] };
        return [];
      }
      const start = column;
      column += part.length;
      // SVG collapses consecutive spaces, so each group of words has its own position.
      return [...part.matchAll(/\S+(?: \S+)*/g)].map((group) =>
        runAt(group[0], start + group.index, baseline, style),
      );
    });
  });
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows * CELL.height + 2 * MARGIN);
  const font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14"';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${runs.join("\n")}
</svg>
`;
};
