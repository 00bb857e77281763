import type { Latency } from '../../shared/sandbox/behaviour.ts'
import { parseDurationMs, parseShare } from './quantities.ts'
import { toBadSetting } from './sandbox-errors.ts'
import type { Draw } from './seeded-draw.ts'

const HINT =
  'Write it like 40ms, 40ms±10ms (or 40ms+-10ms), or with rarer modes like "20ms|200ms@5%"; units are ms and s.'

/**
 * Parses a latency: `40ms`, `40ms±10ms`, or several modes as in `20ms|200ms±20ms@5%`, where each mode after
 * the first states its share and the first gets the rest. Throws `BAD_USAGE`.
 */
export function parseLatency(text: string): Latency {
  const [first = '', ...rarer] = text.split('|')
  const modes = rarer.map((part) => {
    const [duration = '', share, ...more] = part.split('@')
    const parsed = share === undefined || more.length > 0 ? null : parseShare(share)
    if (parsed === null)
      throw toBadSetting('latency', text, 'a share such as @5% after each mode but the first', HINT)
    return { ...parseMode(duration, text), share: parsed }
  })
  const taken = modes.reduce((sum, mode) => sum + mode.share, 0)
  if (taken > 1) throw toBadSetting('latency', text, 'shares that add up to at most 100%', HINT)
  return [{ ...parseMode(first, text), share: 1 - taken }, ...modes]
}

function parseMode(text: string, whole: string): { baseMs: number; jitterMs: number } {
  const [base = '', jitter = '0', ...more] = text.split(/±|\+-|\+\/-/)
  const baseMs = parseDurationMs(base)
  const jitterMs = parseDurationMs(jitter)
  if (baseMs === null || jitterMs === null || more.length > 0) {
    throw toBadSetting('latency', whole, 'durations such as 40ms or 1.5s', HINT)
  }
  if (jitterMs > baseMs) throw toBadSetting('latency', whole, 'a jitter that is not over its base', HINT)
  return { baseMs, jitterMs }
}

/** Draws the delay of one answer, in milliseconds. */
export function chooseDelayMs(latency: Latency, draw: Draw): number {
  let rest = latency.length > 1 ? draw('latency mode') : 0
  let chosen = latency[0]
  for (const mode of latency.slice(1)) {
    if (rest < mode.share) {
      chosen = mode
      break
    }
    rest -= mode.share
  }
  if (chosen === undefined) return 0
  if (chosen.jitterMs === 0) return chosen.baseMs
  return chosen.baseMs + (draw('latency') * 2 - 1) * chosen.jitterMs
}
