import { expect, it } from 'vitest'
import { createProductionGate, type ProductionQuestion } from '../../../src/main/bridge/production-gate.ts'
import {
  addConnection,
  changeConnections,
  replaceConnection,
} from '../../../src/main/engine/workspace/connections.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const LIVE = {
  name: 'live',
  baseUrl: 'http://127.0.0.1:8080/prefix',
  taskBaseUrl: 'https://tasks.example',
  keys: [{ label: 'only', env: 'NOWHERE' }],
  activeKey: 'only',
  isProduction: true,
}

const toPlan = (baseUrl: string, more: object = {}) =>
  planSchema.parse({
    connection: { baseUrl, ...more },
    source: { path: '/rows.csv' },
    operation: { kind: 'task' },
  })

/** A gate over a workspace with one production connection; `answer` answers its questions. */
function openGate(answer: (workspace: string) => boolean | Promise<boolean> = () => false) {
  const workspace = createTemporaryFolder()
  changeConnections(workspace, (known) => addConnection(known, storedConnectionSchema.parse(LIVE)))
  const asked: ProductionQuestion[] = []
  const gate = createProductionGate(workspace, async (question) => {
    asked.push(question)
    return answer(workspace)
  })
  const pass = (runId: string, baseUrl: string, more?: object) =>
    gate.pass({ runId, plan: toPlan(baseUrl, more), rows: 3, listNotes: async () => [] }, undefined).then(
      () => 'passed',
      (error: { code: string }) => error.code,
    )
  return { gate, pass, asked }
}

it('asks about a production address under any name that this machine has, and about no other', async () => {
  const { pass, asked } = openGate()
  for (const address of [
    'http://127.0.0.1:8080',
    'http://localhost:8080/elsewhere',
    'http://LOCALHOST.:8080',
    'http://any.localhost:8080',
    'http://[::1]:8080',
    'http://127.9.9.9:8080',
    'http://0.0.0.0:8080',
    'https://tasks.example.:443',
    'http://tasks.example',
    'https://tasks.example:8443',
    'https://localhost:8080',
  ]) {
    expect([address, await pass('r', address)]).toEqual([address, 'NOT_CONFIRMED'])
  }
  expect(await pass('r', 'http://other.example', { taskBaseUrl: 'https://tasks.example' })).toBe(
    'NOT_CONFIRMED',
  )
  expect(await pass('r', 'http://other.example', { name: 'live' })).toBe('NOT_CONFIRMED')
  expect(asked).toHaveLength(13)
  for (const address of ['http://127.0.0.1:8081', 'https://localhost:8443', 'https://other.example']) {
    expect(await pass('r', address)).toBe('passed')
  }
  expect(asked).toHaveLength(13)
})

it('applies a consent only to its own run, and once', async () => {
  const { gate, pass, asked } = openGate(() => true)
  expect(await pass('one', LIVE.baseUrl)).toBe('passed')
  expect(await pass('one', LIVE.baseUrl)).toBe('passed')
  expect(asked).toHaveLength(2)
  gate.admit('one', toPlan(LIVE.baseUrl))
  expect(await pass('one', LIVE.baseUrl)).toBe('passed')
  expect(asked).toHaveLength(2)
  await pass('other', LIVE.baseUrl)
  await pass('one', LIVE.baseUrl, { timeoutMs: 1 })
  expect(asked).toHaveLength(4)
  gate.forget('one')
  await pass('one', LIVE.baseUrl)
  expect(asked).toHaveLength(5)
})

it('asks one question at a time, and ignores the answer if the connection was changed meanwhile', async () => {
  const { pass, asked } = openGate((workspace) => {
    const moved = storedConnectionSchema.parse({ ...LIVE, baseUrl: 'http://127.0.0.1:8080/moved' })
    changeConnections(workspace, (known) => replaceConnection(known, moved))
    return true
  })
  const [first, second] = await Promise.all([pass('one', LIVE.baseUrl), pass('two', LIVE.baseUrl)])
  expect([first, second]).toEqual(['NOT_CONFIRMED', 'NOT_CONFIRMED'])
  expect(asked).toHaveLength(1)
})

it("does not take the address of a production connection for the receiver's", () => {
  const { gate } = openGate()
  expect(() => gate.refuseAddress('http://localhost:8080/callbacks')).toThrow('production connection live')
  expect(() => gate.refuseAddress('https://callbacks.example')).not.toThrow()
})
