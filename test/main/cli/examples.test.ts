import { copyFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, inject, it } from 'vitest'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { COMMAND_PREFIX } from '../../../src/main/cli/invocation.ts'
import { COMMAND_NAMES, createProgram } from '../../../src/main/cli/program.ts'
import { EXIT } from '../../../src/shared/messages/error-entry.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { writeSource } from './write-source.ts'

/** The run that examples name by the beginning of its id. */
const EARLIER_RUN = '20261121-0915'

const K6_SAMPLES = fileURLToPath(new URL('../../fixtures/k6/v2/plain-lines.k6', import.meta.url))
const K6_SUMMARY = fileURLToPath(new URL('../../fixtures/k6/v2/summary-export.k6', import.meta.url))

/** Commands that do something by themselves although they have others below them. */
const ACTING_PARENTS = ['receiver', 'runs']

/** Every command that does something by itself, such as `connection add`. */
function listCommands(parent: Command, path: readonly string[] = []): string[][] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()]
    const inner = listCommands(command, own)
    return inner.length === 0 || ACTING_PARENTS.includes(command.name()) ? [own, ...inner] : inner
  })
}

/** The arguments of a command line as a shell passes them on. */
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

/** A folder and a workspace that hold what the examples name, and a service that takes what they send. */
async function prepare(examples: readonly string[][]) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ latency: '0ms' })
  const env = {
    SLUICE_API_KEY: sandbox.key,
    // Relative paths start where npm was called.
    npm_lifecycle_event: 'sluice',
    INIT_CWD: folder,
    LIVE_KEY: sandbox.key,
    SECOND_KEY: sandbox.key,
  }
  const run = (args: readonly string[]) =>
    runInProcess(args, { workspace: folder, env, ask: () => true, askWord: () => '' })
  const posts = Array.from(
    { length: 20 },
    (_, index) => `post ${index + 1},u${index},${index % 4 === 0 ? 'spam' : 'ham'}`,
  )
  writeSource(folder, 'posts.csv', `message,author,truth\n${posts.join('\n')}\n`)
  writeSource(folder, 'appeals.csv', 'appeal_id,Case number\nappeal-1,appeal-2\n')
  writeSource(folder, 'images.csv', 'url,source\nhttps://media.example.com/1.png,upload\n')
  writeSource(folder, 'terms.csv', 'term,word,notes\npremium rate,premium rate,\ngift card,gift card,scam\n')
  copyFileSync(K6_SUMMARY, join(folder, 'summary.json'))
  for (const name of ['machine-1.json', 'machine-2.json']) copyFileSync(K6_SAMPLES, join(folder, name))
  const words = new Set(examples.flat())
  const mapping = ['--map', 'text_data=message', '--set', 'user_id=import']
  const base = ['--base-url', sandbox.baseUrl]
  if (examples[0]?.join(' ').startsWith('connection add') !== true) {
    for (const name of ['live', 'staging']) await run(['connection', 'add', name, ...base])
    await run(['connection', 'use', 'staging'])
  }
  if (words.has('posts.plan.json') && !words.has('--save-plan')) {
    await run(['task', 'posts.csv', ...mapping, ...base, '--dry-run', '--save-plan', 'posts.plan.json'])
  }
  if (words.has('added.csv')) {
    await run(['index', 'add', 'images.csv', '--index', 'sandbox-index', ...base])
    await run(['export', 'latest', 'added.csv'])
  }
  if (words.has('ledger') || words.has('--recheck')) {
    await run(['index', 'add', 'images.csv', '--index', 'sandbox-index', ...base])
    await run(['watchlist', 'add', 'terms.csv', '--watchlist', 'sandbox_terms', ...base])
    await run(['appeal', 'appeals.csv', ...base])
  }
  let earlier = EARLIER_RUN
  if (words.has(EARLIER_RUN)) {
    const { stdout } = await run([
      'load',
      'posts.csv',
      ...mapping,
      ...base,
      '--concurrency',
      '1',
      '--requests',
      '20',
      '--json',
    ])
    earlier = JSON.parse(stdout).run_id
  }
  if (words.has('latest') || words.has('trend')) await run(['task', 'posts.csv', ...mapping, ...base])
  if (words.has('remove') || words.has('--against-baseline')) {
    await run(['baseline', 'set', 'latest'])
    await run(['baseline', 'set', earlier, '--name', 'release-4'])
  }
  if (words.has('--against-baseline')) await run(['task', 'posts.csv', ...mapping, ...base])
  const ports = new Map<string, string>()
  for (const port of ['4010', '4020', '4030']) ports.set(port, String(await findFreePort()))
  /** What stands for a run or a port of the person's is replaced by one that exists here. */
  const toHere = (word: string) => (word === EARLIER_RUN ? earlier : (ports.get(word) ?? word))
  return { folder, env, run, toHere, receiverPort: ports.get('4030') ?? '0' }
}

const program = await createProgram(createCliContext(), COMMAND_NAMES)
const commands = listCommands(program).map((path) => path.join(' '))

/** The first of the examples, or all of them in the long form. */
const choose = (examples: string[][]) => (inject('isLong') ? examples : examples.slice(0, 1))

/** Run until Ctrl-C. */
const LASTING = ['receiver', 'open', 'sandbox']

/** Their examples take long, and other tests run them too. */
const SLOW = ['demo', 'open']

/** The commands whose examples are tried: in the short form, the quick ones. */
const pick = (names: string[]) => (inject('isLong') ? names : names.filter((name) => !SLOW.includes(name)))

describe('the examples in the help of', () => {
  it.each(pick(commands.filter((name) => ![...LASTING, 'receiver test', 'load'].includes(name))))(
    '%s work as they are',
    async (name) => {
      const examples = await readExamples(name.split(' '))
      expect(examples.length).toBeGreaterThanOrEqual(2)
      const { run, toHere } = await prepare(choose(examples))
      for (const example of choose(examples)) {
        const { code, stderr } = await run(example.map(toHere))
        // What is compared or imported here may cross a threshold, which says nothing about the example.
        const isOver = code === EXIT.thresholdCrossed && ['compare', 'import-k6'].includes(name)
        expect(isOver ? EXIT.ok : code, `${example.join(' ')}\n${stderr}`).toBe(EXIT.ok)
      }
    },
  )

  it('load describe load tests that can start', async () => {
    const examples = await readExamples(['load'])
    expect(examples.length).toBeGreaterThanOrEqual(2)
    const { run } = await prepare(choose(examples))
    for (const example of choose(examples)) {
      const mapping = ['--map', 'text_data=message', '--set', 'user_id=import']
      const result = await run([...example, ...mapping, '--dry-run'])
      expect(result, example.join(' ')).toMatchObject({ code: 0 })
    }
  })

  it.each(pick(LASTING))('%s run until Ctrl-C', async (name) => {
    const examples = await readExamples([name])
    expect(examples.length).toBeGreaterThanOrEqual(2)
    const { folder, env, toHere } = await prepare(choose(examples))
    for (const example of choose(examples)) {
      const isBrowser = name === 'open' && !example.includes('--no-browser')
      const args = [...example.map(toHere), ...(isBrowser ? ['--no-browser'] : [])]
      const result = await spawnSluice(args, {
        workspace: folder,
        cwd: folder,
        env,
        // Only there are the screens found without a build of them.
        fromSources: name === 'open',
        onStdout: (_text, child) => child.kill('SIGINT'),
      })
      expect(result, example.join(' ')).toMatchObject({ code: 0 })
    }
  })

  it('receiver test reach the receiver through the public URL', async () => {
    const examples = await readExamples(['receiver', 'test'])
    expect(examples.length).toBeGreaterThanOrEqual(2)
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
