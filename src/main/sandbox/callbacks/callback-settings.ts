import { chooseDelayMs, parseLatency } from '../latency.ts'
import { parseCount, parseDurationMs, parseShare } from '../quantities.ts'
import { toBadSetting } from '../sandbox-errors.ts'
import type { Draw } from '../seeded-draw.ts'
import type { AttemptResult } from './callback-sender.ts'

/** Default delivery of callbacks (docs/interface.md §6 leaves all of it open). */
const DEFAULTS = {
  /** Delay from the acknowledgement to the first attempt. */
  delay: parseLatency('0ms'),
  /** Longest random extra delay of each callback, in milliseconds, which changes their order. */
  shuffleMs: 0,
  /** Share of tasks whose callback is sent before the acknowledgement, from 0 to 1. */
  earlyShare: 0,
  /** Share of tasks whose callback is delayed by another `lateMs`. */
  lateShare: 0,
  lateMs: 0,
  /** Share of tasks whose callback is never sent. */
  dropShare: 0,
  /** Share of tasks whose callback is sent twice. */
  doubleShare: 0,
  /** Most attempts per callback. */
  attempts: 12,
  /** Wait after the first failed attempt; doubles after each further one. */
  backoffMs: 200,
  /** Time limit for one attempt. */
  timeoutMs: 10_000,
  /** Most callbacks under way at once. */
  connections: 32,
}

export type CallbackSettings = typeof DEFAULTS

/** The value of `shuffle` without a number. */
const DEFAULT_SHUFFLE_MS = 500

const MAX_CONNECTIONS = 1_000

const HINT =
  'Write it like "delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s". Parts: delay=LATENCY, shuffle or shuffle=TIME, early=SHARE, late=SHARE@TIME, drop=SHARE, double=SHARE, attempts=N, backoff=TIME, timeout=TIME, connections=N.'

/**
 * Parses callback settings such as `delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s,drop=0.5%`; an
 * empty text gives the defaults. Throws `BAD_USAGE`, also if early, late and drop add up to more than 100 %.
 */
export function parseCallbacks(text: string): CallbackSettings {
  const settings = { ...DEFAULTS }
  const seen = new Set<string>()
  for (const part of text.trim() === '' ? [] : text.split(',')) {
    const [name = '', value, ...more] = part.split('=').map((side) => side.trim())
    if (more.length > 0 || seen.has(name)) {
      throw toBadSetting('callbacks', text, 'NAME=VALUE parts separated by commas, each once', HINT)
    }
    seen.add(name)
    const change = name === 'shuffle' ? readShuffle(value) : readPart(name, value ?? '')
    if (change === null)
      throw toBadSetting('callbacks', text, `a part with a value of its kind, not "${part}"`, HINT)
    Object.assign(settings, change)
  }
  if (settings.earlyShare + settings.lateShare + settings.dropShare > 1 + 1e-9) {
    throw toBadSetting('callbacks', text, 'early, late and drop to add up to at most 100%', HINT)
  }
  return settings
}

function readShuffle(value: string | undefined): Partial<CallbackSettings> | null {
  const shuffleMs = value === undefined ? DEFAULT_SHUFFLE_MS : parseDurationMs(value)
  return shuffleMs === null ? null : { shuffleMs }
}

function readPart(name: string, value: string): Partial<CallbackSettings> | null {
  switch (name) {
    case 'delay':
      return { delay: parseLatency(value) }
    case 'early':
      return ifRead(parseShare(value), (earlyShare) => ({ earlyShare }))
    case 'drop':
      return ifRead(parseShare(value), (dropShare) => ({ dropShare }))
    case 'double':
      return ifRead(parseShare(value), (doubleShare) => ({ doubleShare }))
    case 'late':
      return readLate(value)
    case 'attempts':
      return ifRead(parseCount(value), (attempts) => (attempts > 0 ? { attempts } : null))
    case 'backoff':
      return ifRead(parseDurationMs(value), (backoffMs) => ({ backoffMs }))
    case 'timeout':
      return ifRead(parseDurationMs(value), (timeoutMs) => (timeoutMs > 0 ? { timeoutMs } : null))
    case 'connections':
      return ifRead(parseCount(value), (connections) =>
        connections > 0 && connections <= MAX_CONNECTIONS ? { connections } : null,
      )
    default:
      return null
  }
}

function readLate(value: string): Partial<CallbackSettings> | null {
  const [share = '', time = '', ...more] = value.split('@')
  const lateShare = parseShare(share)
  const lateMs = parseDurationMs(time)
  return lateShare === null || lateMs === null || more.length > 0 ? null : { lateShare, lateMs }
}

function ifRead<T>(value: T | null, change: (value: T) => Partial<CallbackSettings> | null) {
  return value === null ? null : change(value)
}

/** When a callback is sent: after its acknowledgement, before it, much later, or never. */
type CallbackTiming = 'normal' | 'early' | 'late' | 'dropped'

/** One copy of a task's callback, as chance decided it. */
export interface PlannedCallback {
  timing: CallbackTiming
  /** Delay from the acknowledgement to the first attempt; 0 for an early one. */
  waitMs: number
}

/** Decides by chance when a task's callback is sent and whether twice. The second copy is never early. */
export function planCallbacks(settings: CallbackSettings, draw: Draw): PlannedCallback[] {
  const timing = chooseTiming(settings, draw)
  const first = { timing, waitMs: chooseWaitMs(settings, timing, 1, draw) }
  if (timing === 'dropped' || settings.doubleShare <= draw('callback double')) return [first]
  const again = timing === 'early' ? 'normal' : timing
  return [first, { timing: again, waitMs: chooseWaitMs(settings, again, 2, draw) }]
}

function chooseTiming(settings: CallbackSettings, draw: Draw): CallbackTiming {
  const { earlyShare, lateShare, dropShare } = settings
  if (earlyShare + lateShare + dropShare === 0) return 'normal'
  const rest = draw('callback timing')
  if (rest < earlyShare) return 'early'
  if (rest < earlyShare + lateShare) return 'late'
  return rest < earlyShare + lateShare + dropShare ? 'dropped' : 'normal'
}

function chooseWaitMs(settings: CallbackSettings, timing: CallbackTiming, copy: number, draw: Draw): number {
  if (timing === 'early' || timing === 'dropped') return 0
  const delayMs = chooseDelayMs(settings.delay, (purpose) => draw(`callback ${copy} ${purpose}`))
  const shuffledMs = settings.shuffleMs === 0 ? 0 : settings.shuffleMs * draw(`callback ${copy} shuffle`)
  return delayMs + shuffledMs + (timing === 'late' ? settings.lateMs : 0)
}

/** Longest wait between two attempts, milliseconds, even if Retry-After asks for more. */
const MAX_WAIT_MS = 30_000

/** Waits vary by this share both ways, so that callbacks that failed together are not retried together. */
const JITTER = 0.25

/**
 * Wait after the `attempts`-th failed attempt, in milliseconds: `backoffMs`, doubled after each further
 * failure, with jitter, and at least Retry-After; 0 if the receiver closed the reused connection.
 */
export function toRetryWaitMs(
  { isReusedSocketClosed, retryAfterMs }: AttemptResult,
  { attempts, backoffMs, draw }: { attempts: number; backoffMs: number; draw: Draw },
): number {
  if (isReusedSocketClosed) return 0
  const spread = 1 + JITTER * (2 * draw('callback retry') - 1)
  const waitMs = backoffMs * 2 ** Math.min(attempts - 1, 20) * spread
  return Math.min(MAX_WAIT_MS, Math.max(waitMs, retryAfterMs ?? 0))
}
