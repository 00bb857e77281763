import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { expect, it, onTestFinished } from 'vitest'
import { type ConsentServer, openConsentServer } from '../../../src/main/web/consent-server.ts'
import { createEntryFiles } from '../../../src/main/web/entry.ts'
import { LISTENER_LIMITS } from '../../../src/main/web/listener.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { answerConsent, callConsent } from './consent.ts'

const QUESTION = {
  kind: 'send',
  connection: 'live',
  baseUrl: 'https://live.example',
  run: 'posts\u202Evsc.exe\n<b>x</b>',
  operation: 'task',
  rows: 1_234,
  notes: ['You accept: content may be cut or replaced. 2 rows:\u202E bytes.'],
} as const

/** A consent server and the addresses that it has shown. */
async function openServer(awaitEnd?: (signal: AbortSignal) => Promise<unknown>) {
  const folder = createTemporaryFolder()
  const shown: string[] = []
  let wake = () => {}
  const server: ConsentServer = await openConsentServer({
    entryFiles: createEntryFiles(folder),
    limits: LISTENER_LIMITS,
    ...(awaitEnd !== undefined && { awaitEnd }),
    async show({ url, file }) {
      expect(readFileSync(file, 'utf8')).toContain(url)
      shown.push(url)
      wake()
    },
  })
  onTestFinished(() => server.close())
  const ask = async (signal = new AbortController().signal) => {
    const isShown = new Promise<void>((resolve) => {
      wake = resolve
    })
    const answer = server.ask(QUESTION, signal)
    await isShown
    return { answer, url: shown.at(-1) ?? '' }
  }
  return { ask, folder }
}

it('shows the question only to holders of its token, in text that hides nothing', async () => {
  const { ask } = await openServer()
  const { answer, url } = await ask()
  expect(new URL(url).hostname).toMatch(/^sluice-consent-[0-9a-f]{16}\.localhost$/)
  const token = new URL(url).hash.slice(1)
  const page = await callConsent(url, '/enter', null)
  expect(page.status).toBe(200)
  expect(page.text).not.toContain(token)
  expect(String(page.headers['content-security-policy'])).toContain("frame-ancestors 'none'")
  const { lines } = JSON.parse((await callConsent(url, '/question', token)).text) as { lines: string[] }
  expect(lines).toContain('It submits content of 1,234 rows.')
  expect(lines).toContain('You accept: content may be cut or replaced. 2 rows:\ufffd bytes.')
  expect(lines[0]).toBe('Run: posts\ufffdvsc.exe\ufffd<b>x</b>')
  expect((await callConsent(url, '/question', 'guess')).status).toBe(403)
  await answerConsent(url, 'cancel')
  expect(await answer).toBe(false)
})

it('accepts one answer for each question, and only from its own page', async () => {
  const { ask, folder } = await openServer()
  const { answer, url } = await ask()
  const token = new URL(url).hash.slice(1)
  const sent = `${token} send`
  // Another page in this browser, such as that of the screens, is refused whatever it knows.
  for (const headers of [
    { origin: 'http://sluice-0123456789abcdef.localhost:1234' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { host: '127.0.0.1' },
  ]) {
    expect((await callConsent(url, '/answer', sent, headers)).status).toBeGreaterThanOrEqual(400)
  }
  expect((await callConsent(url, '/answer', 'guess send')).status).toBe(403)
  expect((await answerConsent(url, 'send')).status).toBe(200)
  expect(await answer).toBe(true)
  expect((await answerConsent(url, 'send')).status).toBe(403)
  expect(readdirSync(folder)).toEqual([])
  // The token of one question does not answer another.
  const next = await ask()
  expect((await callConsent(next.url, '/answer', sent)).status).toBe(403)
  await answerConsent(next.url, 'cancel')
  expect(await next.answer).toBe(false)
})

it('treats a closed window as a no', async () => {
  const { ask } = await openServer()
  const controller = new AbortController()
  const { answer } = await ask(controller.signal)
  controller.abort()
  expect(await answer).toBe(false)
})

it('says that nobody answered in time, and accepts no answer later', async () => {
  const time = Promise.withResolvers<void>()
  const { ask } = await openServer(() => time.promise)
  const { answer, url } = await ask()
  const said = expect(answer).rejects.toThrow(
    'nobody answered the production prompt for live within 5 minutes',
  )
  time.resolve()
  await said
  expect((await answerConsent(url, 'send')).status).toBe(403)
})

it('fails the question with the error if it cannot be shown, and leaves no unhandled rejection', async () => {
  const left: unknown[] = []
  const note = (error: unknown) => void left.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const server = await openConsentServer({
    entryFiles: createEntryFiles(createTemporaryFolder()),
    limits: LISTENER_LIMITS,
    show: () => Promise.reject(new Error('the terminal is gone')),
  })
  onTestFinished(() => server.close())
  const answer = server.ask(QUESTION, new AbortController().signal)
  await expect(answer).rejects.toThrow('the terminal is gone')
  expect(server.findUrl()).toBeNull()
  // Unhandled rejections are reported after the turn in which they happen.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(left).toEqual([])
})
