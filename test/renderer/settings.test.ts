import { describe, expect, it } from 'vitest'
import { type Draft, parseMemory, toMemory } from '../../src/renderer/app/draft.ts'
import { toRunRequest, typedKey } from '../../src/renderer/app/run-request.ts'
import { DEFAULT_LOAD } from '../../src/renderer/features/operation/load-settings.ts'
import {
  chooseOperation,
  DEFAULT_CALLBACK,
  findOperationGap,
  isOutOfReach,
} from '../../src/renderer/features/operation/operation-settings.ts'
import {
  DEFAULT_SETTINGS,
  estimateDurationMs,
  type Settings,
  withDestination,
} from '../../src/renderer/features/review/settings.ts'
import { DEFAULT_MEDIA, findMediaGap, toPlanMedia } from '../../src/renderer/features/source/reading.ts'
import {
  findDestinationGap,
  nameAddress,
  parseBaseUrl,
  parseServiceUrl,
  recallDestination,
  recallTypedKeys,
  rememberDestination,
  rememberTypedKey,
  toAddresses,
} from '../../src/renderer/ui/connection/destination.ts'
import type { ConnectionEntry } from '../../src/shared/bridge/connections.ts'
import { runRequestSchema } from '../../src/shared/bridge/runs.ts'
import type { BridgePreview } from '../../src/shared/bridge/source.ts'
import { connectionSchema } from '../../src/shared/plan/connection.ts'

const toService = (baseUrl: string, apiKey: string): Settings => ({
  ...DEFAULT_SETTINGS,
  destination: { kind: 'service', baseUrl, taskBaseUrl: '', apiKey },
})

const PREVIEW: BridgePreview = {
  columns: ['user_id', 'text_data'],
  rows: [],
  encoding: 'utf-8',
  encodingBy: 'strict',
  delimiter: ',',
  delimiterBy: 'ending',
  header: true,
  problems: [],
  sizeBytes: 10,
  hasMore: false,
  malformedRows: 0,
  isHeaderDoubtful: false,
  readAs: [{ format: 'csv' }],
}

const DRAFT: Draft = {
  operation: { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] },
  isOperationChosen: true,
  isDestinationChosen: true,
  remembered: {},
  isLoad: false,
  load: DEFAULT_LOAD,
  callback: DEFAULT_CALLBACK,
  settings: toService(' https://api.example.com/prefix/ ', ' secret-key '),
  source: { sourceId: 'a-handle', name: 'posts.csv', sizeBytes: 10 },
  reading: { header: false, encoding: 'windows-1252' },
  media: DEFAULT_MEDIA,
  preview: null,
  fixes: [{ kind: 'substitute', field: 'user_id' }],
  heldFixes: [],
  mapping: { text_data: { kind: 'column', column: 2 } },
  onlyNew: null,
  isRestoring: false,
  heldRunId: null,
}

describe('the address of a service', () => {
  it('drops the path of an endpoint, and the field says so', () => {
    const typed = ' https://api.example.com/prefix/api/v1/task/sync '
    expect(parseServiceUrl(typed)).toEqual({
      kind: 'url',
      url: 'https://api.example.com/prefix',
      note: expect.stringContaining('Using https://api.example.com/prefix as the base URL'),
    })
    expect(parseServiceUrl('https://api.example.com/prefix')).toMatchObject({ note: null })
    expect(toRunRequest({ ...DRAFT, settings: toService(typed, 'key') }, [])).toMatchObject({
      destination: { kind: 'service', baseUrl: 'https://api.example.com/prefix' },
    })
  })

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
  const gapOf = ({ destination }: Settings, needsKey = true) =>
    findDestinationGap(destination, { needsKey, connections: [] })

  it('is nothing for the sandbox', () => expect(gapOf(DEFAULT_SETTINGS)).toBeNull())

  it('is a missing key, unless none is sent', () => {
    expect(gapOf(toService('https://a.example', ''))).toBe('Type the API key of the service')
    expect(gapOf(toService('https://a.example', ''), false)).toBeNull()
  })

  it('is a second host that is not a URL', () => {
    const { destination } = toService('https://a.example', 'key')
    const gap = findDestinationGap({ ...destination, taskBaseUrl: 'b.example' } as typeof destination, {
      needsKey: true,
      connections: [],
    })
    expect(gap).toContain('must begin with https://')
  })
})

const STORED: ConnectionEntry = {
  name: 'live',
  isProduction: true,
  isInUse: true,
  keys: [
    { label: 'primary', env: 'LIVE_KEY', state: 'ready' },
    { label: 'spare', env: 'SPARE_KEY', state: 'missing' },
  ],
  activeKey: 'primary',
  connection: connectionSchema.parse({
    name: 'live',
    baseUrl: 'https://live.example',
    apiKeyEnv: 'LIVE_KEY',
    timeoutMs: 5_000,
    proxy: { url: 'http://proxy.example:3128' },
  }),
}

describe('a stored connection', () => {
  const live = { kind: 'stored', name: 'live', apiKey: '' } as const
  const surroundings = { needsKey: true, connections: [STORED] }

  it('is looked up by its name, and says how long to wait', () => {
    const settings = withDestination(DEFAULT_SETTINGS, live, [STORED])
    expect(settings.timeoutS).toBe(5)
    const request = toRunRequest({ ...DRAFT, settings }, [STORED])
    expect(request).toMatchObject({ destination: { kind: 'stored', name: 'live' }, timeoutMs: 5_000 })
    expect(toRunRequest({ ...DRAFT, settings }, [])).toBeNull()
  })

  it('asks for a key if the variable of its active key is not set', () => {
    expect(findDestinationGap(live, surroundings)).toBeNull()
    const spare = { ...surroundings, connections: [{ ...STORED, activeKey: 'spare' }] }
    expect(findDestinationGap(live, spare)).toBe('Type the API key of live')
    expect(findDestinationGap({ ...live, apiKey: 'typed' }, spare)).toBeNull()
    expect(findDestinationGap(live, { ...surroundings, connections: [] })).toContain('no longer stored')
  })

  it('is shown by its name wherever its address appears', () => {
    const known = { sandboxBaseUrls: ['http://127.0.0.1:1'], connections: [STORED] }
    expect(nameAddress('https://live.example', known)).toEqual({ name: 'live', kind: 'production' })
    expect(nameAddress('http://127.0.0.1:1', known).kind).toBe('sandbox')
    expect(nameAddress('https://other.example/v', known).name).toBe('other.example/v')
  })

  it("names a run's service by the connection in its plan, whichever others share its address", () => {
    const shared = {
      sandboxBaseUrls: [],
      connections: [STORED, { ...STORED, name: 'another', isProduction: false }],
    }
    const name = (connection?: string) => nameAddress('https://live.example', shared, connection).name
    expect([name('another'), name('live'), name('removed since'), name()]).toEqual([
      ...['another', 'live', 'removed since', 'live.example'],
    ])
  })
})

describe('a key that was typed', () => {
  it('is offered for a run to exactly its addresses, and for no other', () => {
    rememberTypedKey({ baseUrl: 'https://a.example' }, 'typed-key')
    const recall = (base_url: string, task_base_url?: string) =>
      recallTypedKeys(toAddresses({ base_url, ...(task_base_url !== undefined && { task_base_url }) }))
    expect(recall('https://a.example')).toEqual(['typed-key'])
    expect(recall('https://a.example', 'https://a.example')).toEqual(['typed-key'])
    expect(recall('https://a.example', 'https://b.example')).toEqual([])
    expect(recall('https://a.example:8443')).toEqual([])
  })

  it('is returned to its connection, but not to another of that name or at another address', () => {
    const at = (baseUrl: string): ConnectionEntry[] => [
      { ...STORED, connection: connectionSchema.parse({ baseUrl }) },
    ]
    const empty = { kind: 'stored', name: STORED.name, apiKey: '' } as const
    const typed = { ...empty, apiKey: 'typed-key' }
    rememberDestination(typed, at('https://a.example'))
    expect(recallDestination(empty, at('https://a.example'))).toEqual(typed)
    expect(recallDestination(empty, at('https://b.example'))).toEqual(empty)
    expect(recallDestination(empty, [])).toEqual(empty)
  })
})

describe('choosing another operation', () => {
  it('brings back what was typed for it', () => {
    const added = { kind: 'index-add', mode: 'async', indexId: 'faces' } as const
    expect(chooseOperation('index-add', { 'index-add': added })).toBe(added)
  })

  it("starts with the counterpart's index or watchlist", () => {
    const remembered = {
      'index-add': { kind: 'index-add', mode: 'async', indexId: 'faces' },
      'watchlist-add': { kind: 'watchlist-add', watchlist: 'words', termsPerRequest: 7 },
    } as const
    expect(chooseOperation('index-remove', remembered)).toMatchObject({ mode: 'sync', indexId: 'faces' })
    expect(chooseOperation('watchlist-update', remembered)).toMatchObject({
      watchlist: 'words',
      emptyNotes: 'keep',
    })
  })

  it('asks for the name of the index or the watchlist', () => {
    expect(findOperationGap(chooseOperation('index-add', {}))).toBe('Type the id of the custom index')
    expect(findOperationGap(chooseOperation('watchlist-add', {}))).toBe('Type the name of the watchlist')
    expect(findOperationGap(chooseOperation('appeal-status', {}))).toBeNull()
  })
})

describe('an address that is given to a service', () => {
  it.each([
    ['https://api.example.com', 'http://127.0.0.1:4100', true],
    ['https://api.example.com', 'http://localhost:4100', true],
    ['https://api.example.com', 'https://callbacks.example.com', false],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:4100', false],
    [null, 'http://127.0.0.1:4100', false],
  ])('at %j, for %j, is out of its reach: %s', (service, callback, isOut) => {
    expect(isOutOfReach(service, callback)).toBe(isOut)
  })

  it.each([
    ['https://cdn.example.com/all.jpg', 'Put {{path}} where the path of the file belongs'],
    ['cdn.example.com/{{path}}', 'Not an address: it must begin with https:// or http://'],
    ['https://cdn.example.com/{{path}}?size=large', null],
  ])('made from %j lacks: %s', (template, gap) => {
    expect(findMediaGap({ kind: 'template', template })).toBe(gap)
  })
})

/** The bridge's parse of a request, with defaults filled in. */
const toParsed = (draft: Draft) => runRequestSchema.parse(toRunRequest(draft, []))

describe('the run that a draft asks for', () => {
  it('is valid for the bridge, with the address tidied', () => {
    const plan = toParsed(DRAFT)
    expect(plan.destination).toEqual({ kind: 'service', baseUrl: 'https://api.example.com/prefix' })
    expect(plan.source).toEqual({ sourceId: 'a-handle', header: false, encoding: 'windows-1252' })
    expect(plan.pace).toEqual({ kind: 'closed', concurrency: 4 })
  })

  it('never holds the key', () => {
    expect(JSON.stringify(toRunRequest(DRAFT, []))).not.toContain('secret-key')
    expect(typedKey(DRAFT)).toBe('secret-key')
  })

  it('says that a field is empty if its column was unmapped, since the engine would match it otherwise', () => {
    const plan = toRunRequest({ ...DRAFT, preview: PREVIEW, mapping: {} }, [])
    expect(plan?.mapping).toEqual({
      user_id: { kind: 'template', template: '' },
      text_data: { kind: 'template', template: '' },
    })
  })

  it('asks for the media addresses of a folder, and of no other source', () => {
    const folder = toRunRequest({ ...DRAFT, preview: { ...PREVIEW, format: 'folder' } }, [])
    expect(folder?.source.media).toEqual(toPlanMedia(DEFAULT_MEDIA))
    expect(toRunRequest({ ...DRAFT, preview: PREVIEW }, [])?.source.media).toBeUndefined()
  })

  it('expects callbacks at the public address, and sends v2 to the second host', () => {
    const { settings } = DRAFT
    const draft: Draft = {
      ...DRAFT,
      operation: { kind: 'task', mode: 'async', api: 'v2', legacy: false, models: ['my-index'] },
      callback: { publicUrl: ' https://callbacks.example.com/in/ ', overdueMinutes: 3 },
      settings: {
        ...settings,
        destination: {
          kind: 'service',
          baseUrl: 'https://a.example',
          taskBaseUrl: 'https://tasks.example/',
          apiKey: 'k',
        },
      },
    }
    const plan = toParsed(draft)
    expect(plan.callback).toMatchObject({ url: 'https://callbacks.example.com/in', timeoutMs: 180_000 })
    expect(plan.destination).toMatchObject({ taskBaseUrl: 'https://tasks.example' })
  })

  it('loads a deployment with the chosen settings, and does not retry', () => {
    const plan = toParsed({ ...DRAFT, isLoad: true })
    expect(plan.load?.pace).toEqual({ kind: 'closed', concurrency: 10 })
    expect(plan.retry.limit).toBe(0)
    const incomplete = { ...DRAFT, isLoad: true, load: { ...DEFAULT_LOAD, duration: 'long' } }
    expect(toRunRequest(incomplete, [])).toBeNull()
    expect(toParsed(DRAFT).load).toBeUndefined()
  })

  it('goes to the sandbox without any key', () => {
    const draft = { ...DRAFT, settings: DEFAULT_SETTINGS }
    expect(toRunRequest(draft, [])?.destination).toEqual({ kind: 'sandbox' })
    expect(typedKey(draft)).toBeNull()
  })
})

describe('a draft that outlives a reload', () => {
  it('is restored without the key and without the content of rows', () => {
    const split = { kind: 'split' } as const
    const cell = { kind: 'cell', row: 2, field: 'text_data', value: 'new words', was: 'old words' } as const
    const text = JSON.stringify(
      toMemory({ ...DRAFT, preview: PREVIEW, heldRunId: 'r', fixes: [cell, split] }),
    )
    expect(text).not.toContain('secret-key')
    expect(text).not.toContain('words')
    const { preview: _preview, remembered: _remembered, isRestoring: _now, heldFixes: _held, ...rest } = DRAFT
    expect(parseMemory(text)).toEqual({
      ...rest,
      settings: toService(' https://api.example.com/prefix/ ', ''),
      fixes: [split],
      heldRunId: 'r',
    })
  })

  it.each([null, '', 'no json', '{}', '{"operation":{"kind":"load"}}'])(
    'is discarded if it is %j',
    (text) => {
      expect(parseMemory(text)).toBeNull()
    },
  )
})

it('estimates the time from the requests in flight', () => {
  expect(estimateDurationMs(364, 4, 250)).toBe(22_750)
  expect(estimateDurationMs(1, 64, 100)).toBe(100)
})
