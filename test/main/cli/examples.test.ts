import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { COMMAND_PREFIX } from '../../../src/main/cli/invocation.ts'
import { COMMAND_NAMES, createProgram } from '../../../src/main/cli/program.ts'
import { createSandbox } from '../../../src/main/sandbox/sandbox.ts'
import { DEFAULT_SANDBOX_KEY } from '../../../src/main/sandbox/sandbox-options.ts'
import { EXIT } from '../../../src/shared/messages/error-entry.ts'
import { createMemoryKeyring } from '../../helpers/memory-keyring.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { openTestFolder } from '../../helpers/test-folder.ts'
import { createKeptContext, runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { writeSource } from './write-source.ts'

/** The run that examples name by the beginning of its id. */
const EARLIER_RUN = '20261121-0915'

const K6_SAMPLES = fileURLToPath(new URL('../../fixtures/k6/v2/plain-lines.k6', import.meta.url))
const K6_SUMMARY = fileURLToPath(new URL('../../fixtures/k6/v2/summary-export.k6', import.meta.url))

/** Commands that act on their own although they have subcommands. */
const ACTING_PARENTS = ['receiver', 'runs']

/** Every command that acts on its own, such as `connection add`. */
function listCommands(parent: Command, path: readonly string[] = []): string[][] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()]
    const inner = listCommands(command, own)
    return inner.length === 0 || ACTING_PARENTS.includes(command.name()) ? [own, ...inner] : inner
  })
}

/** The arguments of a command line as a shell passes them. */
function splitArguments(line: string): string[] {
  return Array.from(line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g), ([word]) => word.replaceAll(/['"]/g, ''))
}

async function readExamples(path: readonly string[]): Promise<string[][]> {
  const { stdout } = await runInProcess([...path, '--help'], { workspace: createTemporaryFolder() })
  const [, examples = ''] = stdout.split('\nExamples:\n')
  return examples
    .split('\n')
    .filter((line) => line.startsWith(`  ${COMMAND_PREFIX} `))
    .map((line) => splitArguments(line.slice(COMMAND_PREFIX.length + 3)))
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Prerequisites of examples. */
interface Needs {
  connections: boolean
  plan: boolean
  export: boolean
  ledgers: boolean
  earlierRun: boolean
  /** Whether the earlier run has row results; a load test has none. */
  earlierRows: boolean
  latestRun: boolean
  baselines: boolean
  runAfterBaselines: boolean
  savedMappings: boolean
  /** Whether the source is looked up by the path that the run was sent from. */
  sourcePath: boolean
}

function findNeeds(examples: readonly string[][]): Needs {
  const words = new Set(examples.flat())
  return {
    connections: examples[0]?.join(' ').startsWith('connection add') !== true,
    plan: words.has('posts.plan.json') && !words.has('--save-plan'),
    export: words.has('added.csv'),
    ledgers: words.has('ledger') || words.has('--recheck'),
    earlierRun: words.has(EARLIER_RUN),
    earlierRows: words.has('sql'),
    latestRun: words.has('latest') || words.has('trend') || words.has('forum'),
    baselines: words.has('remove') || words.has('--against-baseline'),
    savedMappings: words.has('forum') && !words.has('save'),
    runAfterBaselines: words.has('--against-baseline'),
    sourcePath: words.has('trend'),
  }
}

// One service for all, and one folder with shared prerequisites, which each example gets a copy of.
const sandbox = await createSandbox({ latency: '0ms' })
afterAll(() => sandbox.close())
const models = openTestFolder()
const modelsByNeeds = new Map<string, Promise<Model>>()

interface Model {
  folder: string
  /** Id of the run that stands for the earlier one. */
  earlier: string
}

function toRun(folder: string) {
  const env = {
    SLUICE_API_KEY: DEFAULT_SANDBOX_KEY,
    // Relative paths start where npm was called.
    npm_lifecycle_event: 'sluice',
    INIT_CWD: folder,
    LIVE_KEY: DEFAULT_SANDBOX_KEY,
    SECOND_KEY: DEFAULT_SANDBOX_KEY,
  }
  const answers = { ask: () => true, askWord: () => '', askSecret: () => DEFAULT_SANDBOX_KEY }
  const lastingKeys = createMemoryKeyring()
  const run = (args: readonly string[]) =>
    runInProcess(args, { workspace: folder, env, lastingKeys, ...answers })
  return { env, run }
}

/**
 * Creates a folder, also used as the workspace, with everything that examples with these prerequisites name.
 */
async function createModel(needs: Needs): Promise<Model> {
  const folder = join(models, String(modelsByNeeds.size))
  mkdirSync(folder)
  const { run } = toRun(folder)
  const posts = Array.from(
    { length: 20 },
    (_, index) => `post ${index + 1},u${index},${index % 4 === 0 ? 'spam' : 'ham'}`,
  )
  writeSource(folder, 'posts.csv', `message,author,truth\n${posts.join('\n')}\n`)
  writeSource(folder, 'appeals.csv', 'appeal_id,Case number\nappeal-1,appeal-2\n')
  writeSource(folder, 'images.csv', 'url,source\nhttps://media.example.com/1.png,upload\n')
  writeSource(folder, 'terms.csv', 'term,word,notes\npremium rate,premium rate,\ngift card,gift card,scam\n')
  copyFileSync(K6_SUMMARY, join(folder, 'summary.json'))
  const samples = readFileSync(K6_SAMPLES, 'utf8').trimEnd().split('\n')
  for (const machine of [1, 2]) {
    const own = samples.filter((line, at) => line.includes('"type":"Metric"') || at % 2 === machine - 1)
    writeFileSync(join(folder, `machine-${machine}.json`), `${own.join('\n')}\n`)
  }
  const mapping = ['--map', 'text_data=message', '--set', 'user_id=import']
  const base = ['--base-url', sandbox.baseUrl]
  if (needs.connections) {
    for (const name of ['live', 'staging']) await run(['connection', 'add', name, ...base])
    await run(['connection', 'use', 'staging'])
  }
  if (needs.plan) {
    await run(['task', 'posts.csv', ...mapping, ...base, '--dry-run', '--save-plan', 'posts.plan.json'])
  }
  if (needs.export) {
    await run(['index', 'add', 'images.csv', '--index', 'sandbox-index', ...base])
    await run(['export', 'latest', 'added.csv'])
  }
  if (needs.ledgers) {
    await run(['index', 'add', 'images.csv', '--index', 'sandbox-index', ...base])
    await run(['watchlist', 'add', 'terms.csv', '--watchlist', 'sandbox_terms', ...base])
    await run(['appeal', 'appeals.csv', ...base])
  }
  let earlier = EARLIER_RUN
  if (needs.earlierRun) {
    const sent = needs.earlierRows ? ['task'] : ['load', '--concurrency', '1', '--requests', '20']
    const { stdout } = await run([...sent, 'posts.csv', ...mapping, ...base, '--json'])
    earlier = JSON.parse(stdout).run_id
  }
  if (needs.latestRun) await run(['task', 'posts.csv', ...mapping, ...base])
  if (needs.sourcePath) {
    copyFileSync(join(folder, 'posts.csv'), join(folder, 'posts-2026-w01.csv'))
    await run(['task', 'posts-2026-w01.csv', ...mapping, ...base])
    await run(['runs', 'edit', 'latest', '--tag', 'weekly'])
  }
  if (needs.savedMappings) {
    for (const name of ['forum', 'board']) await run(['mapping', 'save', name, 'latest'])
  }
  if (needs.baselines) {
    await run(['baseline', 'set', 'latest'])
    await run(['baseline', 'set', earlier, '--name', 'release-4'])
  }
  if (needs.runAfterBaselines) await run(['task', 'posts.csv', ...mapping, ...base])
  return { folder, earlier }
}

/** A separate folder for a test, with a service that accepts the requests of its examples. */
async function prepare(examples: readonly string[][]) {
  const needs = findNeeds(examples)
  const key = JSON.stringify(needs)
  const model = modelsByNeeds.get(key) ?? createModel(needs)
  modelsByNeeds.set(key, model)
  const { folder: modelFolder, earlier } = await model
  const folder = needs.sourcePath ? modelFolder : createTemporaryFolder()
  if (folder !== modelFolder) cpSync(modelFolder, folder, { recursive: true })
  const { env, run } = toRun(folder)
  const ports = new Map<string, string>()
  for (const port of ['4010', '4020', '4030']) ports.set(port, String(await findFreePort()))
  /** Replaces placeholders for the person's runs and ports by ones that exist here. */
  const toHere = (word: string) => (word === EARLIER_RUN ? earlier : (ports.get(word) ?? word))
  return { folder, env, run, toHere, receiverPort: ports.get('4030') ?? '0' }
}

const program = await createProgram(createCliContext(), COMMAND_NAMES)
const commands = listCommands(program).map((path) => path.join(' '))

/** Commands that run until Ctrl-C. */
const LASTING = ['receiver', 'open', 'sandbox']

/** The command that accepts these arguments, without running it; throws if none accepts them all. */
async function findTaker(args: readonly string[]): Promise<string | null> {
  const idle = await createProgram(createKeptContext().context, COMMAND_NAMES)
  let taker: string | null = null
  const stopAtAction = (parent: Command, path: readonly string[]) => {
    parent.exitOverride()
    for (const command of parent.commands) {
      const own = [...path, command.name()]
      command.action(() => {
        taker = own.join(' ')
      })
      stopAtAction(command, own)
    }
  }
  stopAtAction(idle, [])
  await idle.parseAsync([...args], { from: 'user' })
  return taker
}

describe('the examples in the help of', () => {
  it.each(commands)('%s are accepted by it, with every option', async (name) => {
    const examples = await readExamples(name.split(' '))
    expect(examples.length).toBeGreaterThanOrEqual(2)
    for (const example of examples) expect(await findTaker(example), example.join(' ')).toBe(name)
  })
})

describe.runIf(inject('isLong'))('the examples in the help of', () => {
  it.each(commands.filter((name) => ![...LASTING, 'receiver test', 'load'].includes(name)))(
    '%s work unchanged',
    async (name) => {
      const examples = await readExamples(name.split(' '))
      const { run, toHere } = await prepare(examples)
      for (const example of examples) {
        const { code, stderr } = await run(example.map(toHere))
        // A comparison or import here may cross a threshold, or be too short to judge, which is not the
        // example's fault.
        const isOver =
          (code === EXIT.thresholdCrossed || code === EXIT.notJudged) &&
          ['compare', 'import-k6'].includes(name)
        expect(isOver ? EXIT.ok : code, `${example.join(' ')}\n${stderr}`).toBe(EXIT.ok)
      }
    },
  )

  it('load describe load tests that can start', async () => {
    const examples = await readExamples(['load'])
    const { run } = await prepare(examples)
    for (const example of examples) {
      const mapping = ['--map', 'text_data=message', '--set', 'user_id=import']
      const result = await run([...example, ...mapping, '--dry-run'])
      expect(result, example.join(' ')).toMatchObject({ code: 0 })
    }
  })

  it.each(LASTING)('%s run until Ctrl-C', async (name) => {
    const examples = await readExamples([name])
    const { folder, env, toHere } = await prepare(examples)
    for (const example of examples) {
      const isBrowser = name === 'open' && !example.includes('--no-browser')
      const args = [...example.map(toHere), ...(isBrowser ? ['--no-browser'] : [])]
      const result = await spawnSluice(args, {
        workspace: folder,
        cwd: folder,
        env,
        // Only there are the screens found without being built.
        fromSources: name === 'open',
        onStdout: (_text, child) => child.kill('SIGINT'),
      })
      expect(result, example.join(' ')).toMatchObject({ code: 0 })
    }
  })

  it('receiver test reach the receiver through the public URL', async () => {
    const examples = await readExamples(['receiver', 'test'])
    const { run, toHere, receiverPort } = await prepare(examples)
    for (const example of examples) {
      const port = example.includes('--callback-port') ? [] : ['--callback-port', receiverPort]
      const local = example
        .map(toHere)
        .map((word) => word.replace('https://hooks.example.com/sluice', `http://127.0.0.1:${receiverPort}`))
      const result = await run([...local, ...port])
      expect(result, example.join(' ')).toMatchObject({ code: 0 })
    }
  })
})
