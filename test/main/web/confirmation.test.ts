import { expect, it } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { followQuestion } from '../../../src/shared/bridge/follow.ts'
import type { WaitingQuestion } from '../../../src/shared/bridge/production.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { answerConsent } from './consent.ts'
import { type TestShell, withShell } from './with-shell.ts'

/** A shell on a workspace with a production connection; `shown` has the addresses of its questions. */
async function openShell() {
  const shown: string[] = []
  const shell = await withShell({ showConsent: async ({ url }) => void shown.push(url) })
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: 'http://127.0.0.1:1',
    keys: [{ label: 'only', env: 'NOWHERE' }],
    activeKey: 'only',
    isProduction: true,
  })
  changeConnections(shell.workspace, (known) => addConnection(known, live))
  const { cookie } = await shell.enter()
  return { shell, cookie, shown, client: await shell.connect(cookie) }
}

/** Answers a question on its page once the page is shown. */
async function answer(shown: readonly string[], at: number, say: 'send' | 'cancel') {
  await expect.poll(() => shown.length).toBeGreaterThan(at)
  return answerConsent(shown[at] ?? '', say)
}

/** The questions that a window learns of, in order. */
function follow(client: BridgeClient): () => Promise<WaitingQuestion | null> {
  const questions = followQuestion(client)
  return async () => (await questions.next()).value ?? null
}

/** Follows the link as a browser does when a person clicks it. */
const LINK = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' }
const openLink = (shell: TestShell, cookie: string, headers: Record<string, string> = LINK) =>
  shell.request('/confirm', { cookie, origin: null, headers })

it('tells only the window that caused it that a question waits, until it is answered', async () => {
  const { shell, cookie, shown, client } = await openShell()
  const next = follow(client)
  const other = follow(await shell.connect(cookie))
  expect([await next(), await other()]).toEqual([null, null])
  const test = client.connections.test({ name: 'live' })
  const question = await next()
  expect(question).toMatchObject({ title: 'Test production connection live?', waitsMs: 300_000 })
  const change = client.connections.remove({ name: 'live' })
  await expect(change).rejects.toThrow('another production prompt is still open')
  await answer(shown, 0, 'send')
  expect(await next()).toBeNull()
  expect((await test).address.kind).toBe('unreachable')
  // The other window has learned nothing.
  const ofOther = other()
  const client2 = await shell.connect(cookie)
  const next2 = follow(client2)
  await next2()
  const removed = client2.connections.remove({ name: 'live' })
  expect(await next2()).toMatchObject({ title: 'Remove the production mark of live?' })
  await answer(shown, 1, 'cancel')
  await expect(removed).rejects.toThrow('was not confirmed')
  expect(await next2()).toBeNull()
  expect(await Promise.race([ofOther, 'nothing'])).toBe('nothing')
})

it('ends the call when the window cancels its question, and sends nothing', async () => {
  const { client, shown } = await openShell()
  const next = follow(client)
  await next()
  const test = client.connections.test({ name: 'live' })
  const question = await next()
  await client.production.cancel({ id: 'of another question' })
  await client.production.cancel({ id: question?.id ?? '' })
  await expect(test).rejects.toThrow('was not confirmed')
  expect(await next()).toBeNull()
  // Its open page can no longer answer it.
  expect((await answer(shown, 0, 'send')).status).toBe(403)
})

it('leads a whole tab to the question, and tells no script its address', async () => {
  const { shell, cookie, shown, client } = await openShell()
  expect((await openLink(shell, cookie)).status).toBe(404)
  const next = follow(client)
  await next()
  const test = client.connections.test({ name: 'live' })
  await next()
  const led = await openLink(shell, cookie)
  expect(led.status).toBe(303)
  await expect.poll(() => shown[0]).toBe(led.headers.location)
  expect(new URL(led.headers.location ?? '').origin).not.toBe(shell.origin)
  expect((await openLink(shell, '')).status).toBe(401)
  for (const [mode, destination] of [
    ['cors', 'empty'],
    ['same-origin', 'empty'],
    ['no-cors', 'image'],
    ['navigate', 'iframe'],
    ['navigate', 'embed'],
    ['websocket', 'websocket'],
  ]) {
    const headers = { ...LINK, 'sec-fetch-mode': mode ?? '', 'sec-fetch-dest': destination ?? '' }
    const refused = await openLink(shell, cookie, headers)
    expect([mode, destination, refused.status, refused.headers.location]).toEqual([
      mode,
      destination,
      403,
      undefined,
    ])
  }
  expect((await shell.request('/confirm', { cookie, method: 'HEAD' })).headers.location).toBeUndefined()
  await answer(shown, 0, 'cancel')
  await expect(test).rejects.toThrow('was not confirmed')
  expect((await openLink(shell, cookie)).status).toBe(404)
})
