import { formatSetDuration } from '../messages/duration.ts'
import { sayFixInOneLine } from '../messages/fix-messages.ts'
import { VALUE_WORDS } from '../options/plan-options.ts'
import { type Fix, toEffect, toPlace } from './fixes.ts'
import type { SentPlan } from './plan.ts'

/** A difference between the plans of two runs. */
export interface PlanDifference {
  /** Path in the plan, such as `load.pace.ratePerSecond`; `fixes` for each fix that differs. */
  path: string
  a: string
  b: string
}

/** Parts of a plan that do not affect measurements. */
const HARMLESS: readonly string[] = [
  'version',
  'name',
  'filledBy',
  'onlyNew',
  // Said one by one.
  'fixes',
  'earlierFixes',
  ...[...VALUE_WORDS].flatMap(([path, { setting }]) => (setting === null ? [path] : [])),
]

/** All differences between two plans that affect measurements, in the order of the first. */
export function listPlanDifferences(a: unknown, b: unknown): PlanDifference[] {
  const left = new Map(listLeaves(a, ''))
  const right = new Map(listLeaves(b, ''))
  const values = [...new Set([...left.keys(), ...right.keys()])]
    .filter((path) => left.get(path) !== right.get(path) && !isHarmless(path))
    .map((path) => ({ path, a: left.get(path) ?? 'not set', b: right.get(path) ?? 'not set' }))
  return [...values, ...listFixDifferences(a, b)]
}

/**
 * Fixes by what they do, wherever they are in the list; one of A and one of B for one place are one
 * difference.
 */
function listFixDifferences(a: unknown, b: unknown): PlanDifference[] {
  const [left, right] = [readFixes(a), readFixes(b)]
  const groupOthers = (fixes: ReadonlyMap<string, Fix>, others: ReadonlyMap<string, Fix>) =>
    Map.groupBy(
      [...fixes].filter(([effect]) => !others.has(effect)).map(([, fix]) => fix),
      toPlace,
    )
  const [onlyInA, onlyInB] = [groupOthers(left, right), groupOthers(right, left)]
  return [...new Set([...onlyInA.keys(), ...onlyInB.keys()])].flatMap((place) => {
    const [ofA, ofB] = [onlyInA.get(place) ?? [], onlyInB.get(place) ?? []]
    return Array.from({ length: Math.max(ofA.length, ofB.length) }, (_, at) =>
      sayFixDifference(ofA[at] ?? null, ofB[at] ?? null),
    )
  })
}

function sayFixDifference(ofA: Fix | null, ofB: Fix | null): PlanDifference {
  const [a, b] = [ofA, ofB].map((fix) => (fix === null ? 'not set' : sayFixInOneLine(fix)))
  return { path: 'fixes', a: a ?? '', b: a === b ? `${b} (not the same)` : (b ?? '') }
}

/** The fixes of a plan by what they do; those of earlier sessions included. */
function readFixes(plan: unknown): Map<string, Fix> {
  const { fixes: newest = [], earlierFixes = [] } = Object(plan) as Partial<SentPlan>
  const fixes = [...earlierFixes.flatMap((earlier) => earlier.fixes), ...newest]
  return new Map(fixes.map((fix) => [toEffect(fix), fix]))
}

function isHarmless(path: string): boolean {
  return HARMLESS.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
}

function* listLeaves(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (value === undefined) return
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) yield* listLeaves(item, `${path}[${index}]`)
    return
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield* listLeaves(item, path === '' ? key : `${path}.${key}`)
    }
    return
  }
  yield [path, typeof value === 'string' ? value : JSON.stringify(value)]
}

/** Settings in words, by their paths in a plan; settings in option tables have their words there. */
const SETTINGS: Readonly<Record<string, string>> = {
  'operation.kind': 'operation',
  'operation.mode': 'answers',
  'operation.api': 'version of the interface',
  'operation.legacy': 'legacy answer',
  'operation.models': 'model',
  'operation.indexId': 'index',
  'pace.kind': 'pace',
  'pace.concurrency': 'requests in flight',
  'pace.ratePerSecond': 'requests a second',
  'pace.maxInFlight': 'requests in flight at most',
}

/** A difference in words: the setting's name instead of its path, and durations with units. */
export function sayPlanDifference({ path, a, b }: PlanDifference): { setting: string; a: string; b: string } {
  const say = (text: string) => {
    if (path.endsWith('Ms') && /^\d+$/.test(text)) return formatSetDuration(Number(text))
    return text === 'true' ? 'yes' : text === 'false' ? 'no' : text
  }
  return { setting: nameSetting(path), a: say(a), b: say(b) }
}

function nameSetting(path: string): string {
  const known = VALUE_WORDS.get(path)?.setting ?? SETTINGS[path]
  if (known !== undefined) return known
  const header = /^connection\.headers\.(.+)$/.exec(path)?.[1]
  if (header !== undefined) return `header ${header}`
  const [, field, filled] = /^mapping\.(.+)\.(\w+)$/.exec(path) ?? []
  if (field !== undefined) return `${field}, ${filled === 'kind' ? 'filled by' : filled}`
  const [, list, index, part] = /^(.+)\[(\d+)\](?:\.(\w+))?$/.exec(path) ?? []
  if (list === undefined) return saySettingKey(path.split('.').at(-1) ?? path)
  return `${nameSetting(list)} ${Number(index) + 1}${part === undefined ? '' : `, ${saySettingKey(part)}`}`
}

/** A key such as `gracefulStopMs` as words. */
function saySettingKey(key: string): string {
  return key.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
