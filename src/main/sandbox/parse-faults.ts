import { toBadSetting } from './bad-setting.ts'
import type { Fault, FaultKind } from './faults.ts'
import { parseCount, parseDurationMs, parseShare } from './quantities.ts'

const HINT =
  'Write it like 5xx=3% or 429=3%,retry-after=1. Kinds: 5xx, 400 to 599, reset, stall (each with -before or -after), broken-json, truncated, html. Settings: retry-after, tries, status, for.'

/** Seconds of Retry-After that a 429 names unless told otherwise. */
const DEFAULT_RETRY_AFTER_S = 1

/**
 * Reads fault settings such as `5xx=3%`, `429=3%,retry-after=1`, `reset=1%` or several in one text, separated by
 * commas; `docs/sandbox.md` has them all. Throws `BAD_USAGE`, also where the shares add up to more than 100 %.
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

function toShape(stem: string): { kind: FaultKind; moment: Fault['moment']; status: number | null } | null {
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
