import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { PriceSteps } from "./price-steps.ts";

const HEIGHT = 280;
const DAY_S = 86_400;

/** A colour of the style sheet, which follows the reader's theme. */
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clockText = (date: Date, withSeconds: boolean): string =>
  date.toLocaleTimeString(undefined, {
    hourCycle: "h23",
    hour: "2-digit",
    minute: "2-digit",
    ...(withSeconds && { second: "2-digit" }),
  });

const dayText = (date: Date): string =>
  date.toLocaleDateString(undefined, { month: "short", day: "numeric" });

/** Labels of the time axis: days, or times with the day below the first of each. */
const timeLabels: uPlot.Axis.DynamicValues = (_chart, splits, _axis, _space, step) => {
  let shownDay = "";
  return splits.map((at) => {
    const date = new Date(at * 1000);
    const day = dayText(date);
    if (step >= DAY_S) return day;
    const isNew = day !== shownDay;
    shownDay = day;
    return `${clockText(date, step < 60)}${isNew ? `\n${day}` : ""}`;
  });
};

/** Labels of the amounts, with as many decimals as their distance needs. */
const amountLabels: uPlot.Axis.DynamicValues = (_chart, splits, _axis, _space, step) => {
  const decimals = Math.min(20, Math.max(0, Math.ceil(-Math.log10(step))));
  return splits.map((value) => value.toFixed(decimals));
};

/** Space for the longest label, px. */
const labelWidth = (_chart: uPlot, labels: readonly string[] | null): number =>
  20 + 7.5 * Math.max(1, ...(labels ?? []).map((label) => label.length));

/** A period with a margin at both ends; an hour around a single instant. */
const withMargin: uPlot.Range.Function = (_chart, from, to) => {
  const margin = Math.max((to - from) * 0.03, to > from ? 0.5 : 1_800);
  return [from - margin, to + margin];
};

/** Draws a dashed line at each change. */
const drawChanges =
  (changes: readonly number[]) =>
  ({ ctx, bbox, valToPos }: uPlot): void => {
    ctx.save();
    ctx.strokeStyle = colour("--wait");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const at of changes) {
      const x = Math.round(valToPos(at, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };

const optionsOf = (
  width: number,
  { changes }: PriceSteps,
  onCursor: (index: number | null | undefined) => void,
): uPlot.Options => {
  const paths = uPlot.paths.stepped?.({ align: 1 });
  const axis = {
    stroke: () => colour("--muted"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: true, range: withMargin } },
    axes: [
      { ...axis, values: timeLabels, space: 75 },
      { ...axis, values: amountLabels, size: labelWidth },
    ],
    series: [
      {},
      {
        stroke: () => colour("--accent"),
        width: 2,
        points: { show: true, size: 7, fill: () => colour("--surface") },
        ...(paths && { paths }),
      },
    ],
    hooks: {
      drawAxes: [drawChanges(changes)],
      setCursor: [({ cursor }) => onCursor(cursor.idx)],
    },
  };
};

const textAt = ({ x, amounts, currency }: PriceSteps, index: number): string => {
  const date = new Date((x[index] ?? 0) * 1000);
  const amount = amounts[index];
  const price = amount === null ? "no price shown" : `${amount} ${currency ?? ""}`;
  return `${dayText(date)}, ${clockText(date, true)}: ${price}`;
};

/**
 * A price over time as a stepped line; dashed lines mark changes. A table beside it must have the same readings,
 * because a canvas has no text.
 */
export const PriceChart = (props: { steps: PriceSteps; label: string }): JSX.Element => {
  const { steps, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null | undefined>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const options = optionsOf(element.clientWidth, steps, setPointed);
    const chart = new uPlot(options, [[...steps.x], [...steps.y]], element);
    const resizing = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resizing.observe(element);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => chart.redraw();
    theme.addEventListener("change", redraw);
    return () => {
      theme.removeEventListener("change", redraw);
      resizing.disconnect();
      chart.destroy();
    };
  }, [steps]);
  return (
    <figure class="chart">
      <div ref={box} role="img" aria-label={label} />
      <figcaption class="muted">
        {pointed === null || pointed === undefined || pointed >= steps.x.length
          ? "A dashed line marks a change. Point at the chart for an exact amount."
          : textAt(steps, pointed)}
      </figcaption>
    </figure>
  );
};
