import { describe, expect, it } from 'vitest'
import { toPlan, typedKey } from '../../src/renderer/app/build-plan.ts'
import type { Draft } from '../../src/renderer/app/draft.ts'
import {
  DEFAULT_SETTINGS,
  estimateDurationMs,
  findBlocker,
  parseBaseUrl,
  type Settings,
} from '../../src/renderer/features/review/settings.ts'
import { planSchema } from '../../src/shared/plan.ts'

const toService = (baseUrl: string, apiKey: string): Settings => ({
  ...DEFAULT_SETTINGS,
  destination: { kind: 'service', baseUrl, apiKey },
})

const DRAFT: Draft = {
  source: { path: '/data/posts.csv', name: 'posts.csv', sizeBytes: 10 },
  reading: { header: false, encoding: 'windows-1252' },
  preview: null,
  mapping: { text_data: { kind: 'column', column: 2 } },
  operation: { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] },
  settings: toService(' https://api.example.com/prefix/ ', ' secret-key '),
  heldRunId: null,
}

describe('the address of a service', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    [' http://127.0.0.1:8080/ ', 'http://127.0.0.1:8080'],
    ['https://api.example.com/moderation/', 'https://api.example.com/moderation'],
  ])('takes %j as %s', (text, url) => expect(parseBaseUrl(text)).toEqual({ kind: 'url', url }))

  it.each([
    '',
    'api.example.com',
    'localhost:8080',
    'ftp://api.example.com',
    'https://me:pw@example.com',
    'https://a.example/?x=1',
  ])('refuses %j and says what to do', (text) => {
    const parsed = parseBaseUrl(text)
    expect(parsed.kind === 'bad' && parsed.message.length > 20).toBe(true)
  })

  it('never repeats a password that was typed into it', () => {
    expect(JSON.stringify(parseBaseUrl('https://me:hunter2@example.com'))).not.toContain('hunter2')
  })
})

describe('what keeps rows from being sent', () => {
  it('is nothing for the sandbox', () => expect(findBlocker(DEFAULT_SETTINGS, false)).toBeNull())

  it('is a missing key, unless the environment has one', () => {
    expect(findBlocker(toService('https://a.example', ''), false)).toBe('Type the API key of the service')
    expect(findBlocker(toService('https://a.example', ''), true)).toBeNull()
  })
})

describe('the plan of a draft', () => {
  it('is one that the engine takes, with the address tidied', () => {
    const plan = planSchema.parse(toPlan(DRAFT, ''))
    expect(plan.connection.baseUrl).toBe('https://api.example.com/prefix')
    expect(plan.source).toEqual({ path: '/data/posts.csv', header: false, encoding: 'windows-1252' })
    expect(plan.pace).toEqual({ kind: 'closed', concurrency: 4 })
  })

  it('never holds the key', () => {
    expect(JSON.stringify(toPlan(DRAFT, ''))).not.toContain('secret-key')
    expect(typedKey(DRAFT)).toBe('secret-key')
  })

  it('goes to the sandbox without any key', () => {
    const draft = { ...DRAFT, settings: DEFAULT_SETTINGS }
    expect(toPlan(draft, 'http://127.0.0.1:1234')?.connection.baseUrl).toBe('http://127.0.0.1:1234')
    expect(typedKey(draft)).toBeNull()
  })
})

it('estimates the time from what is in flight at once', () => {
  expect(estimateDurationMs(364, 4, 250)).toBe(22_750)
  expect(estimateDurationMs(1, 64, 100)).toBe(100)
})
