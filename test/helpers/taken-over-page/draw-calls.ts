import fc from 'fast-check'
import { bridgeContract } from '../../../src/shared/bridge/contract.ts'
import type { World } from './world.ts'

/** A call by a taken-over page; a `RunPlace` in its input stands for one of the existing runs. */
export interface DrawnCall {
  group: string
  name: string
  input: unknown
}

/** Stands for a run id that is known when the call is made. */
export class RunPlace {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

/** Every procedure of the contract. */
function listProcedures(): { group: string; name: string }[] {
  return Object.entries(bridgeContract).flatMap(([group, procedures]) =>
    Object.keys(procedures).map((name) => ({ group, name })),
  )
}

/** What a page may legitimately hold. */
export interface Holdings {
  sourceId: string
  targetId: string
}

/** Number of calls that try to set where the receiver listens, and of calls that need a key nobody typed. */
const AIMED_CALLS = 20

/** Number of runs for production; each is a thread. */
const UNASKED_CALLS = 6

/**
 * Generates calls, always the same for a seed: valid ones, valid ones with something forbidden added, and
 * arbitrary ones.
 */
export function drawCalls(count: number, seed: number, world: World, held: Holdings): DrawnCall[] {
  const { listener, keyless, unasked, any } = toCallArbitraries(world, held)
  const take = (arbitrary: fc.Arbitrary<DrawnCall>, numRuns: number) =>
    fc.sample(arbitrary, { numRuns, seed })
  // Listeners first, since an open receiver does not move.
  return [
    ...take(listener, AIMED_CALLS),
    ...take(keyless, AIMED_CALLS),
    ...take(unasked, UNASKED_CALLS),
    ...take(any, count - 2 * AIMED_CALLS - UNASKED_CALLS),
  ]
}

function toCallArbitraries(
  world: World,
  held: Holdings,
): Record<'listener' | 'keyless' | 'unasked' | 'any', fc.Arbitrary<DrawnCall>> {
  const { staging, production, strangers, unnamed } = world
  const services = [staging, production, ...strangers].map(({ baseUrl }) => baseUrl)
  const url = fc.constantFrom(
    ...services,
    ...services.map((base) => base.replace('127.0.0.1', 'localhost')),
    ...services.map((base) => `${base}/prefix`),
    `${production.baseUrl.replace('http://', 'http://user:pass@')}`,
    'http://0.0.0.0:0',
  )
  const path = fc.constantFrom(
    ...unnamed,
    ...unnamed.map((file) => `${held.sourceId}/../${file}`),
    '../../x.csv',
  )
  const variable = fc.constantFrom(
    'SLUICE_API_KEY',
    'STAGING_KEY',
    'LIVE_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'PROXY_LOGIN',
  )
  const runId = fc.nat(30).map((index) => new RunPlace(index))
  const text = fc.oneof(url, path, variable, fc.string(), fc.constantFrom('live', 'staging', held.sourceId))

  const destination = fc.oneof(
    { weight: 2, arbitrary: fc.constant({ kind: 'sandbox' }) },
    { weight: 3, arbitrary: fc.constantFrom('staging', 'live').map((name) => ({ kind: 'stored', name })) },
    { weight: 3, arbitrary: url.map((baseUrl) => ({ kind: 'service', baseUrl })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(url, url)
        .map(([baseUrl, taskBaseUrl]) => ({ kind: 'service', baseUrl, taskBaseUrl })),
    },
  )
  const operation = fc.constantFrom(
    { kind: 'task' },
    { kind: 'task', api: 'v2' },
    { kind: 'task', mode: 'async' },
    { kind: 'appeal-status' },
    { kind: 'watchlist-add', watchlist: 'w' },
  )
  const template = url.map((base) => ({ callback_url: { kind: 'template', template: `${base}/hook` } }))
  const request = fc.record(
    {
      destination,
      source: fc.constant({ sourceId: held.sourceId }),
      operation,
      mapping: fc.oneof(fc.constant({}), template),
      callback: url.map((base) => ({ url: base })),
      retry: fc.constant({ limit: 0 }),
    },
    { requiredKeys: ['destination', 'source', 'operation'] },
  )
  const apiKey = fc.constantFrom('typed-by-the-page', 'typed by the page', 'k')
  const start = fc.record({ request, apiKey }, { requiredKeys: ['request'] })

  /** Members that a page could add to a valid input to gain access. */
  const forbidden = fc.oneof(
    fc.record({ apiKeyEnv: variable }),
    fc.record({ tls: path.map((caFile) => ({ caFile })) }),
    fc.record({ proxy: fc.record({ url, credentialsEnv: variable }) }),
    fc.record({ host: fc.constantFrom('0.0.0.0', '::') }),
    fc.record({ port: fc.integer({ min: 1, max: 65_535 }) }),
    fc.record({ callback: fc.record({ host: fc.constantFrom('0.0.0.0', '::') }) }),
    fc.record({ file: path }),
    fc.record({ path }),
    fc.record({ source: fc.record({ path }) }),
    fc.record({ targetId: path }),
    fc.record({
      connection: fc.record({ baseUrl: url, apiKeyEnv: variable, name: fc.constantFrom('live', 'staging') }),
    }),
    fc.record({ plan: fc.record({ connection: fc.record({ baseUrl: url, apiKeyEnv: variable }) }) }),
    fc.record({ isConfirmed: fc.constant(true), yes: fc.constant(true), consent: fc.string() }),
  )
  const spoil = (input: fc.Arbitrary<object>) =>
    fc.oneof(
      fc.tuple(input, forbidden).map(([sound, added]) => ({ ...sound, ...added })),
      fc
        .tuple(input, forbidden)
        .map(([sound, added]) => mapMembers(sound, (member) => ({ ...member, ...added }))),
      fc
        .tuple(input, forbidden)
        .map(([sound, added]) =>
          mapMembers(sound, (member) => mapMembers(member, (inner) => ({ ...inner, ...added }))),
        ),
    )
  /** A run that needs the receiver, at an address that the page chooses. */
  const openStart = fc
    .tuple(request, fc.constantFrom('0.0.0.0', '::'), fc.nat(1))
    .map(([sound, host, isDeep]) => ({
      request: {
        ...sound,
        destination: { kind: 'service', baseUrl: strangers[0].baseUrl },
        mapping: {},
        operation: { kind: 'task', mode: 'async' },
        ...(isDeep ? { callback: { host } } : { callback: {}, host }),
      },
      apiKey: 'k',
    }))
  /** A run whose key could only come from a variable. */
  const keylessStart = fc
    .tuple(url, fc.constantFrom({ kind: 'task' }, { kind: 'task', api: 'v2' }))
    .map(([baseUrl, chosen]) => ({
      request: {
        destination: { kind: 'service', baseUrl },
        source: { sourceId: held.sourceId },
        operation: chosen,
      },
    }))
  /** A run that reaches production as soon as it begins. */
  const unaskedStart = fc
    .constantFrom(
      { kind: 'stored', name: 'live' },
      { kind: 'service', baseUrl: production.baseUrl },
      { kind: 'service', baseUrl: production.baseUrl.replace('127.0.0.1', 'localhost') },
      { kind: 'service', baseUrl: strangers[0].baseUrl, taskBaseUrl: production.baseUrl },
    )
    .map((chosen) => ({
      request: {
        destination: chosen,
        source: { sourceId: held.sourceId },
        operation: { kind: 'task', api: 'taskBaseUrl' in chosen ? 'v2' : 'v1' },
      },
      apiKey: 'k',
    }))
  const oldStart = fc.record({
    plan: fc.record({
      connection: fc.record({ baseUrl: url, apiKeyEnv: variable }),
      source: path.map((named) => ({ path: named })),
      operation,
    }),
  })
  const preview = fc.record({ source: fc.record({ sourceId: fc.oneof(fc.constant(held.sourceId), path) }) })
  const exporting = fc.record(
    { runId, format: fc.constantFrom('csv', 'jsonl', 'html', 'xlsx'), targetId: fc.oneof(path, fc.string()) },
    { requiredKeys: ['runId', 'format', 'targetId'] },
  )
  const take = fc.record(
    { runId, onUnknown: fc.constantFrom('resend', 'skip'), apiKey },
    { requiredKeys: ['runId', 'onUnknown'] },
  )
  const correction = fc.record({
    runId,
    onUnknown: fc.constantFrom('resend', 'skip'),
    apiKey,
    fixes: fc.constantFrom([], [{ kind: 'cell', row: 1, field: 'user_id', value: 'someone' }]),
  })
  const again = fc.record(
    { runId, destination, apiKey, keepPostIds: fc.boolean() },
    { requiredKeys: ['runId'] },
  )
  const listed = fc.record({
    of: fc.constantFrom('index', 'watchlist', 'appeals'),
    service: fc.record({
      base_url: url,
      connections: fc.constantFrom([], ['live']),
      api_key_env: fc.option(variable),
    }),
    list: fc.option(path),
    states: fc.constant(['known']),
    search: fc.constant(null),
  })
  const single = fc.record(
    {
      destination: fc.oneof(
        fc.constant({ kind: 'sandbox' }),
        fc.constantFrom('staging', 'live').map((name) => ({ kind: 'stored', name })),
      ),
      endpoint: fc.constantFrom(
        { kind: 'task', api: 'v1', mode: 'sync', legacy: false },
        { kind: 'task', api: 'v2', mode: 'async', legacy: false },
        { kind: 'appeal-status' },
        { kind: 'watchlist-add' },
      ),
      text: fc.oneof(
        fc.constantFrom('{"post_id":"p","user_id":"u","text_data":"t"}', '{"appeal_id":"../../x"}', '{}'),
        url.map((base) => JSON.stringify({ post_id: 'p', callback_url: `${base}/hook` })),
        text,
      ),
      callbackUrl: url,
    },
    { requiredKeys: ['destination', 'endpoint', 'text'] },
  )
  const sandboxSetup = fc.record({
    port: fc.constantFrom(0, ...services.map((base) => Number(new URL(base).port))),
    taskPort: fc.constant(0),
    seed: text,
    isKept: fc.boolean(),
  })
  const call = (group: string, name: string, input: fc.Arbitrary<unknown>) =>
    input.map((drawn) => ({ group, name, input: drawn }))
  const anyCall = fc
    .tuple(
      fc.constantFrom(...listProcedures()),
      fc.oneof(
        fc.anything({ withBigInt: false }),
        fc.record({ runId }),
        fc.dictionary(fc.string(), text),
        forbidden,
      ),
    )
    .map(([procedure, input]) => ({ ...procedure, input }))

  // The test sends to `staging` at its end, so nothing must mark that address as production.
  const { port } = new URL(staging.baseUrl)
  const isStaging = (base: string | null) => base?.includes(`:${port}`) === true
  const settings = fc
    .record({
      baseUrl: url,
      taskBaseUrl: fc.option(url),
      timeoutMs: fc.constant(null),
      isProduction: fc.boolean(),
    })
    .map((drawn) => ({
      ...drawn,
      isProduction: drawn.isProduction && !isStaging(drawn.baseUrl) && !isStaging(drawn.taskBaseUrl),
    }))
  const known = fc.constantFrom('staging', 'live', 'own')
  const label = fc.constantFrom('only', 'first', 'extra')
  const typedKey = fc.oneof(apiKey, variable)
  // No call removes `staging`, since the test uses it at its end.
  const connectionCall = fc.oneof(
    call('connections', 'add', fc.record({ name: fc.constant('own'), settings, label, apiKey: typedKey })),
    call('connections', 'add', spoil(fc.record({ name: fc.constant('own'), settings, label }))),
    call('connections', 'change', fc.record({ name: known, settings })),
    call('connections', 'change', spoil(fc.record({ name: known, settings }))),
    call('connections', 'remove', fc.record({ name: fc.constantFrom('live', 'own') })),
    call('connections', 'setKey', fc.record({ name: known, label, apiKey: typedKey })),
    call('connections', 'test', fc.record({ name: known })),
    call('connections', 'testSettings', fc.record({ name: fc.option(known), settings, apiKey })),
    call('connections', 'testSettings', fc.record({ name: known, settings })),
    call('production', 'cancel', fc.record({ id: fc.string({ minLength: 1, maxLength: 40 }) })),
  )

  const any = fc.oneof(
    { weight: 10, arbitrary: call('runs', 'start', start) },
    { weight: 90, arbitrary: call('runs', 'start', spoil(start)) },
    { weight: 40, arbitrary: call('runs', 'start', oldStart) },
    {
      weight: 40,
      arbitrary: call(
        'runs',
        'begin',
        fc.record({ runId, limit: fc.integer({ min: 1, max: 3 }) }, { requiredKeys: ['runId'] }),
      ),
    },
    { weight: 20, arbitrary: call('runs', 'resume', fc.record({ runId })) },
    { weight: 10, arbitrary: call('runs', 'setApiKey', fc.record({ runId, apiKey })) },
    {
      weight: 8,
      arbitrary: fc
        .constantFrom('pause', 'stop', 'deleteRun', 'drop')
        .chain((name) => call('runs', name, fc.record({ runId }))),
    },
    {
      weight: 5,
      arbitrary: fc.constantFrom('resumeRun', 'retryRun').chain((name) => call('runs', name, take)),
    },
    {
      weight: 30,
      arbitrary: fc.constantFrom('resumeRun', 'retryRun').chain((name) => call('runs', name, spoil(take))),
    },
    { weight: 5, arbitrary: call('runs', 'correctRun', correction) },
    { weight: 5, arbitrary: call('runs', 'correctRun', spoil(correction)) },
    {
      weight: 10,
      arbitrary: call(
        'connections',
        'use',
        fc.record({
          name: fc.constantFrom('live', 'staging'),
          key: fc.constantFrom('only', 'first', 'spare'),
        }),
      ),
    },
    { weight: 60, arbitrary: connectionCall },
    {
      weight: 5,
      arbitrary: call(
        'receiver',
        'test',
        fc.record({ publicUrl: fc.constantFrom(production.baseUrl, `${production.baseUrl}/a`) }),
      ),
    },
    {
      weight: 20,
      arbitrary: fc
        .constantFrom('ofRow', 'fetch')
        .chain((name) =>
          call(
            'media',
            name,
            spoil(fc.record({ runId, row: fc.integer({ min: 1, max: 3 }), column: fc.nat(4) })),
          ),
        ),
    },
    { weight: 10, arbitrary: call('scratchpad', 'send', single) },
    { weight: 20, arbitrary: call('scratchpad', 'send', spoil(single)) },
    { weight: 5, arbitrary: call('scratchpad', 'fromRow', fc.record({ runId, row: fc.nat(3) })) },
    { weight: 2, arbitrary: call('sandbox', 'setUp', sandboxSetup) },
    { weight: 5, arbitrary: call('sandbox', 'setUp', spoil(sandboxSetup)) },
    { weight: 20, arbitrary: call('receiver', 'open', forbidden) },
    { weight: 20, arbitrary: call('source', 'preview', preview) },
    { weight: 40, arbitrary: call('source', 'preview', spoil(preview)) },
    { weight: 10, arbitrary: call('history', 'runAgain', again) },
    { weight: 20, arbitrary: call('history', 'runAgain', spoil(again)) },
    { weight: 10, arbitrary: call('lists', 'toSource', listed) },
    { weight: 20, arbitrary: call('lists', 'toSource', spoil(listed)) },
    { weight: 40, arbitrary: call('exports', 'create', exporting) },
    { weight: 40, arbitrary: call('exports', 'create', spoil(exporting)) },
    {
      weight: 1,
      arbitrary: call(
        'exports',
        'create',
        fc.record({ runId, format: fc.constant('csv'), targetId: fc.constant(held.targetId) }),
      ),
    },
    { weight: 120, arbitrary: anyCall },
  )
  return {
    listener: call('runs', 'start', openStart),
    keyless: call('runs', 'start', keylessStart),
    unasked: call('runs', 'start', unaskedStart),
    any,
  }
}

/** The same object with all members changed that are plain objects. */
function mapMembers(input: object, change: (member: object) => object): object {
  return Object.fromEntries(
    Object.entries(input).map(([name, member]: [string, unknown]) => [
      name,
      typeof member === 'object' && member !== null && !(member instanceof RunPlace)
        ? change(member)
        : member,
    ]),
  )
}
