import type uPlot from 'uplot'
import type { PlotLook } from './plot.tsx'

/** An axis in the look of the tokens; `format` writes its numbers. */
export function createAxis(
  look: PlotLook,
  options: { format: (value: number) => string; sizePx?: number },
): uPlot.Axis {
  return {
    stroke: look.text,
    font: look.font,
    grid: { stroke: look.grid, width: 1 },
    ticks: { stroke: look.grid, width: 1, size: 4 },
    values: (_plot, splits) => splits.map((value) => options.format(value)),
    ...(options.sizePx !== undefined && { size: options.sizePx }),
  }
}
