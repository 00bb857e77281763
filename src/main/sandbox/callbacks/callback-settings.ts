import { toBadSetting } from '../bad-setting.ts'
import { type Latency, parseLatency } from '../latency.ts'
import { parseCount, parseDurationMs, parseShare } from '../quantities.ts'

/** How the sandbox delivers callbacks (docs/interface.md §6, which leaves all of it open). */
export interface CallbackSettings {
  /** From the acknowledgement to the first attempt. */
  delay: Latency
  /** Every callback waits a further random time of up to this, in milliseconds, so that their order changes. */
  shuffleMs: number
  /** Share of the tasks whose callback is sent before the acknowledgement is answered, from 0 to 1. */
  earlyShare: number
  /** Share of the tasks whose callback waits `lateMs` longer. */
  lateShare: number
  lateMs: number
  /** Share of the tasks whose callback is never sent. */
  dropShare: number
  /** Share of the tasks whose callback is sent a second time. */
  doubleShare: number
  /** Attempts of one callback until it is given up. */
  attempts: number
  /** Wait after the first failed attempt, doubled after each further one. */
  backoffMs: number
  /** A receiver that has not answered by then is given up for this attempt. */
  timeoutMs: number
  /** Most callbacks under way at once. */
  connections: number
}

const DEFAULTS: Readonly<CallbackSettings> = {
  delay: parseLatency('0ms'),
  shuffleMs: 0,
  earlyShare: 0,
  lateShare: 0,
  lateMs: 0,
  dropShare: 0,
  doubleShare: 0,
  attempts: 12,
  backoffMs: 200,
  timeoutMs: 10_000,
  connections: 32,
}

/** What `shuffle` alone stands for. */
const DEFAULT_SHUFFLE_MS = 500

const MAX_CONNECTIONS = 1_000

const HINT =
  'Write it like "delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s". Parts: delay=LATENCY, shuffle or shuffle=TIME, early=SHARE, late=SHARE@TIME, drop=SHARE, double=SHARE, attempts=N, backoff=TIME, timeout=TIME, connections=N.'

/**
 * Reads callback settings such as `delay=50ms±20ms,shuffle,double=5%,early=5%,late=1%@2s,drop=0.5%`; an empty text
 * gives the defaults. Throws `BAD_USAGE`, also where early, late and drop add up to more than 100 %.
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
