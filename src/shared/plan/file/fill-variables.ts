import { isJsonObject } from '../../service/json-object.ts'
import { mayNameSecret } from '../request-headers.ts'
import type { PlanFileProblem } from './parse-plan-file.ts'
import { formatJsonPath } from './parse-plan-file.ts'

/** `${NAME}`, `${NAME:-otherwise}`, or `$${` for a literal `${`. */
const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Paths of parts in which `${` has no meaning: content, notes, names of variables, values that stay secret
 * until they are sent, and an address for the service.
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

/** A plan file's value after filling in variables, and what is wrong with these. */
export interface FilledPlan {
  value: unknown
  problems: PlanFileProblem[]
  paths: ReadonlySet<string>
}

/**
 * Fills in the variables of a plan file. A text that consists of one placeholder becomes a number, true or
 * false if its value is one and `wantsOther` says that a text is not valid there.
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
      // A run's plan is stored and shown, so it must not contain secrets.
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

/** A plan file's value with every `${` escaped. */
export function escapePlanVariables(value: unknown): unknown {
  return changeTexts(value, (text) => text.replaceAll('${', () => '$${'))
}

/** A plan file's value with variables left as written; only `$${` is unescaped. */
export function unescapePlanVariables(value: unknown): unknown {
  return changeTexts(value, (text) => text.replaceAll('$${', () => '${'))
}

/** Changes each text with a `${`, except where that has no meaning. */
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
