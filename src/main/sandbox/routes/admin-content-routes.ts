import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addTermSchema } from '../../../shared/operations/watchlist-add.ts'
import { appealSchema, ruleSchema } from '../../../shared/sandbox/content.ts'
import { isJsonObject, jsonObjectSchema } from '../../../shared/service/json-object.ts'
import { httpUrlSchema } from '../../../shared/service/request-field.ts'
import { toReceivedJson } from '../answer-request.ts'
import { createSampleAppeals } from '../appeals.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { SandboxRefusal } from '../sandbox-errors.ts'
import { toSeededId } from '../seeded-draw.ts'
import type { StoredAppeal } from '../store/appeal-store.ts'
import type { StoredCallback } from '../store/callback-store.ts'
import type { StoredIndexItem } from '../store/index-store.ts'
import type { OutcomeCount, StoredTask } from '../store/task-store.ts'
import type { StoredTerm } from '../store/watchlist-store.ts'
import { pageSchema, parseAdminBody, parseAdminQuery } from './admin-request.ts'

const itemSchema = z.strictObject({
  custom_index_item_id: z.string().min(1).optional(),
  url: httpUrlSchema,
  metadata: jsonObjectSchema.nullable().optional(),
  content_variant: z.string().nullable().optional(),
})

const indexSchema = z.strictObject({
  items: z.array(itemSchema).default([]),
  before: z.array(z.string()).nullable().optional(),
})

type IndexRoute = { Params: { indexId: string } }

/** Serves the project's custom indexes, managed by the service in its dashboard (docs/interface.md §4.1). */
export function registerAdminIndexRoutes(app: FastifyInstance, { store, options }: SandboxContext): void {
  const { indexes } = store

  app.get('/indexes', async () => ({
    indexes: indexes.list().map(({ indexId, items }) => ({ custom_index_id: indexId, items })),
  }))

  app.get<IndexRoute>('/indexes/:indexId', async (request) => {
    const { indexId } = request.params
    if (!indexes.has(indexId)) throw toUnknown('custom index', indexId)
    const { offset, limit } = parseAdminQuery(pageSchema, request.query)
    return {
      custom_index_id: indexId,
      total: indexes.countItems(indexId),
      items: indexes.page(indexId, offset, limit).map(toIndexDocument),
    }
  })

  app.put<IndexRoute>('/indexes/:indexId', async (request) => {
    const { indexId } = request.params
    const { items, before: read } = parseAdminBody(indexSchema, request.body)
    const stored = indexes.page(indexId, 0, indexes.countItems(indexId))
    refuseChanged(`the index ${indexId}`, indexes.has(indexId) ? stored.map(toUrl) : null, [
      read,
      items.map(toUrl),
    ])
    indexes.make(indexId)
    const ids = new Set(items.flatMap(({ custom_index_item_id: id }) => id ?? []))
    const before = stored.filter(({ itemId }) => !ids.has(itemId))
    const staying = Map.groupBy(before, ({ url }) => url)
    for (const { itemId } of before) ids.add(itemId)
    const toNewId = (position: number) => {
      for (let number = position; ; number += items.length) {
        const id = toSeededId(options.seed, 'seeded item', indexId, String(number))
        if (!ids.has(id)) return id
      }
    }
    indexes.empty(indexId)
    for (const [position, item] of items.entries()) {
      const { custom_index_item_id: id, url, metadata, content_variant: contentVariant } = item
      const stays = id === undefined ? staying.get(url)?.shift() : undefined
      const isNew = indexes.addItem(indexId, {
        itemId: id ?? stays?.itemId ?? toNewId(position),
        url,
        contentHash: stays?.contentHash ?? null,
        metadata: metadata === undefined ? (stays?.metadata ?? null) : metadata,
        contentVariant: contentVariant === undefined ? (stays?.contentVariant ?? null) : contentVariant,
      })
      if (!isNew) throw new SandboxRefusal('CONFLICT', `items.${position}: its id is taken`)
    }
    return { custom_index_id: indexId, total: indexes.countItems(indexId) }
  })

  app.delete<IndexRoute>('/indexes/:indexId', async (request) => {
    if (!indexes.remove(request.params.indexId)) throw toUnknown('custom index', request.params.indexId)
    return { message: 'the custom index is removed' }
  })
}

const toUrl = ({ url }: { url: string }) => url

/**
 * Refuses a change if what is stored, null for nothing, is neither what the caller read before it nor what
 * the change makes of it. A caller who does not say what it read changes it anyway.
 */
function refuseChanged(what: string, stored: unknown, [before, after]: readonly [unknown, unknown]): void {
  if (before === undefined || isDeepStrictEqual(stored, before) || isDeepStrictEqual(stored, after)) return
  throw new SandboxRefusal('CHANGED_MEANWHILE', `${what} was changed meanwhile; nothing was saved`)
}

function toIndexDocument(item: StoredIndexItem) {
  return {
    custom_index_item_id: item.itemId,
    url: item.url,
    content_hash: item.contentHash,
    metadata: item.metadata,
    content_variant: item.contentVariant,
  }
}

const putRuleSchema = ruleSchema.extend({ before: ruleSchema.nullable().optional() })

export function registerAdminRuleRoutes(app: FastifyInstance, { store, moderation }: SandboxContext): void {
  app.get('/rules', async () => ({ rules: store.rules.list() }))

  app.get<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    const rule = store.rules.get(request.params.ruleId)
    if (rule === null) throw toUnknown('rule', request.params.ruleId)
    return rule
  })

  app.put<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    const received = toReceivedJson(request.body)
    const value = isJsonObject(received?.value) ? received.value : {}
    const { ruleId } = request.params
    const { before, ...rule } = parseAdminBody(putRuleSchema, {
      text: '',
      value: { ...value, rule_id: ruleId },
    })
    refuseChanged(`the rule ${ruleId}`, store.rules.get(ruleId), [before, rule])
    store.rules.put(rule)
    moderation.reload()
    return rule
  })

  app.delete<{ Params: { ruleId: string } }>('/rules/:ruleId', async (request) => {
    if (!store.rules.remove(request.params.ruleId)) throw toUnknown('rule', request.params.ruleId)
    moderation.reload()
    return { message: 'the rule is removed' }
  })
}

const querySchema = pageSchema.extend({ post_id: z.string().optional() })

/** Most callbacks shown with a task. */
const MAX_CALLBACKS = 100

/** Serves statistics and tasks. */
export function registerAdminTaskRoutes(app: FastifyInstance, { store }: SandboxContext): void {
  app.get('/stats', async () => {
    return {
      ...toOutcomes(store.tasks.outcomes()),
      tasks: store.tasks.count(),
      endpoints: countByEndpoint(store.requests.outcomes()),
      callbacks: store.callbacks.counts(),
    }
  })

  app.get('/tasks', async (request) => {
    const { post_id: postId, offset, limit } = parseAdminQuery(querySchema, request.query)
    if (postId === undefined) {
      return { total: store.tasks.count(), tasks: store.tasks.page(offset, limit).map(toTaskDocument) }
    }
    const task = store.tasks.find(postId)
    return {
      post_id: postId,
      ...toOutcomes(store.tasks.outcomesOf(postId)),
      task: task === null ? null : toTaskDocument(task),
      callbacks:
        task === null
          ? []
          : store.callbacks
              .page({ state: null, taskId: task.taskId }, 0, MAX_CALLBACKS)
              .map(toCallbackDocument),
    }
  })

  app.delete('/tasks', async () => {
    store.tasks.clear()
    return { message: 'every task and every count is forgotten' }
  })
}

function toOutcomes(outcomes: readonly OutcomeCount[]) {
  return {
    requests: outcomes.reduce((sum, { requests }) => sum + requests, 0),
    outcomes: Object.fromEntries(outcomes.map(({ outcome, requests }) => [outcome, requests])),
  }
}

/** Gives `{ "watchlist-add": { "accepted": 3 } }`. */
function countByEndpoint(outcomes: readonly { endpoint: string; outcome: string; requests: number }[]) {
  const byEndpoint: Record<string, Record<string, number>> = {}
  for (const { endpoint, outcome, requests } of outcomes) {
    byEndpoint[endpoint] = { ...byEndpoint[endpoint], [outcome]: requests }
  }
  return byEndpoint
}

function toTaskDocument(task: StoredTask) {
  return {
    post_id: task.postId,
    endpoint: task.endpoint,
    task_id: task.taskId,
    content_hash: task.contentHash,
    created_on: task.createdOn.toISOString(),
    outcome: task.outcome,
    request: task.request === null ? null : JSON.parse(task.request),
  }
}

const listSchema = z.strictObject({
  terms: z.array(addTermSchema).default([]),
  before: z.array(addTermSchema).nullable().optional(),
})

/** Serves the project's watchlists, which the service manages in its dashboard (docs/interface.md §4.7). */
export function registerAdminWatchlistRoutes(app: FastifyInstance, context: SandboxContext): void {
  const { watchlists } = context.store

  app.get('/watchlists', async () => ({ watchlists: watchlists.names() }))

  app.get<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    const { name } = request.params
    const terms = watchlists.terms(name)
    if (terms === null) throw toUnknown('watchlist', name)
    return { watchlist: name, terms }
  })

  app.put<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    const { name } = request.params
    const { terms, before } = parseAdminBody(listSchema, request.body)
    const [now, after] = [watchlists.terms(name), toNotes(terms)]
    // Of a list that was read, only the terms that differ are changed, so any list may be stored by now.
    const stored = now && (before ?? toNotes(now))
    refuseChanged(`the watchlist ${name}`, stored, [before, after])
    watchlists.put(name, changeTerms(before ? (now ?? []) : [], toNotes(before ?? []), after))
    context.moderation.reload()
    return { watchlist: name, terms: watchlists.terms(name) }
  })

  app.delete<{ Params: { name: string } }>('/watchlists/:name', async (request) => {
    if (!watchlists.remove(request.params.name)) throw toUnknown('watchlist', request.params.name)
    context.moderation.reload()
    return { message: 'the watchlist is removed' }
  })
}

type Notes = ReadonlyMap<string, string | null>

/** Notes by lower-cased term. */
function toNotes(terms: readonly { term: string; notes?: string | null | undefined }[]): Notes {
  return new Map(terms.map(({ term, notes }) => [term.toLowerCase(), notes ?? null]))
}

/** The terms of a list after the change from `before` to `after`; all others stay. */
function changeTerms(now: readonly StoredTerm[], before: Notes, after: Notes): StoredTerm[] {
  const isChanged = (term: string) => before.get(term) !== after.get(term)
  const stays = now.filter(({ term }) => !isChanged(term))
  const set = [...after].filter(([term]) => isChanged(term))
  return [...stays, ...set.map(([term, notes]) => ({ term, notes }))]
}

const newAppealsSchema = z.union([
  z.strictObject({ appeals: z.array(appealSchema) }),
  z.strictObject({ samples: z.int().min(0).max(1_000_000) }),
])

type AppealRoute = { Params: { appealId: string } }

/** Serves the project's appeals, which the service creates elsewhere (docs/interface.md §4.7). */
export function registerAdminAppealRoutes(app: FastifyInstance, { store, clock }: SandboxContext): void {
  const { appeals } = store

  app.get('/appeals', async (request) => {
    const { offset, limit } = parseAdminQuery(pageSchema, request.query)
    return { total: appeals.count(), appeals: appeals.page(offset, limit).map(toAppealDocument) }
  })

  app.get<AppealRoute>('/appeals/:appealId', async (request) => {
    const found = appeals.find(request.params.appealId)
    if (found === null) throw toUnknown('appeal', request.params.appealId)
    return toAppealDocument(found)
  })

  app.post('/appeals', async (request) => {
    const body = parseAdminBody(newAppealsSchema, request.body)
    const added =
      'appeals' in body
        ? body.appeals
        : createSampleAppeals(body.samples).map((appeal) => appealSchema.parse(appeal))
    appeals.put(added, clock.date())
    return { total: appeals.count() }
  })

  app.delete<AppealRoute>('/appeals/:appealId', async (request) => {
    if (!appeals.remove(request.params.appealId)) throw toUnknown('appeal', request.params.appealId)
    return { message: 'the appeal is removed' }
  })

  app.delete('/appeals', async () => {
    appeals.clear()
    return { message: 'every appeal is removed' }
  })
}

function toAppealDocument({ appeal, createdOn, reads }: StoredAppeal) {
  return { ...appeal, created_on: createdOn.toISOString(), reads }
}

function toUnknown(what: string, id: string): SandboxRefusal {
  return new SandboxRefusal('NOT_FOUND', `there is no ${what} "${id}"`)
}

export function toCallbackDocument(callback: StoredCallback) {
  return {
    callback_id: callback.callbackId,
    task_id: callback.taskId,
    url: callback.url,
    timing: callback.timing,
    state: callback.state,
    attempts: callback.attempts,
    last_result: callback.lastResult,
    at: new Date(callback.dueMs).toISOString(),
    body: callback.body === null ? null : JSON.parse(callback.body),
  }
}
