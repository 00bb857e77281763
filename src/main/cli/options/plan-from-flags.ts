import { basename } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { SluiceError } from '../../../shared/errors.ts'
import { findNearest } from '../../../shared/find-nearest.ts'
import { type Pace, type Plan, planSchema } from '../../../shared/plan.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import { type FieldAssignment, toMapping } from './mapping-option.ts'
import type { SendingFlags } from './sending-options.ts'

const DEFAULT_CONCURRENCY = 4
const MAX_IN_FLIGHT = 10_000
const KEYED_FIELD = /^(user_metadata|content_metadata)\.(.+)$/s

function checkFields(assignments: readonly FieldAssignment[]): void {
  const names = TASK_FIELDS.map((field) => field.name)
  for (const { field } of assignments) {
    if (names.some((name) => name === field) || KEYED_FIELD.test(field)) continue
    const nearest = findNearest(field, names)
    throw new SluiceError({
      code: 'BAD_USAGE',
      message: `--map, --set: a task has no field \`${field}\`${nearest === null ? '' : `; did you mean ${nearest}?`}`,
      hint: `Fields: ${names.join(', ')}, user_metadata.KEY, content_metadata.KEY.`,
    })
  }
}

function toPace(flags: SendingFlags): Pace {
  if (flags.rate === undefined) {
    return { kind: 'closed', concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY }
  }
  const whatFillsTheTimeout = Math.ceil(flags.rate * (flags.timeout / 1000))
  const maxInFlight = flags.concurrency ?? Math.min(MAX_IN_FLIGHT, Math.max(1, whatFillsTheTimeout))
  return { kind: 'open', ratePerSecond: flags.rate, maxInFlight }
}

/**
 * The plan that `task` was asked to run. `sourcePath` is absolute.
 * Throws a `SluiceError` or commander's `InvalidArgumentError` where the options do not go together.
 */
export function toPlan(sourcePath: string, flags: SendingFlags): Plan {
  const assignments = [...(flags.map ?? []), ...(flags.set ?? [])]
  checkFields(assignments)
  if (flags.baseUrl === undefined) {
    throw new SluiceError({
      code: 'BAD_USAGE',
      message: 'no --base-url: which service is it for?',
      hint: `Name its address, such as --base-url https://api.example.com. To try without an account: ${COMMAND_PREFIX} sandbox`,
    })
  }
  if (flags.api === 'v2' && flags.legacy) {
    throw new InvalidArgumentError('--legacy: the legacy response exists in v1 only; leave out --api v2')
  }
  return planSchema.parse({
    name: flags.name ?? basename(sourcePath),
    connection: {
      baseUrl: flags.baseUrl,
      apiKeyEnv: flags.apiKeyEnv,
      timeoutMs: flags.timeout,
      deliveredCodes: flags.deliveredCode ?? [],
    },
    source: {
      path: sourcePath,
      header: flags.header,
      ...(flags.encoding === undefined ? {} : { encoding: flags.encoding }),
      ...(flags.delimiter === undefined ? {} : { delimiter: flags.delimiter }),
    },
    mapping: toMapping(assignments),
    operation: {
      kind: 'task',
      mode: 'sync',
      api: flags.api,
      legacy: flags.legacy === true,
      models: flags.model ?? [],
    },
    pace: toPace(flags),
    retry: { limit: flags.retries },
  })
}
