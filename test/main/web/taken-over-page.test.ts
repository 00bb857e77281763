import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import { expect, inject, it } from 'vitest'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { followRun } from '../../../src/shared/bridge/follow.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import { drawCalls } from '../../helpers/taken-over-page/draw-calls.ts'
import { makeCalls } from '../../helpers/taken-over-page/make-calls.ts'
import { createWorld, VARIABLES } from '../../helpers/taken-over-page/world.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { answerConsent } from './consent.ts'
import { withShell } from './with-shell.ts'

const SEED = 20_261_123
const CALLS = inject('isLong') ? 2_000 : 60

it('reaches no secret, file, listener or production that no person named, whatever the page calls', {
  timeout: 240_000,
}, async () => {
  const world = await createWorld(join(createTemporaryFolder(), 'workspace'))
  const asked: string[] = []
  let answer: 'send' | 'cancel' = 'cancel'
  const shell = await withShell({
    workspace: world.workspace,
    async showConsent({ url }) {
      asked.push(url)
      await answerConsent(url, answer)
    },
  })
  const { cookie } = await shell.enter()
  const upload = { method: 'PUT', cookie, body: readFileSync(world.source, 'utf8') }
  const { sourceId } = chosenSourceSchema.parse(
    JSON.parse((await shell.request('/files/uploads?name=named.csv', upload)).text),
  )
  const opened = await shell.openSocket({ cookie })
  if (!('socket' in opened)) throw new Error('refused')
  const said: string[] = []
  opened.socket.on('message', (data) => said.push(data.toString()))
  const websocket = opened.socket as unknown as globalThis.WebSocket
  const client: BridgeClient = createORPCClient(new RPCLink({ websocket }))

  const held = { sourceId, targetId: 'a browser is given none' }
  const { answered, refused, runIds } = await makeCalls(client, drawCalls(CALLS, SEED, world, held))
  expect(answered + refused).toBe(CALLS)
  expect(world.findHarm(said)).toEqual([])
  expect(asked.length).toBeGreaterThan(0)
  // The page never learns where the question is answered.
  for (const url of asked) expect(said.join('\n')).not.toContain(new URL(url).host)

  // The page does work: it starts runs, and a stored connection's key goes to its own address.
  expect(runIds.length).toBeGreaterThan(5)
  const sendOne = async (name: string) => {
    const destination = { kind: 'stored', name } as const
    const request = { destination, source: { sourceId }, operation: { kind: 'task' } } as const
    const { runId } = await client.runs.start({ request })
    await client.runs.awaitReady({ runId })
    await client.runs.begin({ runId })
    for await (const _snapshot of followRun(client, runId));
  }
  // The page may have marked a connection of its own as production at this very address.
  answer = 'send'
  await sendOne('staging')
  answer = 'cancel'
  expect(world.staging.requests.join('\n')).toContain(VARIABLES.STAGING_KEY)
  expect(world.findHarm(said)).toEqual([])
  // Rows go to production only with a person's consent.
  await expect(sendOne('live')).rejects.toThrow('not confirmed')
  expect(world.production.requests).toEqual([])
  answer = 'send'
  await sendOne('live')
  expect(world.production.requests).toHaveLength(2)
})
