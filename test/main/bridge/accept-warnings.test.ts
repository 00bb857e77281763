import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeProduction, type ProductionQuestion } from '../../../src/main/bridge/production-gate.ts'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import type { AcceptCode } from '../../../src/shared/run/accept-code.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'a-key'
/** The second row has half a surrogate pair, which is replaced. */
const CUT =
  '{"post_id":"p1","user_id":"u","text_data":"one"}\n{"post_id":"p2","user_id":"u","text_data":"\\ud800"}\n'

async function hold() {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const bridge = withBridge()
  const { client } = await connectWindow('websocket', bridge.services)
  const path = writeText(CUT, 'posts.jsonl')
  const request = await createRequest(bridge.services, path, sandbox.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  const countTasks = async () => (await sandbox.stats()).tasks
  return { client, runId, request, countTasks, path }
}

const toCode = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error)?.said.id ?? String(error),
  )

it('sends nothing of a run until its warnings are accepted, whatever a page asks for', async () => {
  const { client, runId, countTasks } = await hold()
  expect(await client.check.openWarnings({ runId })).toMatchObject([{ code: 'undecodable_bytes', rows: 1 }])
  const others: AcceptCode[] = ['hidden_rows', 'ids_changed', 'encoding_uncertain']
  for (const call of [
    client.runs.begin({ runId }),
    client.runs.begin({ runId, limit: 1, accept: others }),
    client.runs.resume({ runId }),
  ]) {
    expect(await toCode(call)).toBe('warnings_unaccepted')
  }
  expect(await countTasks()).toBe(0)
  await client.runs.stop({ runId })
})

it('sends a run whose warnings were accepted, and lists none to accept afterwards', async () => {
  const { client, runId, countTasks } = await hold()
  await client.runs.begin({ runId, limit: 1, accept: ['content_cut'] })
  await expect.poll(() => client.check.openWarnings({ runId })).toEqual([])
  await client.runs.begin({ runId })
  await expect.poll(countTasks).toBe(2)
  expect(await client.runs.readPlan({ runId })).toMatchObject({
    accepted: { causes: [{ problem: 'undecodable_bytes' }] },
  })
})

it('asks about a rerun only if its source has changed, even if nothing else is wrong with it', async () => {
  onlyInLongForm()
  const { client, runId, path } = await hold()
  await client.runs.begin({ runId, accept: ['content_cut'] })
  for await (const _ of followRun(client, runId));
  const countOpen = async () => {
    const next = await client.history.runAgain({ runId, apiKey: KEY })
    await client.runs.awaitReady(next)
    const open = await client.check.openWarnings(next)
    await client.runs.deleteRun(next)
    return open.map(({ rows }) => rows)
  }
  expect(await countOpen()).toEqual([])
  writeFileSync(path, `${CUT}{"post_id":"p3","user_id":"u","text_data":"\\ud801"}\n`)
  expect(await countOpen()).toEqual([2])
})

/** A run with a warning to accept and one invalid row, held before a production connection. */
async function holdForProduction(answer: (question: ProductionQuestion) => boolean) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: sandbox.baseUrl,
    isProduction: true,
    keys: [{ label: 'default', env: 'NOWHERE' }],
    activeKey: 'default',
  })
  changeConnections(workspace, (known) => addConnection(known, live))
  const bridge = withBridge(workspace, async (question) => answer(question))
  const { client } = await connectWindow('websocket', bridge.services)
  const path = writeText(`${CUT}{"post_id":"p3","user_id":"u"}\n`, 'posts.jsonl')
  const request = await createRequest(bridge.services, path, '', {
    destination: { kind: 'stored', name: 'live' },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  const countTasks = async () => (await sandbox.stats()).tasks
  return { client, runId, countTasks, questions: bridge.questions, workspace }
}

it('lists all warnings in the production question, whose yes accepts them', async () => {
  const { client, runId, countTasks, questions } = await holdForProduction(() => true)
  await client.runs.begin({ runId, limit: 1 })
  await expect.poll(() => client.check.openWarnings({ runId })).toEqual([])
  const [question] = questions
  const { lines } = describeProduction(question ?? expect.fail('a person was asked'))
  expect(lines).toContain(
    'You accept: content may be cut or replaced. 1 row: Bytes that are not valid in this encoding.',
  )
  expect(lines).toContain('Not sent, since they have errors: 1 row.')
  await client.runs.begin({ runId })
  await expect.poll(countTasks).toBe(2)
  expect(await client.runs.readPlan({ runId })).toMatchObject({
    accepted: { causes: [{ problem: 'undecodable_bytes' }] },
  })
})

it('sends nothing of a run with open warnings if the person declines the production question', async () => {
  onlyInLongForm()
  const { client, runId, countTasks } = await holdForProduction(() => false)
  expect(await toCode(client.runs.begin({ runId }))).toBe('production_declined')
  expect(await client.check.openWarnings({ runId })).toHaveLength(1)
  expect(await countTasks()).toBe(0)
  await client.runs.stop({ runId })
})

it('does not accept open warnings by a question that was never asked', async () => {
  onlyInLongForm()
  const { client, runId, countTasks, workspace, questions } = await holdForProduction(() => true)
  changeConnections(workspace, (known) => ({
    ...known,
    connections: known.connections.map((one) => ({ ...one, isProduction: false })),
  }))
  expect(await toCode(client.runs.begin({ runId }))).toBe('warnings_unaccepted')
  expect(questions).toEqual([])
  expect(await countTasks()).toBe(0)
  await client.runs.stop({ runId })
})

it('repeats what was accepted before in the question about a resumed run', async () => {
  onlyInLongForm()
  const { client, runId, questions } = await holdForProduction(() => true)
  await client.runs.begin({ runId, limit: 1 })
  await expect.poll(async () => (await client.runs.summarize({ runId })).rows.succeeded).toBe(1)
  await client.runs.stop({ runId })
  await expect.poll(async () => (await client.runs.list()).entries[0]?.isHeld).toBe(false)
  await client.runs.resumeRun({ runId, onUnknown: 'skip', apiKey: KEY })
  const asked = describeProduction(questions.at(-1) ?? expect.fail('a person was asked'))
  expect(asked.lines.join('\n')).toContain('You accept: content may be cut or replaced. 1 row:')
})
