import type { Fault } from '../../shared/sandbox/behaviour.ts'
import { parseCount, parseDurationMs, parseShare } from './quantities.ts'
import { toBadSetting } from './sandbox-errors.ts'
import type { Draw } from './seeded-draw.ts'

export interface DecidedFault {
  fault: Fault
  /** Whether the task is stored in spite of its faulty answer. */
  isStored: boolean
  status: number
}

const SERVER_ERROR_STATUSES = [500, 502, 503, 504]

/** Decides by chance whether a try of a post_id goes wrong, and how; at most one fault per request. */
export function decideFault(faults: readonly Fault[], tryNumber: number, draw: Draw): DecidedFault | null {
  if (faults.length === 0) return null
  let rest = draw('fault')
  for (const fault of faults) {
    if (rest < fault.share) {
      if (fault.tries !== null && tryNumber > fault.tries) return null
      return {
        fault,
        isStored: fault.moment === 'either' ? draw('fault moment') < 0.5 : fault.moment === 'after',
        status: fault.status ?? chooseServerError(draw),
      }
    }
    rest -= fault.share
  }
  return null
}

function chooseServerError(draw: Draw): number {
  return SERVER_ERROR_STATUSES[Math.floor(draw('fault status') * SERVER_ERROR_STATUSES.length)] ?? 500
}

/** The fault's name in the statistics: `fault:5xx`, `fault:reset-after`. */
export function toFaultOutcome({ fault, isStored }: DecidedFault): string {
  return fault.moment === 'either'
    ? `fault:${fault.name}-${isStored ? 'after' : 'before'}`
    : `fault:${fault.name}`
}

const HINT =
  'Write it like 5xx=3% or 429=3%,retry-after=1. Kinds: 5xx, 400 to 599, reset, stall (each with -before or -after), broken-json, truncated, html. Settings: retry-after, tries, status, for.'

/** Default Retry-After of a 429, seconds. */
const DEFAULT_RETRY_AFTER_S = 1

/**
 * Parses fault settings such as `5xx=3%`, `429=3%,retry-after=1`, `reset=1%`, or several in one text,
 * separated by commas; `docs/sandbox.md` lists them. Throws `BAD_USAGE`, also if the shares add up to more
 * than 100 %.
 */
export function parseFaults(texts: readonly string[]): Fault[] {
  const faults: Fault[] = []
  for (const text of texts) {
    const ofText: Fault[] = []
    for (const part of text.split(',')) {
      const [name = '', value = '', ...more] = part.split('=').map((side) => side.trim())
      const expectsValue = name !== '' && value !== '' && more.length === 0
      if (!expectsValue) throw toBadSetting('fault', text, 'NAME=VALUE parts separated by commas', HINT)
      const started = startFault(name, value, text)
      if (started !== null) ofText.push(started)
      else applySetting(ofText.at(-1), name, value, text)
    }
    faults.push(...ofText)
  }
  const total = faults.reduce((sum, fault) => sum + fault.share, 0)
  if (total > 1 + 1e-9) {
    throw toBadSetting('fault', texts.join(' '), 'shares that add up to at most 100%', HINT)
  }
  return faults
}

function startFault(name: string, value: string, text: string): Fault | null {
  const [, stem = name, suffix] = /^(.+?)(?:-(before|after))?$/.exec(name) ?? []
  const shape = toShape(stem)
  if (shape === null) return null
  const hasFixedMoment = shape.kind === 'broken-json' || shape.kind === 'truncated' || shape.kind === 'html'
  if (suffix !== undefined && hasFixedMoment) {
    throw toBadSetting('fault', text, `${stem} without -before and -after`, HINT)
  }
  const share = parseShare(value)
  if (share === null)
    throw toBadSetting('fault', text, `a share of at most 100% for ${name}, such as 3%`, HINT)
  return {
    kind: shape.kind,
    name,
    share,
    moment: suffix === 'before' || suffix === 'after' ? suffix : shape.moment,
    status: shape.status,
    retryAfterS: shape.status === 429 ? DEFAULT_RETRY_AFTER_S : null,
    tries: null,
    stallMs: null,
  }
}

function toShape(
  stem: string,
): { kind: Fault['kind']; moment: Fault['moment']; status: number | null } | null {
  switch (stem) {
    case '5xx':
      return { kind: 'status', moment: 'before', status: null }
    case 'reset':
      return { kind: stem, moment: 'before', status: 200 }
    case 'stall':
      return { kind: stem, moment: 'either', status: 200 }
    case 'broken-json':
    case 'truncated':
      return { kind: stem, moment: 'after', status: 200 }
    case 'html':
      return { kind: 'html', moment: 'before', status: 200 }
    default:
      return /^[45]\d\d$/.test(stem) ? { kind: 'status', moment: 'before', status: Number(stem) } : null
  }
}

function applySetting(fault: Fault | undefined, name: string, value: string, text: string): void {
  if (fault === undefined) throw toBadSetting('fault', text, `a kind of fault, not "${name}"`, HINT)
  const count = parseCount(value)
  if (name === 'retry-after' && fault.kind === 'status' && count !== null) fault.retryAfterS = count
  else if (name === 'tries' && count !== null && count > 0) fault.tries = count
  else if (name === 'status' && fault.kind === 'html' && count !== null && count >= 200 && count <= 599) {
    fault.status = count
  } else if (name === 'for' && fault.kind === 'stall' && parseDurationMs(value) !== null) {
    fault.stallMs = parseDurationMs(value)
  } else {
    throw toBadSetting(
      'fault',
      text,
      `a setting that ${fault.name} has, with a value of its kind, not "${name}=${value}"`,
      HINT,
    )
  }
}
