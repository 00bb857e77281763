import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { toRunId } from '../../../src/main/engine/workspace/workspace-files.ts'
import { createRows } from '../../main/cli/write-source.ts'
import { startCallbackService } from '../callback-service.ts'
import { takeFoundBack } from '../older-journal.ts'
import { startRecordingService } from '../recording-service.ts'
import type { Fault } from './fault-plan.ts'
import { type FaultyCommands, type FaultyResult, startFaultyCommands } from './faulty-commands.ts'

/** Rows of each run. */
const ROWS = 20

/** The result of a command during which a call failed, and its mistakes. */
interface FaultyRun extends FaultyResult {
  mistakes: string[]
}

/** The commands to run while one of their file calls fails. */
export const SCENARIO_NAMES = [
  'task',
  'callbacks',
  'export',
  'older',
  'verdict',
  'note',
  'baseline',
  'connection',
] as const

/** One of {@link SCENARIO_NAMES}. */
export type ScenarioName = (typeof SCENARIO_NAMES)[number]

/** The scenarios, with one service and one process of the command line. */
export interface Scenarios {
  /** Runs a scenario in a fresh workspace. */
  run(name: ScenarioName, fault: Fault): Promise<FaultyRun>
  close(): Promise<void>
}

/** Opens them in an empty folder. */
export async function openScenarios(root: string): Promise<Scenarios> {
  const commands = startFaultyCommands(root)
  const service = await startRecordingService()
  const world = createWorld(commands)
  const finished = join(commands.folder, 'finished')
  const first = await world.sluice(finished, toTask(world, service.baseUrl))
  if (first.code !== 0) throw new Error(`no run to begin with: ${first.stderr}`)
  let count = 0
  return {
    async run(name, fault) {
      count += 1
      const workspace = join(commands.folder, `${name}-${count}`)
      if (name === 'task') {
        service.arrived.clear()
        return runTask(world, workspace, fault, { ...service, options: [] })
      }
      if (name === 'callbacks') {
        const { baseUrl, taken } = await startCallbackService(() => ({}))
        return runTask(world, workspace, fault, { baseUrl, arrived: taken, options: ASYNC })
      }
      cpSync(finished, workspace, { recursive: true })
      if (name === 'export') return runExport(world, workspace, fault)
      if (name === 'older') return runOlder(world, workspace, fault)
      return runChange(world, workspace, fault, CHANGES[name])
    },
    async close() {
      commands.close()
      await service.close()
    },
  }
}

interface World {
  source: string
  /** Runs a command, and checks what holds for every command. */
  sluice(workspace: string, args: readonly string[], fault?: Fault): Promise<FaultyRun>
}

function createWorld(commands: FaultyCommands): World {
  const source = join(commands.folder, '../posts.csv')
  writeFileSync(source, createRows(ROWS))
  return {
    source,
    async sluice(workspace, args, fault) {
      const result = await commands.run(args, {
        workspace,
        fault: fault ?? null,
        env: { SLUICE_API_KEY: 'key' },
      })
      return { ...result, mistakes: listMistakes(result) }
    },
  }
}

const toTask = ({ source }: World, baseUrl: string) => [
  'task',
  source,
  '--base-url',
  baseUrl,
  '--json',
  '--quiet',
]

const ASYNC = ['--async', '--callback-host', '127.0.0.1', '--callback-timeout', '2s']

/** Output and exit codes that no command may have, whatever failed. */
function listMistakes({ code, stdout, stderr }: FaultyResult): string[] {
  return [
    ...(/bug in Sluice|unexpected error/.test(stderr + stdout)
      ? ['an expected failure is called a bug']
      : []),
    ...(code === 0 || /^sluice: /m.test(stderr) || code === 1
      ? []
      : [`exited with ${code} without a reason`]),
    ...(/\n\s+at .+:\d+:\d+/.test(stderr) ? ['a stack trace is shown'] : []),
  ]
}

async function runTask(
  world: World,
  workspace: string,
  fault: Fault,
  {
    baseUrl,
    arrived,
    options,
  }: { baseUrl: string; arrived: Map<string, number>; options: readonly string[] },
): Promise<FaultyRun> {
  const result = await world.sluice(workspace, [...toTask(world, baseUrl), ...options], fault)
  const { code, stderr, mistakes } = result
  const sent = arrived.size
  if (code === 2 && sent > 0) mistakes.push(`exited with 2 after ${sent} rows were sent`)
  if (code === 0 && sent < ROWS) mistakes.push('exited with 0 without sending every row')
  const listed = await world.sluice(workspace, ['runs', '--json'])
  if (listed.code !== 0) mistakes.push(`runs exited with ${listed.code}: ${listed.stderr}`)
  const runs = listed.code === 0 ? (JSON.parse(listed.stdout) as unknown[]) : []
  if (runs.length === 0) {
    if (sent > 0) mistakes.push(`${sent} rows were sent by a run that is gone`)
    if (/\bresume\b/.test(stderr)) mistakes.push('it says to resume a run that does not exist')
    return result
  }
  const resumed = await world.sluice(workspace, ['resume', 'latest', '--on-unknown', 'skip', '--json'])
  mistakes.push(...resumed.mistakes)
  if (resumed.code !== 0 && resumed.code !== 1) {
    mistakes.push(`resume exited with ${resumed.code}: ${resumed.stderr}`)
    return result
  }
  const { state, rows } = JSON.parse(resumed.stdout) as { state: string; rows: Record<string, number> }
  const settled = (rows['succeeded'] ?? 0) + (rows['unknown'] ?? 0)
  if (state !== 'completed' || rows['read'] !== ROWS || settled !== ROWS) {
    mistakes.push(`after the resume: ${state}, ${JSON.stringify(rows)}`)
  }
  const twice = [...arrived].filter(([, times]) => times > 1)
  if (twice.length > 0) mistakes.push(`sent twice: ${twice.map(([postId]) => postId).join(', ')}`)
  if (arrived.size + (rows['unknown'] ?? 0) < ROWS) mistakes.push('rows were lost')
  return result
}

const BEFORE = 'what was there before\n'

async function runExport(world: World, workspace: string, fault: Fault): Promise<FaultyRun> {
  const file = join(workspace, '..', `${workspace.split('/').at(-1)}.csv`)
  writeFileSync(file, BEFORE)
  const result = await world.sluice(workspace, ['export', 'latest', file, '--overwrite'], fault)
  const { code, mistakes } = result
  const content = readFileSync(file, 'utf8')
  const isWhole = content.split('\n').length === ROWS + 2
  if (code === 0 && !isWhole) mistakes.push('exited with 0 without an export')
  if (content !== BEFORE && !isWhole) mistakes.push('the export is cut off')
  const left = readdirSync(join(workspace, '..')).filter((name) => name.endsWith('.part'))
  if (left.length > 0) mistakes.push(`left behind: ${left.join(', ')}`)
  const again = await world.sluice(workspace, ['export', 'latest', file, '--overwrite'])
  if (again.code !== 0) mistakes.push(`the export afterwards exited with ${again.code}: ${again.stderr}`)
  return result
}

/** Shows a run whose journal is one version older, which upgrades it. */
async function runOlder(world: World, workspace: string, fault: Fault): Promise<FaultyRun> {
  const [name = ''] = readdirSync(join(workspace, 'runs')).filter((file) => file.endsWith('.journal'))
  const db = new DatabaseSync(join(workspace, 'runs', name))
  takeFoundBack(db)
  db.close()
  const runId = toRunId(name)
  const result = await world.sluice(workspace, ['show', runId], fault)
  const again = await world.sluice(workspace, ['show', runId, '--json'])
  const shown = again.code === 0 ? JSON.parse(again.stdout) : null
  if (shown?.rows.succeeded !== ROWS) result.mistakes.push(`afterwards: ${again.code} ${again.stderr}`)
  return result
}

/** A command that changes a small file of the workspace, one that wrote it before, and one that shows it. */
interface Change {
  first: readonly string[]
  change: readonly string[]
  show: readonly string[]
}

const ADDRESS = ['--base-url', 'http://127.0.0.1:9', '--api-key-env', 'SLUICE_API_KEY']

const CHANGES: Record<'verdict' | 'note' | 'baseline' | 'connection', Change> = {
  verdict: {
    first: ['verdict', 'latest', '2', 'agree'],
    change: ['verdict', 'latest', '3', 'unsure'],
    show: ['verdict', 'latest', '--json'],
  },
  note: {
    first: ['runs', 'edit', 'latest', '--note', 'first'],
    change: ['runs', 'edit', 'latest', '--note', 'second'],
    show: ['runs', '--json'],
  },
  baseline: {
    first: ['baseline', 'set', 'latest'],
    change: ['baseline', 'set', 'latest', '--name', 'other'],
    show: ['baseline', 'list', '--json'],
  },
  connection: {
    first: ['connection', 'add', 'first', ...ADDRESS],
    change: ['connection', 'add', 'second', ...ADDRESS],
    show: ['connection', 'list', '--json'],
  },
}

async function runChange(
  world: World,
  workspace: string,
  fault: Fault,
  { first, change, show }: Change,
): Promise<FaultyRun> {
  const prepared = await world.sluice(workspace, first)
  if (prepared.code !== 0) throw new Error(`${first.join(' ')}: ${prepared.stderr}`)
  const read = async () => {
    const { code, stdout, stderr } = await world.sluice(workspace, show)
    return code === 0 ? stdout : `cannot be read: ${stderr}`
  }
  const before = await read()
  const result = await world.sluice(workspace, change, fault)
  const { code, stderr, mistakes } = result
  const after = await read()
  if (code !== 0 && after !== before) mistakes.push(`exited with ${code}, and changed something: ${after}`)
  if (code === 0 && after === before) mistakes.push('exited with 0, and changed nothing')
  if (/\b(delete|remove|repair|correct|move)\b/i.test(stderr)) {
    mistakes.push('it says to remove or repair a file that is whole')
  }
  if (code === 0) return result
  const again = await world.sluice(workspace, change)
  if (again.code !== 0) mistakes.push(`afterwards: ${again.code} ${again.stderr}`)
  return result
}
