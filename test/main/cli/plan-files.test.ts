import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { COMMAND_NAMES, createProgram } from '../../../src/main/cli/program.ts'
import { readConnections } from '../../../src/main/engine/workspace/connections.ts'
import { readPlanFile } from '../../../src/main/engine/workspace/plan-file.ts'
import { changeSavedMappings } from '../../../src/main/engine/workspace/saved-mappings.ts'
import { parsePlanFile } from '../../../src/shared/plan/file/parse-plan-file.ts'
import { operationKindSchema } from '../../../src/shared/run/result-view.ts'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** Options that only matter while a plan runs; `--save-plan` is the plan itself. */
const RUN_TIME = new Set([
  '--workspace',
  '--quiet',
  '--json',
  '--on-unknown',
  '--resend-index-adds',
  '--dry-run',
  '--yes',
  '--save-plan',
  // A plan has all headers of its connection, so that the two are refused together.
  '--remove-header',
  '--metrics-port',
  '--progress',
  '--metrics-host',
  '--metrics-linger',
  '--out',
  '--export',
  '--overwrite',
  '--limit',
  '--export-k6',
  '--find-capacity',
  '--max-level',
  '--max-probes',
  '--max-time',
  '--cool-down',
  // What it accepts are causes, which are known only once the source is read.
  '--accept',
  // It makes the source, which the plan then names.
  '--recheck',
])

/**
 * What each other option is given here, beside what makes it complete, and the part of the plan that it
 * changes.
 */
const EXAMPLES: Readonly<Record<string, { args: string[]; path: string }>> = {
  '--connection': { args: ['other'], path: 'connection.name' },
  '--base-url': { args: ['http://127.0.0.1:2'], path: 'connection.baseUrl' },
  '--task-base-url': { args: ['http://127.0.0.1:3'], path: 'connection.taskBaseUrl' },
  '--api-key-env': { args: ['ANOTHER_KEY'], path: 'connection.apiKeyEnv' },
  '--api-key-file': { args: ['key.txt'], path: 'connection.keyFrom' },
  '--api-key-command': { args: ['pass show key'], path: 'connection.keyFrom' },
  '--timeout': { args: ['5s'], path: 'connection.timeoutMs' },
  '--delivered-code': { args: ['HAVE_IT'], path: 'connection.deliveredCodes.0' },
  '--header': { args: ['X-Tenant: acme'], path: 'connection.headers.X-Tenant' },
  '--user-agent': { args: ['trial/1'], path: 'connection.userAgent' },
  '--keepalive': { args: [], path: 'connection.keepAlive' },
  '--no-keepalive': { args: [], path: 'connection.keepAlive' },
  '--traceparent': { args: [], path: 'connection.traceparent' },
  '--no-traceparent': { args: [], path: 'connection.traceparent' },
  '--resolve': {
    args: ['moderation.test:80:127.0.0.1', '--base-url', 'http://moderation.test'],
    path: 'connection.resolve.0',
  },
  '--unix-socket': { args: ['service.sock'], path: 'connection.unixSocket' },
  '--ca': { args: ['ca.pem'], path: 'connection.tls.caFile' },
  '--system-ca': { args: [], path: 'connection.tls.systemAuthorities' },
  '--no-system-ca': { args: [], path: 'connection.tls.systemAuthorities' },
  '--client-cert': { args: ['c.pem', '--client-key', 'k.pem'], path: 'connection.tls.certFile' },
  '--client-key': { args: ['k.pem', '--client-cert', 'c.pem'], path: 'connection.tls.keyFile' },
  '--proxy': { args: ['http://proxy.test:3128'], path: 'connection.proxy.url' },
  '--no-proxy': { args: [], path: 'connection.systemProxy' },
  '--system-proxy': { args: [], path: 'connection.systemProxy' },
  '--proxy-credentials-env': {
    args: ['PROXY_USER', '--proxy', 'http://proxy.test:3128'],
    path: 'connection.proxy.credentialsEnv',
  },
  '--format': { args: ['jsonl'], path: 'source.format' },
  '--sheet': { args: ['Posts'], path: 'source.sheet' },
  '--rows': { args: ['visible'], path: 'source.rows' },
  '--merged': { args: ['fill'], path: 'source.merged' },
  '--no-header': { args: [], path: 'source.header' },
  '--header-row': { args: ['3'], path: 'source.headerRow' },
  '--encoding': { args: ['windows-1252'], path: 'source.encoding' },
  '--delimiter': { args: [';'], path: 'source.delimiter' },
  '--quote': { args: ["'"], path: 'source.quote' },
  '--escape': { args: ['\\'], path: 'source.escape' },
  '--media-template': { args: ['https://media.test/{{path}}'], path: 'source.media.template' },
  '--media-host': { args: [], path: 'source.media.kind' },
  '--media-url': { args: ['https://media.test'], path: 'source.media.url' },
  '--mapping': { args: ['kept OPERATION'], path: 'mapping.FIELD.template' },
  '--map': { args: ['FIELD=2'], path: 'mapping.FIELD.column' },
  '--set': { args: ['FIELD=x{{row}}'], path: 'mapping.FIELD.template' },
  '--callback-host': { args: ['0.0.0.0'], path: 'callback.host' },
  '--callback-port': { args: ['4099'], path: 'callback.port' },
  '--callback-max-size': { args: ['1MB'], path: 'callback.maxBytes' },
  '--callback-url': { args: ['https://hooks.test'], path: 'callback.url' },
  '--skip-callback-test': { args: [], path: 'callback.skipTest' },
  '--callback-timeout': { args: ['2h'], path: 'callback.timeoutMs' },
  '--only-new': { args: ['--new-by', 'text_data'], path: 'onlyNew.by.0' },
  '--new-by': { args: ['text_data', '--only-new'], path: 'onlyNew.by.0' },
  '--concurrency': { args: ['9'], path: 'pace.concurrency' },
  '--rate': { args: ['7'], path: 'pace.ratePerSecond' },
  '--retries': { args: ['8'], path: 'retry.limit' },
  '--stop-at-errors': { args: ['60%'], path: 'stop.errorPercent' },
  '--stop-after-rows': { args: ['9'], path: 'stop.afterRows' },
  '--name': { args: ['Ninth'], path: 'name' },
  '--async': { args: [], path: 'operation.mode' },
  '--api': { args: ['v2'], path: 'operation.api' },
  '--model': { args: ['text'], path: 'operation.models.0' },
  '--legacy': { args: [], path: 'operation.legacy' },
  '--index': { args: ['other'], path: 'operation.indexId' },
  '--watchlist': { args: ['other'], path: 'operation.watchlist' },
  '--terms-per-request': { args: ['7'], path: 'operation.termsPerRequest' },
  '--empty-notes': { args: ['clear'], path: 'operation.emptyNotes' },
}

interface LoadExample {
  args: string[]
  path: string
  /** What goes with it, in place of what every other load has. */
  needed?: string[]
}

const CLOSED = ['--concurrency', '3', '--duration', '5s']

/** The same of options that only `load` has, or that mean another part of the plan there. */
const LOAD_EXAMPLES: Readonly<Record<string, LoadExample>> = {
  '--rate': { args: ['7'], path: 'load.pace.ratePerSecond' },
  '--concurrency': { args: ['9'], path: 'load.pace.concurrency', needed: ['--duration', '5s'] },
  '--stages': { args: ['concurrency:1..5@1m30s'], path: 'load.pace.stages.0.durationMs', needed: [] },
  '--duration': { args: ['9s'], path: 'load.durationMs' },
  '--requests': { args: ['900'], path: 'load.requests', needed: ['--rate', '50'] },
  '--once': { args: [], path: 'load.requests' },
  '--warmup': { args: ['2s'], path: 'load.warmupMs' },
  '--first-request': { args: ['skip'], path: 'load.firstRequest' },
  '--graceful-stop': { args: ['0s'], path: 'load.gracefulStopMs' },
  '--max-in-flight': { args: ['8'], path: 'load.maxInFlight' },
  '--when-full': { args: ['drop'], path: 'load.whenFull' },
  '--think-time': { args: ['0.5s-2s'], path: 'load.thinkTime.maxMs', needed: CLOSED },
  '--order': { args: ['shuffled'], path: 'load.order' },
  '--seed': { args: ['7', '--order', 'shuffled'], path: 'load.seed' },
  '--weight': { args: ['text_data', '--order', 'random'], path: 'load.weight' },
  '--threshold': { args: ['p(99)<500 abortOnFail'], path: 'load.thresholds.0.expression' },
  '--abort-on-fail': { args: ['--threshold', 'rate<0.5'], path: 'load.thresholds.0.abortOnFail' },
  '--http': { args: ['2', '--base-url', 'https://127.0.0.1:1'], path: 'load.httpVersion' },
  '--http2-connections': {
    args: ['2', '--http', '2', '--base-url', 'https://127.0.0.1:1'],
    path: 'load.http2Connections',
  },
  '--workers': { args: ['2'], path: 'load.workers' },
  '--sample': { args: ['0'], path: 'load.sampleSize' },
  '--error-limit': { args: ['5'], path: 'load.errorLimit' },
}

/** What a command cannot do without, and a field that it has. */
const NEEDED: Readonly<Record<string, { args: string[]; field: string }>> = {
  task: { args: [], field: 'text_data' },
  'index add': { args: ['--index', 'i1'], field: 'url' },
  'index remove': { args: ['--index', 'i1'], field: 'custom_index_item_id' },
  'watchlist add': { args: ['--watchlist', 'w1'], field: 'term' },
  'watchlist update': { args: ['--watchlist', 'w1'], field: 'notes' },
  appeal: { args: [], field: 'appeal_id' },
  load: { args: ['--rate', '50', '--duration', '5s'], field: 'text_data' },
}

function listSendingCommands(
  command: Command,
  path: string[] = [],
): { path: string; options: readonly Option[] }[] {
  const own = command.options.some(({ long }) => long === '--save-plan')
  return [
    ...(own ? [{ path: path.join(' '), options: command.options }] : []),
    ...command.commands.flatMap((child) => listSendingCommands(child, [...path, child.name()])),
  ]
}

const SENDING = listSendingCommands(await createProgram(createCliContext(), COMMAND_NAMES))

/** Kinds of operations that are not called as the command. */
const KINDS: Readonly<Record<string, string>> = { load: 'task', appeal: 'appeal-status' }

/** Saves a mapping of the one field, for the operation of a command. */
function saveMapping(workspace: string, name: string, path: string, field: string): void {
  const operation = operationKindSchema.parse(KINDS[path] ?? path.replace(' ', '-'))
  changeSavedMappings(workspace, (known) => [
    ...known,
    { name, operation, mapping: { [field]: { kind: 'template', template: 'y{{row}}' } } },
  ])
}

function readPath(value: unknown, path: string): unknown {
  let found = value
  for (const key of path.split('.')) found = (found as Record<string, unknown> | undefined)?.[key]
  return found
}

/**
 * A workspace whose connections are marked as production, so that nothing is ever sent without being asked
 * for.
 */
async function createWorkspace(): Promise<{
  folder: string
  savePlan(args: readonly string[]): Promise<unknown>
}> {
  const folder = createTemporaryFolder()
  const env = { SLUICE_API_KEY: 'some-key', ANOTHER_KEY: 'another-key' }
  for (const name of ['first', 'other']) {
    const args = [
      'connection',
      'add',
      name,
      '--base-url',
      'http://127.0.0.1:1',
      '--production',
      '--api-key-env',
      'K',
    ]
    expect((await runInProcess(args, { workspace: folder, env })).code).toBe(0)
  }
  const file = join(folder, 'plan.json')
  const savePlan = async (args: readonly string[]) => {
    const result = await runInProcess([...args, '--save-plan', file], { workspace: folder, env })
    expect(result.stderr).toMatch(/is marked as production/)
    expect(result.code).toBe(2)
    return JSON.parse(readFileSync(file, 'utf8'))
  }
  return { folder, savePlan }
}

describe('a saved plan', () => {
  it('can be written by every sending command, all of whose options are tested here', () => {
    expect(SENDING.map(({ path }) => path)).toEqual(Object.keys(NEEDED))
    const names = new Set(SENDING.flatMap(({ options }) => options.map(({ long }) => long ?? '')))
    expect([...names].filter((name) => !RUN_TIME.has(name)).sort()).toEqual(
      [...new Set([...Object.keys(EXAMPLES), ...Object.keys(LOAD_EXAMPLES)])].sort(),
    )
  })

  it.each(firstOf(3, SENDING))('holds every option of $path', async ({ path, options }) => {
    const { folder, savePlan } = await createWorkspace()
    const { args: needed = [], field = '' } = NEEDED[path] ?? {}
    const kept = `kept ${path}`
    saveMapping(folder, kept, path, field)
    const command = [...path.split(' '), join(folder, 'rows.csv')]
    const plain = await savePlan([...command, ...needed])
    for (const { long, hidden } of options) {
      const name = long ?? ''
      // What is hidden is refused, and says why.
      if (RUN_TIME.has(name) || hidden) continue
      const example: LoadExample | undefined =
        (path === 'load' ? LOAD_EXAMPLES[name] : undefined) ?? EXAMPLES[name]
      const args = [name, ...(example?.args ?? [])].map((arg) =>
        arg.replace('FIELD', field).replace('kept OPERATION', kept),
      )
      const where = example?.path.replace('FIELD', field) ?? ''
      const named = name === '--connection' ? [] : ['--connection', 'first']
      // An option of one value is refused if it is given twice.
      const at = needed.indexOf(name)
      const others = at === -1 ? needed : needed.toSpliced(at, 2)
      const plan = await savePlan([...command, ...(example?.needed ?? others), ...named, ...args])
      expect(readPath(plan, where), `${path} ${args.join(' ')}`).not.toEqual(undefined)
      expect(readPath(plan, where), `${path} ${args.join(' ')}`).not.toEqual(readPath(plain, where))
      expect(parsePlanFile(plan)).toMatchObject({ kind: 'plan' })
      expect(JSON.stringify(plan)).not.toMatch(/some-key|another-key/)
    }
  })

  it('whose source is missing says that relative paths start at the plan', async () => {
    const { folder, savePlan } = await createWorkspace()
    await savePlan(['task', join(folder, 'posts.csv')])
    mkdirSync(join(folder, 'elsewhere'))
    const moved = join(folder, 'elsewhere', 'plan.json')
    writeFileSync(
      moved,
      JSON.stringify({
        version: 1,
        source: { path: 'gone.csv' },
        operation: { kind: 'task' },
        connection: { baseUrl: 'http://localhost:1' },
      }),
    )
    const ran = await runInProcess(['plan', moved], { workspace: folder, env: {} })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(join(folder, 'elsewhere', 'gone.csv'))
    expect(ran.stderr).toMatch(/start at the\s+plan's\s+folder/)
  })

  it('is read back as it was, its paths relative to itself', async () => {
    const { folder, savePlan } = await createWorkspace()
    mkdirSync(join(folder, 'data'))
    const args = [
      'task',
      join(folder, 'data', 'posts.csv'),
      '--ca',
      join(folder, 'own.pem'),
      '--map',
      'url=2',
    ]
    const saved = await savePlan([...args, '--model', 'ocr', '--rate', '5', '--retries', '0'])
    expect(saved).toMatchObject({
      $schema: expect.stringMatching(/^file:\/\/\/.*docs\/plan\.schema\.json$/),
      version: 1,
      name: 'posts.csv',
      source: { path: 'data/posts.csv' },
      connection: { name: 'first', tls: { caFile: 'own.pem' } },
    })
    const plan = readPlanFile(join(folder, 'plan.json'), readConnections(folder))
    expect(plan.source.path).toBe(join(folder, 'data', 'posts.csv'))
    expect(plan.connection.tls?.caFile).toBe(join(folder, 'own.pem'))
    expect(plan).toMatchObject({
      mapping: { url: { kind: 'column', column: 2 } },
      operation: { kind: 'task', mode: 'sync', models: ['ocr'] },
      pace: { kind: 'open', ratePerSecond: 5, maxInFlight: 300 },
      retry: { limit: 0 },
    })
  })

  it('replaces a plan, and never any other file', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const args = ['task', source, '--base-url', 'http://127.0.0.1:1', '--save-plan', source]
    const result = await runInProcess(args, { workspace: folder, env: { SLUICE_API_KEY: 'k' } })
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('exists and is not a plan file')
    expect(readFileSync(source, 'utf8')).toBe(createRows(2))
    const nowhere = [...args.slice(0, -1), join(folder, 'missing', 'plan.json')]
    const unwritable = await runInProcess(nowhere, { workspace: folder, env: { SLUICE_API_KEY: 'k' } })
    expect(unwritable).toMatchObject({ code: 2, stdout: '' })
    expect(unwritable.stderr).toContain('cannot write')
  })
})

describe('plan', () => {
  it('runs a plan from anywhere as the command that wrote it would', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const env = { SLUICE_API_KEY: sandbox.key }
    writeSource(folder, 'posts.csv', createRows(5))
    const file = writeSource(
      folder,
      'plan.json',
      JSON.stringify({
        connection: { baseUrl: `${sandbox.baseUrl}/` },
        source: { path: 'posts.csv' },
        operation: { kind: 'task' },
      }),
    )
    const looked = await runInProcess(['plan', file, '--dry-run', '--json'], { workspace: folder, env })
    expect(looked).toMatchObject({ code: 0, stderr: '' })
    expect((await sandbox.stats()).requests).toBe(0)
    // On a busy machine, progress would be told.
    const ran = await runInProcess(['plan', file, '--trust-plan', '--json', '--quiet'], {
      workspace: folder,
      env,
    })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ran.stdout)).toMatchObject({
      name: 'posts.csv',
      base_url: sandbox.baseUrl,
      rows: { read: 5, succeeded: 5 },
    })
  })

  it('lists all problems of the file, one per line, with what was expected and found, and sends nothing', async () => {
    const folder = createTemporaryFolder()
    const file = writeSource(
      folder,
      'plan.json',
      JSON.stringify({
        connection: { baseUrl: 'http://127.0.0.1:1', timeoutMs: '30s' },
        source: { path: 'posts.csv', sheets: 1 },
        operation: { kind: 'task' },
      }),
    )
    const result = await runInProcess(['plan', file, '--json'], {
      workspace: folder,
      env: { SLUICE_API_KEY: 'k' },
    })
    expect(result.code).toBe(2)
    const lines = result.stderr.split('\n').map((line) => line.trim())
    expect(lines[0]).toBe(`sluice: ${file} has 2 problems; nothing was sent`)
    expect(lines[1]).toBe('connection.timeoutMs: expected a whole number from 1 to 3600000, found "30s"')
    expect(lines[2]).toBe('source.sheets: unknown key; did you mean sheet?')
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'BAD_PLAN' } })
  })

  it('names parts that do not go together by their path', async () => {
    const folder = createTemporaryFolder()
    const plan = {
      connection: { baseUrl: 'http://127.0.0.1:1' },
      source: { path: 'posts.csv' },
      operation: { kind: 'task', api: 'v2', legacy: true },
      mapping: { text_date: { kind: 'column', column: 1 } },
    }
    const file = writeSource(folder, 'plan.json', JSON.stringify(plan))
    const { stderr } = await runInProcess(['plan', file], { workspace: folder })
    expect(stderr).toMatch(/mapping\.text_date: .*did you mean text_data\?/)
    expect(stderr).toMatch(/operation\.legacy: the legacy answer exists in v1 only/)
  })

  it.each([
    ['that does not exist', null, /plan .* does not exist/],
    [
      'that is not valid JSON',
      `{\n  "connection": {}\n  "source": {}\n${' '.repeat(80)}}`,
      /is not valid JSON: .*line 3/,
    ],
    ['that is a list', '[]', /expected an object, found a list/],
    [
      'whose connection is not stored',
      '{"connection":{"name":"prod"},"source":{"path":"x"},"operation":{"kind":"task"}}',
      /connection `prod` does not exist/,
    ],
  ])('refuses a file %s', async (_what, text, message) => {
    const folder = createTemporaryFolder()
    const file = join(folder, 'plan.json')
    if (text !== null) writeFileSync(file, text)
    const result = await runInProcess(['plan', file], { workspace: folder })
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toMatch(message)
  })

  it('takes what its connection leaves out from the stored connection that it names', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    writeSource(folder, 'posts.csv', createRows(2))
    const add = ['connection', 'add', 'live', '--base-url', sandbox.baseUrl, '--key', 'main=LIVE_KEY']
    await runInProcess(add, { workspace: folder })
    const plan = { connection: { name: 'live' }, source: { path: 'posts.csv' }, operation: { kind: 'task' } }
    const file = writeSource(folder, 'plan.json', JSON.stringify(plan))
    const result = await runInProcess(['plan', file, '--json'], {
      workspace: folder,
      env: { LIVE_KEY: sandbox.key },
    })
    expect(result.code).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ base_url: sandbox.baseUrl, rows: { succeeded: 2 } })
  })
})

describe('advice about options that say how a source is read', () => {
  it('says what to do instead for a plan file and for a run that is run again', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const source = writeSource(workspace, 'posts.csv', 'user_id,text_data\nu1,hello\n')
    const plan = join(workspace, 'posts.plan.json')
    const asked = ['task', source, '--base-url', sandbox.baseUrl, '--quiet']
    await sluice(...asked, '--save-plan', plan)
    await sluice(...asked)
    writeFileSync(source, Buffer.from('user_id,text_data\nu1,caf\xe9\n', 'latin1'))
    const uncertain = await sluice('plan', plan, '--trust-plan')
    expect(uncertain).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --encoding NAME') })
    expect(uncertain.stderr).toContain(
      '`plan` does not take --encoding: change the plan file, or write another one with --save-plan.',
    )
    writeFileSync(source, 'a,b\nu1,hello\n')
    const unmapped = await sluice('run-again', 'latest', '--json')
    expect(JSON.parse(unmapped.stdout).error.hint).toMatch(
      /--map user_id=COLUMN.* `run-again` does not take --map or --set: send the file by the command that sent/,
    )
    const task = await sluice(...asked)
    expect(task.stderr).toContain('--map user_id=COLUMN')
    expect(task.stderr).not.toContain('does not take')
  })

  it('says the same in the summary of a run, below its warnings', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const source = writeSource(workspace, 'posts.csv', 'user_id,text_data\nu1,hello\nu5, "hi"\n')
    const plan = join(workspace, 'posts.plan.json')
    const task = await sluice('task', source, '--base-url', sandbox.baseUrl, '--save-plan', plan)
    expect(task.stdout).toContain('pass --quote none')
    expect(task.stdout).not.toContain('does not take')
    const planned = await sluice('plan', plan, '--trust-plan')
    expect(planned.stdout.replaceAll(/\s+/g, ' ')).toContain(
      '`plan` does not take --quote: change the plan file, or write another one with --save-plan.',
    )
    const again = await sluice('run-again', 'latest')
    expect(again.stdout.replaceAll(/\s+/g, ' ')).toContain(
      '`run-again` does not take --quote: send the file by',
    )
  })

  it('takes no words of a cell for advice', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const source = writeSource(
      workspace,
      'posts.csv',
      'user_id,text_data\nu1,hello\nu;2 --map or --set,hello\n',
    )
    const plan = join(workspace, 'posts.plan.json')
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--save-plan', plan)
    for (const args of [[], ['--dry-run']]) {
      const { stdout } = await sluice('plan', plan, '--trust-plan', ...args)
      expect(stdout).toMatch(/found `.*--map/)
      expect(stdout).not.toContain('does not take')
    }
  })

  it('takes no name of a sheet for advice', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const asked: string[] = []
    const sluice = (...args: string[]) =>
      runInProcess(args, {
        ...{ workspace, env: { SLUICE_API_KEY: sandbox.key } },
        ask: (question) => asked.push(question) > 0,
      })
    const toRow = (...cells: readonly string[]) =>
      `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`
    const sheet = (name: string, id: string) => {
      return { name, rows: toRow('user_id', 'text_data') + toRow(id, 'hello') }
    }
    const sheets = [sheet('Posts', 'u1'), sheet('--quote none', 'u2')]
    const source = writeSource(workspace, 'posts.xlsx', await createWorkbook({ sheets }))
    const plan = join(workspace, 'posts.plan.json')
    const accept = ['--accept', 'content_cut']
    await sluice('task', source, '--base-url', sandbox.baseUrl, '--sheet', 'Posts', '--save-plan', plan)
    const planned = JSON.parse(readFileSync(plan, 'utf8'))
    delete planned.source.sheet
    writeFileSync(plan, JSON.stringify(planned))
    for (const args of [['--dry-run'], accept, []]) {
      const { stdout, stderr } = await sluice('plan', plan, '--trust-plan', ...args)
      const said = `${stdout}${stderr}`.replaceAll(/\s+/g, ' ')
      expect(said).toContain('--quote none')
      expect(said).toContain('`plan` does not take --sheet: change the plan file')
    }
    writeFileSync(plan, JSON.stringify({ ...planned, source: { ...planned.source, sheet: 'Gone' } }))
    const { stderr } = await sluice('plan', plan, '--trust-plan')
    expect(stderr).toContain('--quote none')
    expect(stderr).not.toContain('does not take')
  })

  it('says the same below warnings, before the rows are sent and in a dry run', async () => {
    const workspace = createTemporaryFolder()
    const sandbox = await withSandbox()
    const questions: string[] = []
    const sluice = (...args: string[]) =>
      runInProcess(args, {
        ...{ workspace, env: { SLUICE_API_KEY: sandbox.key } },
        ask: (question) => {
          questions.push(question)
          return question.includes('Trust')
        },
      })
    const texts = [
      'see you all tomorrow in town',
      'that was not so nice of you',
      'who says such things here now',
    ]
    const rows = texts.map((text, at) => `u${at},hello,${text}\n`)
    const source = writeSource(
      workspace,
      'posts.csv',
      `user_id,text_data,Column 3\n${rows.join('')}u5, "hi",\n`,
    )
    const plan = join(workspace, 'posts.plan.json')
    const asked = ['task', source, '--base-url', sandbox.baseUrl, '--dry-run']
    const task = await sluice(...asked, '--save-plan', plan)
    expect(task.stdout).toContain('pass --quote none')
    expect(task.stdout).not.toContain('does not take')
    const instead = 'change the plan file, or write another one with --save-plan.'
    const dry = await sluice('plan', plan, '--dry-run')
    expect(dry.stdout).toContain(`\`plan\` does not take --quote or --map: ${instead}`)
    const declined = await sluice('plan', plan)
    expect(declined.stderr).toContain(`\`plan\` does not take --map: ${instead}`)
    expect(questions.at(-1)).toMatch(/^Send 3 rows as read/)
  })
})
