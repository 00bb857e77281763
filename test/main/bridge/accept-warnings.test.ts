import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import type { AcceptCode } from '../../../src/shared/run/accept-code.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const KEY = 'a-key'
/** The second row has half a character, which is replaced. */
const CUT =
  '{"post_id":"p1","user_id":"u","text_data":"one"}\n{"post_id":"p2","user_id":"u","text_data":"\\ud800"}\n'

async function hold() {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const bridge = withBridge()
  const { client } = await connectWindow('websocket', bridge.services)
  const request = await createRequest(bridge.services, writeText(CUT, 'posts.jsonl'), sandbox.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  const countTasks = async () => (await sandbox.stats()).tasks
  return { client, runId, request, countTasks }
}

const toCode = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error)?.said.id ?? String(error),
  )

it('sends nothing of a run whose warnings nobody has accepted, whatever a page asks for', async () => {
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

it('sends a run whose warnings were accepted, and has nothing to accept of it any more', async () => {
  const { client, runId, countTasks } = await hold()
  await client.runs.begin({ runId, limit: 1, accept: ['content_cut'] })
  await expect.poll(() => client.check.openWarnings({ runId })).toEqual([])
  await client.runs.begin({ runId })
  await expect.poll(countTasks).toBe(2)
  expect(await client.runs.readPlan({ runId })).toMatchObject({ accept: ['content_cut'] })
})
