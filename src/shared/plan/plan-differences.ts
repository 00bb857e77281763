/** Something that two runs' plans say differently. */
interface PlanDifference {
  /** Where in the plan, such as `load.pace.ratePerSecond`. */
  path: string
  a: string
  b: string
}

/** What a plan says that does not change what is measured. */
const HARMLESS = [
  'version',
  'name',
  'connection.name',
  'connection.apiKeyEnv',
  'load.thresholds',
  'load.sampleSize',
  'load.errorLimit',
]

/** Everything that two plans say differently and that bears on what is measured, in the order of the first. */
export function listPlanDifferences(a: unknown, b: unknown): PlanDifference[] {
  const left = new Map(listLeaves(a, ''))
  const right = new Map(listLeaves(b, ''))
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((path) => left.get(path) !== right.get(path) && !isHarmless(path))
    .map((path) => ({ path, a: left.get(path) ?? 'not said', b: right.get(path) ?? 'not said' }))
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
