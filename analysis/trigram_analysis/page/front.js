// The chart of the front: the deciding measure against the numeric option of the sweep. Without such an option, or if the
// measure does not change with it, the bars remain that the page has without scripts.
import {el} from "./dom.js";
import {sweepChart, sweptAxis} from "./sweep_charts.js";

export function startFront(host, view) {
  const swept = sweptAxis(view), m = view.data.measures.findIndex(measure => measure.better);
  if (swept === null || m < 0) return;
  const bars = [...host.childNodes];
  const draw = () => host.replaceChildren(...(figure => figure ? [el("div", {class: "charts"}, figure)] : bars)(sweepChart(view, swept, m)));
  draw();
  view.on("setting", draw);
}
