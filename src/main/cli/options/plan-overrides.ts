import { type Command, InvalidArgumentError } from 'commander'
import type { StagesPace } from '../../../shared/load/load-pace.ts'
import type { Threshold } from '../../../shared/load/thresholds.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import type { PlanConnectionInput } from '../../../shared/plan/connection.ts'
import { type Plan, planSchema } from '../../../shared/plan/plan.ts'
import type { Connections } from '../../../shared/plan/stored-connection.ts'
import { findConnection } from '../../engine/workspace/connections.ts'
import { addLoadOverrides, toOverriddenLoad } from './load-options.ts'
import { toPace } from './plan-from-flags.ts'
import { addPaceOptions, NO_STOP_OF_LOADS, type PaceFlags, toStopRule } from './sending-options.ts'
import {
  addServiceOptions,
  hideDefaults,
  overrideService,
  type ServiceFlags,
  toConnectionInput,
} from './service-options.ts'
import { readFlags } from './table-options.ts'

export interface OverrideFlags extends ServiceFlags, PaceFlags {
  name?: string
  stages?: StagesPace
  duration?: number
  requests?: number
  threshold?: Threshold[]
}

export function addOverrideOptions(command: Command): Command {
  command.option('--name <text>', 'run name, instead of that of the plan')
  hideDefaults(addPaceOptions(addServiceOptions(command)))
  return addLoadOverrides(command)
}

/** Whether options alone name the service, so that nothing of the plan's connection counts. */
export function isConnectionGiven({ connection, baseUrl }: ServiceFlags): boolean {
  return connection !== undefined || baseUrl !== undefined
}

/**
 * A connection with the overrides of options. A named connection or another address replaces it, so that one
 * service never gets another's key. Throws `InvalidArgumentError` and `CONNECTION_NOT_FOUND`.
 */
export function overrideConnection(
  planned: PlanConnectionInput,
  flags: ServiceFlags,
  connections: Connections,
  env: NodeJS.ProcessEnv,
): PlanConnectionInput {
  if (flags.connection !== undefined) {
    return toConnectionInput(flags, findConnection(connections, flags.connection), env)
  }
  if (flags.baseUrl !== undefined) return toConnectionInput(flags, null, env)
  return overrideService(planned, flags, env)
}

/** A plan with options' overrides. Throws commander's `InvalidArgumentError` and `CONNECTION_NOT_FOUND`. */
export function overridePlan(
  plan: Plan,
  flags: OverrideFlags,
  { connections, env }: { connections: Connections; env: NodeJS.ProcessEnv },
): Plan {
  const connection = overrideConnection(plan.connection, flags, connections, env)
  const overridden = {
    ...plan,
    connection,
    ...(flags.name === undefined ? {} : { name: flags.name }),
    retry: { ...plan.retry, ...readFlags(RETRY_OPTIONS, flags) },
    ...toStopRule(flags, plan.stop),
  }
  if (plan.load !== undefined) {
    if (overridden.stop !== plan.stop) throw new InvalidArgumentError(NO_STOP_OF_LOADS)
    return planSchema.parse({ ...overridden, load: toOverriddenLoad(plan.load, flags) })
  }
  for (const name of ['stages', 'duration', 'requests', 'threshold'] as const) {
    if (flags[name] === undefined) continue
    throw new InvalidArgumentError(`--${name} only works with the plan of a load test.`)
  }
  const parsed = planSchema.parse(overridden)
  const isPaced = flags.concurrency !== undefined || flags.rate !== undefined
  return isPaced ? { ...parsed, pace: toPace(flags, parsed.connection.timeoutMs) } : parsed
}
