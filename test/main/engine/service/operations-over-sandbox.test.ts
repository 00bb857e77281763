import { expect, test } from 'vitest'
import { createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { createOperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { createServiceClient } from '../../../helpers/create-service-client.ts'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { type TestSandbox, withSandbox } from '../../../helpers/sandbox.ts'
import { buildPlan } from '../mapping/build-plan.ts'

interface Work {
  operation: PlanInput['operation']
  columns: string[]
  /** Rows of one request. */
  rows: string[][]
  callbackUrl?: string
  key?: string
  earlierTries?: readonly number[]
}

/** Sends rows as one request, starting from their cells, and judges the answer. */
async function send(
  sandbox: Pick<TestSandbox, 'baseUrl' | 'taskBaseUrl' | 'key'>,
  work: Work,
): Promise<Judgement> {
  const connection = { baseUrl: sandbox.baseUrl, taskBaseUrl: sandbox.taskBaseUrl }
  const plan = buildPlan({ operation: work.operation, connection })
  const mapRow = createRowMapper(plan, work.columns, 'run1')
  const exchange = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const apiKey = ApiKey.create(work.key ?? sandbox.key, plan.connection, 'of the test')
  const client = createServiceClient({
    baseUrl: exchange.baseUrl,
    connection: plan.connection,
    readApiKey: () => apiKey,
    userAgent: 'sluice/test',
  })
  const bodies = work.rows.map((cells, index) => mapRow(index + 1, cells).body)
  try {
    const request = exchange.toRequest(bodies, work.callbackUrl ?? null)
    const ended = await new Promise<Parameters<typeof exchange.judge>[0]>((resolve) => {
      client.send(request, resolve)
    })
    return exchange.judge(ended, exchange.toRowKeys(bodies), work.earlierTries)
  } finally {
    await client.destroy()
  }
}

const INDEX = { indexId: 'sandbox-index' }
const IMAGE = 'https://images.example/logo.png'

test('v2 tasks go to the second host with several models, custom indexes among them', async () => {
  const sandbox = await withSandbox()
  const columns = ['url', 'user_id', 'models']
  const item = { operation: { kind: 'index-add' as const, ...INDEX }, columns: ['url'], rows: [[IMAGE]] }
  expect((await send(sandbox, item)).customIndexItemId).not.toBeNull()
  const judgement = await send(sandbox, {
    operation: { kind: 'task', api: 'v2' },
    columns,
    rows: [[IMAGE, 'u', 'visual, sandbox-index']],
  })
  expect(judgement).toMatchObject({ outcome: 'succeeded', message: null })
  expect(judgement.taskId).not.toBeNull()
  expect(judgement.rules.map(({ ruleId }) => ruleId)).toContain('rule-index')
  const [task] = await sandbox.tasks()
  expect(task?.endpoint).toContain('v2')
})

test('an item is added once and removed by its id once, and another removal finds nothing', async () => {
  const sandbox = await withSandbox()
  const added = await send(sandbox, {
    operation: { kind: 'index-add', ...INDEX },
    columns: ['media', 'metadata.owner', 'content_variant'],
    rows: [[IMAGE, 'marketing', 'logo']],
  })
  expect(added.outcome).toBe('succeeded')
  expect(await sandbox.indexItems('sandbox-index')).toMatchObject([
    {
      custom_index_item_id: added.customIndexItemId,
      metadata: { owner: 'marketing' },
      content_variant: 'logo',
    },
  ])
  const removal: Work = {
    operation: { kind: 'index-remove', ...INDEX },
    columns: ['sluice_custom_index_item_id'],
    rows: [[added.customIndexItemId ?? '']],
  }
  expect(await send(sandbox, removal)).toMatchObject({ outcome: 'succeeded', status: 200 })
  expect(await send(sandbox, removal)).toMatchObject({
    outcome: 'rejected',
    errorCode: 'INVALID_CUSTOM_INDEX_ITEM',
  })
  expect(await send(sandbox, { ...removal, earlierTries: [1] })).toMatchObject({
    outcome: 'succeeded',
    status: 400,
  })
  expect(await sandbox.indexItems('sandbox-index')).toEqual([])
})

test('an index that does not exist, and an item without media, are refused by name', async () => {
  const sandbox = await withSandbox()
  const add = (indexId: string, cells: string[]) =>
    send(sandbox, { operation: { kind: 'index-add', indexId }, columns: ['url'], rows: [cells] })
  expect(await add('nowhere', [IMAGE])).toMatchObject({
    outcome: 'rejected',
    errorCode: 'INVALID_CUSTOM_INDEX',
  })
  expect(await add('sandbox-index', [''])).toMatchObject({
    outcome: 'rejected',
    errorCode: 'REQUIRE_AT_LEAST_ONE_PARAM',
  })
})

test('terms are added, found as existing and updated, each row with its own outcome', async () => {
  const sandbox = await withSandbox()
  const watchlist = 'sandbox_terms'
  const columns = ['term', 'notes']
  const answers = ({ rows }: Judgement) => rows?.map(({ answer }) => answer)
  const added = await send(sandbox, {
    operation: { kind: 'watchlist-add', watchlist },
    columns,
    rows: [
      ['Free Money', 'seen in spam'],
      ['GIFT card', 'overwritten'],
      ['plain', ''],
    ],
  })
  expect(answers(added)).toEqual(['added', 'pre_existing', 'added'])
  const updated = await send(sandbox, {
    operation: { kind: 'watchlist-update', watchlist, emptyNotes: 'clear' },
    columns,
    rows: [
      ['FREE money', ''],
      ['nobody knows this', 'n'],
      ['plain', 'now with notes'],
    ],
  })
  expect(answers(updated)).toEqual(['updated', 'non_existent', 'updated'])
  const terms = await sandbox.terms(watchlist)
  expect(terms).toEqual(
    expect.arrayContaining([
      { term: 'free money', notes: null },
      { term: 'gift card', notes: 'overwritten' },
      { term: 'plain', notes: 'now with notes' },
    ]),
  )
})

test('a wrong key and a watchlist that does not exist are refused by name', async () => {
  const sandbox = await withSandbox()
  const work: Work = {
    operation: { kind: 'watchlist-add', watchlist: 'sandbox_terms' },
    columns: ['term'],
    rows: [['x']],
  }
  expect(await send(sandbox, { ...work, key: 'wrong' })).toMatchObject({
    outcome: 'rejected',
    errorCode: 'INVALID_API_KEY',
  })
  const nowhere = { ...work, operation: { kind: 'watchlist-add' as const, watchlist: 'nowhere' } }
  expect(await send(sandbox, nowhere)).toMatchObject({ outcome: 'rejected', isTooLarge: false })
})

test('appeals are read without a key, in every status', async () => {
  const sandbox = await withSandbox()
  const read = (id: string) =>
    send(sandbox, {
      operation: { kind: 'appeal-status' },
      columns: ['appeal_id'],
      rows: [[id]],
      key: 'wrong',
    })
  const ids = ['appeal-1', 'appeal-2', 'appeal-3', 'appeal-4', 'appeal-5', 'appeal-10', 'none']
  const judgements = []
  for (const id of ids) judgements.push(await read(id))
  expect(judgements.map(({ answer, errorCode }) => answer ?? errorCode)).toEqual([
    'in_review',
    'overturned',
    'upheld',
    'reviewed',
    'in_review',
    'overturned',
    'INVALID_APPEAL',
  ])
  expect(judgements[4]?.message).toBe('In Review; no judgment; no original decision')
})

test('an appeal request has no header that could carry a key', async () => {
  const service = await startFaultServer({
    onRequest: (_, wire) => wire.send(200, { appeal: { appeal_status: 'In Review' }, original_decision: {} }),
  })
  const operation = { kind: 'appeal-status' as const }
  const work = { operation, columns: ['appeal_id'], rows: [['appeal-1']], key: 'a-key' }
  await send({ baseUrl: service.baseUrl, taskBaseUrl: service.baseUrl, key: 'a-key' }, work)
  expect(Object.keys(service.requests[0]?.headers ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ])
  expect(JSON.stringify(service.requests)).not.toContain('a-key')
})

test.each<[string, PlanInput['operation'], string[], string[]]>([
  ['v1 task', { kind: 'task', mode: 'async' }, ['text_data', 'user_id'], ['sandbox:spam:3', 'u']],
  ['legacy task', { kind: 'task', mode: 'async', legacy: true }, ['text_data', 'user_id'], ['t', 'u']],
  ['v2 task', { kind: 'task', mode: 'async', api: 'v2' }, ['url', 'user_id'], [IMAGE, 'u']],
  ['index add', { kind: 'index-add', mode: 'async', ...INDEX }, ['url'], [IMAGE]],
])('an async %s is acknowledged, and its callback completes it', async (_, operation, columns, cells) => {
  const sandbox = await withSandbox()
  const receiver = await startFaultServer({ onRequest: (_request, wire) => wire.send(200, {}) })
  const callbackUrl = `${receiver.baseUrl}/callback/r/1/mac`
  const acknowledged = await send(sandbox, { operation, columns, rows: [cells], callbackUrl })
  expect(acknowledged).toMatchObject({ outcome: 'succeeded', isAcknowledgement: true })
  await receiver.arrivals(1)
  const [callback] = receiver.requests
  expect(callback?.path).toBe('/callback/r/1/mac')
  const { judgeCallback } = createOperationExchange(buildPlan({ operation }), {
    deliveredCodes: [],
    nowMs: Date.now,
  })
  expect(judgeCallback(callback?.body ?? '')).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: false,
    taskId: acknowledged.taskId,
    customIndexItemId: operation.kind === 'index-add' ? expect.any(String) : null,
  })
})
