import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { ErrorMessage } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { readConnections } from '../engine/workspace/connections.ts'
import { readPlanFile } from '../engine/workspace/plan-file.ts'
import { describeUntrusted } from '../engine/workspace/plan-trust.ts'
import { toBare } from './production-gate.ts'

/** The question to a person before a window gets a plan: what it reads, and what it sends where. */
export interface PlanQuestion {
  /** Absolute path of the source. */
  source: string
  sent: string
}

/** An opened plan file, under an unguessable handle. */
interface OpenedFile {
  planId: string
  /** Null if the plan keeps to a stored connection and its own folder, or if it is invalid. */
  question: PlanQuestion | null
}

/** Creates an empty register of opened plans, which lives as long as the process. */
export function createOpenedPlans(workspace: string) {
  const known = new Map<string, { file: string; read: () => Plan }>()
  return {
    /** Reads a plan; `file` is absolute and never from a page. An invalid plan is kept with its error. */
    open(file: string): OpenedFile {
      const planId = randomBytes(16).toString('hex')
      try {
        const connections = readConnections(workspace)
        const plan = readPlanFile(file, connections)
        known.set(planId, { file, read: () => plan })
        const sent = describeUntrusted(plan, connections)
        const isOutside = !isInside(dirname(file), plan.source.path)
        const question = sent === null && !isOutside ? null : toQuestion(plan, sent)
        return { planId, question }
      } catch (error) {
        const read = () => {
          throw withNames(error, file)
        }
        known.set(planId, { file, read })
        return { planId, question: null }
      }
    },
    /** The plan behind a handle, as it was when opened. Throws the plan's error, and `BAD_PLAN`. */
    find(planId: string): { file: string; plan: Plan } {
      const found = known.get(planId)
      if (found === undefined) throw new SluiceError({ id: 'plan_unknown' })
      return { file: found.file, plan: found.read() }
    },
  }
}

/** Plan files that a person has opened with the app. */
export interface OpenedPlans extends ReturnType<typeof createOpenedPlans> {}

/** Replaces paths of the plan's folder, which the page must not learn, with file names in an error. */
export function withNames(error: unknown, file: string): unknown {
  if (!(error instanceof SluiceError)) return error
  const folder = dirname(file)
  const toName = (value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(join(folder, sep), '').replaceAll(folder, 'its folder')
      : value
  const said = Object.fromEntries(Object.entries(error.said).map(([key, value]) => [key, toName(value)]))
  return new SluiceError(said as ErrorMessage, { cause: error })
}

/** Whether a file is in a folder, with links resolved. */
function isInside(folder: string, path: string): boolean {
  const steps = existsSync(path) ? relative(realpathSync(folder), realpathSync(path)) : relative(folder, path)
  return !isAbsolute(steps) && !steps.startsWith('..')
}

/** Longest path or address in the question, characters. */
const SHOWN_MAX = 500

function toQuestion({ source, connection }: Plan, sent: string | null): PlanQuestion {
  const show = (text: string) => toBare(text, SHOWN_MAX)
  return { source: show(source.path), sent: show(sent ?? `its rows to ${connection.baseUrl}`) }
}
