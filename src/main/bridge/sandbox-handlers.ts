import { z } from 'zod'
import {
  type NewAppeal,
  type SandboxLists,
  type SandboxState,
  sandboxContents,
} from '../../shared/bridge/sandbox.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { behaviourSettingsSchema } from '../../shared/sandbox/behaviour.ts'
import type { AppealSeed } from '../../shared/sandbox/content.ts'
import { SAMPLE_FILES } from '../program-files.ts'
import { parseFaults } from '../sandbox/faults.ts'
import { parseLatency } from '../sandbox/latency.ts'
import { DEFAULT_INDEX, DEFAULT_WATCHLIST } from '../sandbox/rules/defaults.ts'
import type { BridgeContext, Handlers } from './bridge-context.ts'
import { OWN_KEY_LABEL, type SandboxHost } from './sandbox-host.ts'

/** For answers whose content does not matter. */
const anything = z.unknown()

/** The embedded service. A page's changes go through the sandbox's admin routes, whose token no page sees. */
export const sandboxHandlers: Handlers<'sandbox'> = {
  describe: async () => ({ indexId: DEFAULT_INDEX, watchlist: DEFAULT_WATCHLIST }),
  start: async ({ context }) => ({
    baseUrl: await context.sandbox.start({ keep: (await countRuns(context)) > 0 }),
    sample: await context.sources.add(SAMPLE_FILES.posts),
  }),
  stop: async ({ context }) => {
    await context.sandbox.stop()
  },
  read: ({ context }) => readState(context),
  setUp: async ({ context, input }) => {
    for (const port of [input.port, input.taskPort]) context.productionGate.refusePort(port)
    await context.sandbox.setUp(input)
    return readState(context)
  },
  behave: async ({ context, input }) => {
    await context.sandbox.behave(input)
    return readState(context)
  },
  reset: async ({ context }) => {
    await context.sandbox.reset()
    return readState(context)
  },
  addKey: async ({ context, input }) => {
    refuseOwnKey(input.label)
    return context.sandbox.admin(z.object({ key: z.string() }), 'POST', '/keys', input)
  },
  removeKey: async ({ context, input: { keyId } }) => {
    const { keys } = await context.sandbox.admin(sandboxContents.keys, 'GET', '/keys')
    refuseOwnKey(keys.find((key) => key.key_id === keyId)?.label)
    await context.sandbox.admin(anything, 'DELETE', `/keys/${keyId}`)
  },
  rules: ({ context }) => readRules(context.sandbox),
  putRule: async ({ context, input }) => {
    const { rule_id: ruleId, ...rule } = input.rule
    await context.sandbox.admin(anything, 'PUT', toPath('rules', ruleId), { ...rule, before: input.shown })
    return readRules(context.sandbox)
  },
  removeRule: async ({ context, input: { ruleId } }) => {
    await context.sandbox.admin(anything, 'DELETE', toPath('rules', ruleId))
    return readRules(context.sandbox)
  },
  lists: ({ context }) => readLists(context.sandbox),
  putWatchlist: ({ context, input: { name, terms, shown } }) =>
    changeLists(context, 'PUT', toPath('watchlists', name), {
      terms: terms.map(toGivenTerm),
      before: shown?.map(toGivenTerm) ?? null,
    }),
  removeWatchlist: ({ context, input: { name } }) =>
    changeLists(context, 'DELETE', toPath('watchlists', name)),
  indexItems: ({ context, input: { indexId, offset, limit } }) => {
    const path = `${toPath('indexes', indexId)}?offset=${offset}&limit=${limit}`
    return context.sandbox.admin(sandboxContents.indexItems, 'GET', path)
  },
  putIndex: ({ context, input: { indexId, urls, shown } }) =>
    changeLists(context, 'PUT', toPath('indexes', indexId), {
      items: urls.map((url) => ({ url })),
      before: shown,
    }),
  removeIndex: ({ context, input: { indexId } }) =>
    changeLists(context, 'DELETE', toPath('indexes', indexId)),
  appeals: ({ context, input: { offset, limit } }) =>
    context.sandbox.admin(sandboxContents.appeals, 'GET', `/appeals?offset=${offset}&limit=${limit}`),
  putAppeal: ({ context, input }) => changeLists(context, 'POST', '/appeals', { appeals: [toAppeal(input)] }),
  addSampleAppeals: ({ context, input }) => changeLists(context, 'POST', '/appeals', input),
  removeAppeals: ({ context, input: { appealId } }) =>
    changeLists(context, 'DELETE', appealId === null ? '/appeals' : toPath('appeals', appealId)),
  arrived: async ({ context, input }) => {
    const { sandbox: host } = context
    const query = new URLSearchParams({ offset: String(input.offset), limit: String(input.limit) })
    if (input.endpoint !== null) query.set('endpoint', input.endpoint)
    if (input.outcome !== null) query.set('outcome', input.outcome)
    const stats = z.object({ callbacks: sandboxContents.callbacks })
    const [arrived, { callbacks }] = await Promise.all([
      host.admin(sandboxContents.arrived, 'GET', `/arrivals?${query}`),
      host.admin(stats, 'GET', '/stats'),
    ])
    return { ...arrived, callbacks }
  },
  sendCallbacks: async ({ context }) => {
    await context.sandbox.admin(anything, 'POST', '/callbacks/send-now')
  },
  forgetArrived: async ({ context }) => {
    for (const what of ['tasks', 'requests', 'callbacks', 'arrivals']) {
      await context.sandbox.admin(anything, 'DELETE', `/${what}`)
    }
  },
}

/** The label of this process's key is reserved; pages must not add or remove it. Throws `BAD_USAGE`. */
function refuseOwnKey(label: string | undefined): void {
  if (label !== OWN_KEY_LABEL) return
  throw new SluiceError({
    id: 'sandbox_refuses',
    message: `the key "${OWN_KEY_LABEL}" is the one that Sluice sends`,
  })
}

function toGivenTerm({ term, notes }: { term: string; notes: string | null }) {
  return notes === null ? { term } : { term, notes }
}

/** Path of one object below the admin routes, by its id. */
function toPath(kind: 'rules' | 'watchlists' | 'indexes' | 'appeals', id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`
}

function toAppeal({ appealId, status, reviewedAfterReads, isOverturned }: NewAppeal): AppealSeed {
  return {
    appeal_id: appealId,
    status,
    reviewed_after_reads: reviewedAfterReads,
    judgment: isOverturned === null ? {} : { overturned: isOverturned },
  }
}

/** Number of this process's runs that use the sandbox, also if they are only checked so far. */
async function countRuns({ engine, liveRuns, sandbox: host }: BridgeContext): Promise<number> {
  const runIds = liveRuns.snapshots().map(({ runId }) => runId)
  const plans = await Promise.all(runIds.map((runId) => engine.runs.readPlan(runId).catch(() => null)))
  return plans.filter((plan) => plan !== null && plan.connection.baseUrl === host.baseUrl()).length
}

async function readState(context: BridgeContext): Promise<SandboxState> {
  const { sandbox: host } = context
  const addresses = host.addresses()
  const setup = await host.readSetup()
  if (addresses === null) return { setup, runsGoing: 0, running: null }
  const [behaviour, { keys }, runsGoing] = await Promise.all([
    host.admin(behaviourSettingsSchema, 'GET', '/behaviour'),
    host.admin(sandboxContents.keys, 'GET', '/keys'),
    countRuns(context),
  ])
  return {
    setup,
    runsGoing,
    running: {
      ...addresses,
      behaviour: {
        ...behaviour,
        modes: [...parseLatency(behaviour.latency)],
        readFaults: parseFaults(behaviour.faults),
      },
      keys: keys.filter(({ label }) => label !== OWN_KEY_LABEL),
    },
  }
}

async function readRules(host: SandboxHost) {
  return (await host.admin(sandboxContents.rules, 'GET', '/rules')).rules
}

/** Changes a list through an admin route, and returns all lists as they are afterwards. */
async function changeLists(
  { sandbox }: BridgeContext,
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<SandboxLists> {
  await sandbox.admin(anything, method, path, body)
  return readLists(sandbox)
}

async function readLists(host: SandboxHost): Promise<SandboxLists> {
  const [{ watchlists: names }, { indexes }, { total }] = await Promise.all([
    host.admin(z.object({ watchlists: z.array(z.string()) }), 'GET', '/watchlists'),
    host.admin(sandboxContents.indexes, 'GET', '/indexes'),
    host.admin(z.object({ total: z.int() }), 'GET', '/appeals?limit=1'),
  ])
  const watchlists = await Promise.all(
    names.map(async (name) => {
      const { terms } = await host.admin(sandboxContents.watchlist, 'GET', toPath('watchlists', name))
      return { name, terms }
    }),
  )
  return { watchlists, indexes, appeals: total }
}
