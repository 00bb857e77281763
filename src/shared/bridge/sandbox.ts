import { z } from 'zod'
import { arrivalCountSchema, arrivalSchema } from '../sandbox/arrivals.ts'
import {
  behaviourChangeSchema,
  behaviourSettingsSchema,
  faultSchema,
  latencyModeSchema,
} from '../sandbox/behaviour.ts'
import { appealSchema, ruleSchema } from '../sandbox/content.ts'
import { base, doneSchema, toStrict } from './procedure.ts'
import { chosenSourceSchema } from './source.ts'

const startedSchema = z.object({
  baseUrl: z.string(),
  /** The bundled sample, to be used as a source. */
  sample: chosenSourceSchema,
})

/** What the sandbox has from the start: a custom index, by id, and a watchlist, by name. */
const offersSchema = z.object({ indexId: z.string(), watchlist: z.string() })

export type SandboxOffers = z.infer<typeof offersSchema>

/** How the window starts its sandbox, always on this machine. */
export const sandboxSetupSchema = z.strictObject({
  /** 0 takes its last port, or a free one. */
  port: z.int().min(0).max(65_535),
  /** Port of the second host, for v2 tasks; 0 takes a free one. */
  taskPort: z.int().min(0).max(65_535),
  /** Determines everything random. */
  seed: z.string().min(1).max(200),
  /** Whether rules, lists, settings and arrived requests are kept in the workspace after it stops. */
  isKept: z.boolean(),
})

export type SandboxSetup = z.infer<typeof sandboxSetupSchema>

const keySchema = z.object({ key_id: z.int(), label: z.string(), created_at: z.string() })

/** The current settings; those of latency and faults also in parsed form. */
const behaviourSchema = behaviourSettingsSchema.extend({
  modes: z.array(latencyModeSchema),
  readFaults: z.array(faultSchema),
})

export type SandboxBehaviour = z.infer<typeof behaviourSchema>

const stateSchema = z.object({
  setup: sandboxSetupSchema,
  /** Runs of this process that use it, also if they are only checked so far. */
  runsGoing: z.int(),
  /** Null while it is stopped. */
  running: z
    .object({
      baseUrl: z.string(),
      /** The second host, which serves the v2 tasks only. */
      taskBaseUrl: z.string(),
      behaviour: behaviourSchema,
      /** Keys for other programs; each key itself is shown only once. */
      keys: z.array(keySchema),
    })
    .nullable(),
})

export type SandboxState = z.infer<typeof stateSchema>

const termSchema = z.object({ term: z.string().min(1), notes: z.string().nullable() })

const termsSchema = z.array(toStrict(termSchema)).max(100_000)

const indexSchema = z.object({ custom_index_id: z.string(), items: z.int() })

const listsSchema = z.object({
  watchlists: z.array(z.object({ name: z.string(), terms: z.array(termSchema) })),
  indexes: z.array(indexSchema),
  appeals: z.int(),
})

export type SandboxLists = z.infer<typeof listsSchema>

const rulesSchema = z.array(ruleSchema)
const nameSchema = z.string().trim().min(1).max(200)

const indexItemsSchema = z.object({
  total: z.int(),
  items: z.array(z.object({ custom_index_item_id: z.string(), url: z.string() })),
})

const urlsSchema = z.array(z.string()).max(100_000)

const shownAppealSchema = appealSchema.extend({ created_on: z.string(), reads: z.int() })

/** An appeal of the sandbox, and how often it was read. */
export type ShownAppeal = z.infer<typeof shownAppealSchema>

export const SANDBOX_PAGE_MAX = 200

const pageShape = { offset: z.int().min(0), limit: z.int().min(1).max(SANDBOX_PAGE_MAX) }

/** An appeal as a person makes one. */
const newAppealSchema = z.strictObject({
  appealId: nameSchema,
  status: appealSchema.shape.status.unwrap(),
  /** Number of reads after which it is reviewed; null for never. */
  reviewedAfterReads: z.int().min(1).nullable(),
  /** Whether the review overturns the decision; null if the appeal does not say. */
  isOverturned: z.boolean().nullable(),
})

export type NewAppeal = z.infer<typeof newAppealSchema>

const appealsSchema = z.object({ total: z.int(), appeals: z.array(shownAppealSchema) })

const callbacksSchema = z.object({
  pending: z.int(),
  delivered: z.int(),
  failed: z.int(),
  dropped: z.int(),
})

const arrivalsSchema = z.object({
  total: z.int(),
  arrivals: z.array(arrivalSchema),
  counts: z.array(arrivalCountSchema),
})

const arrivedSchema = arrivalsSchema.extend({ callbacks: callbacksSchema })

/** What arrived at the sandbox: a page, and counts of everything. */
export type SandboxArrived = z.infer<typeof arrivedSchema>

/** What the window shows of the answers of the sandbox's admin routes (docs/sandbox.md). */
export const sandboxContents = {
  keys: z.object({ keys: z.array(keySchema) }),
  rules: z.object({ rules: rulesSchema }),
  watchlist: z.object({ terms: z.array(termSchema) }),
  indexes: z.object({ indexes: z.array(indexSchema) }),
  indexItems: indexItemsSchema,
  appeals: appealsSchema,
  arrived: arrivalsSchema,
  callbacks: callbacksSchema,
}

/** The embedded service, for trying things out. Changes apply from the next request on. */
export const sandboxContract = {
  /** The names that it knows, running or not. */
  describe: base.output(offersSchema),
  /** Starts it; if it runs and is not in use, it forgets its tasks. Runs against it need no `apiKey`. */
  start: base.output(startedSchema),
  stop: base.output(doneSchema),
  read: base.output(stateSchema),
  /** Stores its setup, and restarts it if it runs. Its contents are lost unless they are kept. */
  setUp: base.input(sandboxSetupSchema).output(stateSchema),
  /** Changes latency, faults, limits and callbacks. */
  behave: base.input(behaviourChangeSchema).output(stateSchema),
  /** Resets its rules, lists, settings and everything that arrived. */
  reset: base.output(stateSchema),
  /** Creates a key for other programs and shows it, only this once. */
  addKey: base.input(z.strictObject({ label: nameSchema })).output(z.object({ key: z.string() })),
  removeKey: base.input(z.strictObject({ keyId: z.int().min(1) })).output(doneSchema),
  rules: base.output(rulesSchema),
  /** Adds a rule, or replaces `shown`. Fails if that is not what is stored under its id. */
  putRule: base
    .input(z.strictObject({ rule: toStrict(ruleSchema), shown: toStrict(ruleSchema).nullable() }))
    .output(rulesSchema),
  removeRule: base.input(z.strictObject({ ruleId: nameSchema })).output(rulesSchema),
  lists: base.output(listsSchema),
  /**
   * Creates a watchlist if none is `shown`, and fails if it exists. Else changes the terms that differ from
   * `shown`, so that those which a run added meanwhile stay.
   */
  putWatchlist: base
    .input(z.strictObject({ name: nameSchema, terms: termsSchema, shown: termsSchema.nullable() }))
    .output(listsSchema),
  removeWatchlist: base.input(z.strictObject({ name: nameSchema })).output(listsSchema),
  indexItems: base.input(z.strictObject({ indexId: nameSchema, ...pageShape })).output(indexItemsSchema),
  /**
   * Creates an index with items of these addresses, or replaces its items. Fails if `shown`, the addresses of
   * its items, is not what is stored; null for a new one.
   */
  putIndex: base
    .input(z.strictObject({ indexId: nameSchema, urls: urlsSchema, shown: urlsSchema.nullable() }))
    .output(listsSchema),
  removeIndex: base.input(z.strictObject({ indexId: nameSchema })).output(listsSchema),
  appeals: base.input(z.strictObject(pageShape)).output(appealsSchema),
  /** Adds an appeal, or replaces the one with its id. */
  putAppeal: base.input(newAppealSchema).output(listsSchema),
  /** Adds the first `samples` sample appeals, of ten shapes in turn, replacing any of the same id. */
  addSampleAppeals: base
    .input(z.strictObject({ samples: z.int().min(1).max(1_000_000) }))
    .output(listsSchema),
  /** Null removes all of them. */
  removeAppeals: base.input(z.strictObject({ appealId: nameSchema.nullable() })).output(listsSchema),
  /** What arrived, the newest first. */
  arrived: base
    .input(z.strictObject({ endpoint: z.string().nullable(), outcome: z.string().nullable(), ...pageShape }))
    .output(arrivedSchema),
  /** Sends every pending callback now. */
  sendCallbacks: base.output(doneSchema),
  /** Forgets what arrived, so that post_ids can be sent again; pending callbacks are dropped. */
  forgetArrived: base.output(doneSchema),
}
