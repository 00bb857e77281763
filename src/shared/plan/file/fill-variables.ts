import { isJsonObject } from '../../service/json-object.ts'
import { mayNameSecret } from '../request-headers.ts'
import type { PlanFileProblem } from './parse-plan-file.ts'
import { formatJsonPath } from './parse-plan-file.ts'

/** `${NAME}`, `${NAME:-otherwise}`, or `$${`, which stands for `${` itself. */
const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Parts in which `${` means nothing, by their path: content, notes, names of variables, values that stay secret until
 * they are sent, and an address that the service is told.
 */
const LITERAL = [
  '$schema',
  '$comment',
  'mapping',
  'fixes',
  'accepted',
  'callback.url',
  'connection.headers',
  'connection.apiKeyEnv',
  'connection.proxy.credentialsEnv',
]

/** A plan file's value with the values of variables in it, and what is wrong with them. */
export interface FilledPlan {
  value: unknown
  problems: PlanFileProblem[]
  paths: ReadonlySet<string>
}

/**
 * Fills in the variables that a plan file names. A text that is one placeholder and nothing else becomes a number, or true
 * or false, where its value is one and `wantsOther` says that no text belongs there.
 */
export function fillPlanVariables(
  value: unknown,
  read: (name: string) => string | undefined,
  wantsOther: (path: readonly PropertyKey[]) => boolean,
): FilledPlan {
  const problems: PlanFileProblem[] = []
  const paths = new Set<string>()
  const fillText = (text: string, path: readonly PropertyKey[]): unknown => {
    const filled = text.replaceAll(PLACEHOLDER, (whole, name?: string, otherwise?: string) => {
      if (name === undefined) return '${'
      const at = formatJsonPath(path)
      paths.add(at)
      // A run's plan is stored and shown.
      if (mayNameSecret(name)) {
        problems.push({
          path: at,
          message: `\${${name}} may be a secret, and plans are stored with their runs; use connection.apiKeyEnv or connection.headers`,
        })
        return whole
      }
      const found = read(name) || otherwise
      if (found !== undefined) return found
      problems.push({ path: at, message: `the environment variable ${name} is not set` })
      return whole
    })
    const isWhole = /^\$\{[^}]*\}$/.test(text)
    if (!isWhole || !/^(-?\d+(\.\d+)?|true|false)$/.test(filled) || !wantsOther(path)) return filled
    return JSON.parse(filled)
  }
  return { value: changeTexts(value, fillText), problems, paths }
}

/** A plan file's value in which each `${` stands for itself. */
export function escapePlanVariables(value: unknown): unknown {
  return changeTexts(value, (text) => text.replaceAll('${', () => '$${'))
}

/** A plan file's value whose variables are left as they are written, but for each `$${`. */
export function unescapePlanVariables(value: unknown): unknown {
  return changeTexts(value, (text) => text.replaceAll('$${', () => '${'))
}

/** Changes each text with a `${` in it, but for those where that means nothing. */
function changeTexts(
  value: unknown,
  change: (text: string, path: readonly PropertyKey[]) => unknown,
  path: readonly PropertyKey[] = [],
): unknown {
  if (LITERAL.includes(path.join('.'))) return value
  if (typeof value === 'string') return value.includes('${') ? change(value, path) : value
  if (Array.isArray(value)) return value.map((item, index) => changeTexts(item, change, [...path, index]))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, changeTexts(item, change, [...path, key])]),
  )
}
