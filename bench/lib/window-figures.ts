import { toText } from './figures.ts'
import type { Frames } from './frames.ts'
import type { WindowFigures } from './walk-window.ts'

/** A figure with its unit, and the processor time that it took, if known. */
export interface Figure {
  name: string
  value: number
  unit: 'ms' | 'MB' | '' | '/s'
  pageCpuMs: number | null
  serverCpuMs: number | null
}

/** A figure without a processor time. */
export function toFigure(name: string, value: number, unit: Figure['unit']): Figure {
  return { name, value, unit, pageCpuMs: null, serverCpuMs: null }
}

/** A line for each mark; the processor time is that of all of them. */
export function toFigures(walked: WindowFigures, ending = ''): Figure[] {
  return Object.entries(walked).flatMap(([step, { ms, pageCpuMs, serverCpuMs }]) =>
    Object.entries(ms).map(([mark, value]) => ({
      name: `${mark === 'drawn' ? step : `${step}, ${mark}`}${ending}`,
      value,
      unit: 'ms' as const,
      pageCpuMs,
      serverCpuMs,
    })),
  )
}

/** Lines for the frames drawn meanwhile. */
export function toFrameFigures(name: string, { frames, p50Ms, p99Ms, maxMs, dropped }: Frames): Figure[] {
  return [
    toFigure(`${name}, p50 of a frame`, p50Ms, 'ms'),
    toFigure(`${name}, p99 of a frame`, p99Ms, 'ms'),
    toFigure(`${name}, longest frame`, maxMs, 'ms'),
    toFigure(`${name}, frames`, frames, ''),
    toFigure(`${name}, frames left out`, dropped, ''),
  ]
}

/** A figure with its unit as a cell of a table. */
export function toCell({ value, unit }: Figure): string {
  return `${toText(value, value < 100 && unit === 'ms' ? 1 : 0)} ${unit}`.trim()
}

/** The processor time of a figure as cells of a table. */
export function toCpuCells({ pageCpuMs, serverCpuMs }: Figure): string[] {
  return [pageCpuMs, serverCpuMs].map((ms) => (ms === null ? '' : `${toText(ms)} ms`))
}
