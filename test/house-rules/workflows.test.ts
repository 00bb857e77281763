import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { PROJECT_FOLDER } from './read-module.ts'

// Rules for every workflow, checked even if actionlint and zizmor (npm run lint:workflows) are not installed.

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}

interface Job {
  permissions?: Record<string, string> | 'read-all' | 'write-all'
  steps: Step[]
  'timeout-minutes'?: number
  env?: unknown
}

interface Workflow {
  permissions?: Record<string, string>
  concurrency?: { group?: string }
  env?: unknown
  jobs: Record<string, Job>
}

const FOLDER = join(PROJECT_FOLDER, '.github', 'workflows')
const files = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }))
const workflows = files.map(({ name, text }) => ({ name, workflow: parse(text) as Workflow }))
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ where: `${name} ${id}`, job })),
)
const steps = jobs.flatMap(({ where, job }) => job.steps.map((step) => ({ where, step })))

describe('workflows', () => {
  it('are those for checks, the packaged app, releases, publishing and the night', () => {
    expect(workflows.map(({ name }) => name)).toEqual([
      'ci.yml',
      'nightly.yml',
      'publish.yml',
      'release.yml',
      'smoke.yml',
    ])
  })

  it('pin every action to the hash of one version, the same everywhere', () => {
    const used = files.flatMap(({ text }) => text.split('\n').filter((line) => /\buses:/.test(line)))
    expect(used.length).toBeGreaterThan(10)
    const pins = used.map((line) => /uses: ([\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$/.exec(line))
    expect(used.filter((_line, index) => pins[index] === null)).toEqual([])
    const actions = new Set(pins.map((pin) => pin?.[1]))
    expect(new Set(pins.map((pin) => pin?.slice(1).join(' '))).size).toBe(actions.size)
  })

  const WRITERS = ['publish.yml npm', 'publish.yml image', 'release.yml draft']

  it('have no permissions by default, and write only to draft or publish a release', () => {
    expect(
      workflows.filter(({ workflow }) => Object.keys(workflow.permissions ?? { all: '' }).length > 0),
    ).toEqual([])
    const writers = jobs.filter(({ job }) => JSON.stringify(job.permissions ?? 'write-all').includes('write'))
    expect(writers.map(({ where }) => where)).toEqual(WRITERS)
  })

  it('run no code of the repository or of a package with write permission', () => {
    const writing = steps.filter(({ where }) => WRITERS.includes(where))
    expect(writing.filter(({ step }) => step.uses?.startsWith('actions/checkout@'))).toEqual([])
    const commands = writing.map(({ step }) => step.run ?? '').filter((run) => /\b(npm|npx|node)\b/.test(run))
    expect(commands).toEqual(['npm publish ./sluice-*.tgz --provenance --access public --ignore-scripts'])
  })

  it('have a time limit for each job, and a concurrency group', () => {
    expect(jobs.filter(({ job }) => !((job['timeout-minutes'] ?? 0) > 0)).map(({ where }) => where)).toEqual(
      [],
    )
    expect(workflows.filter(({ workflow }) => !workflow.concurrency?.group)).toEqual([])
  })

  it('give secrets only to the steps that sign', () => {
    const holders = steps.filter(({ step }) => JSON.stringify(step).includes('secrets.'))
    expect(holders.map(({ where }) => where)).toEqual(['release.yml build', 'release.yml build'])
    for (const { step } of holders) {
      expect(JSON.stringify({ ...step, env: {} })).not.toContain('secrets.')
      expect(step.run).toContain('npm run package')
    }
    const count = (text: string) => text.split('secrets.').length - 1
    const inSteps = holders.map(({ step }) => count(JSON.stringify(step)))
    expect(files.reduce((sum, { text }) => sum + count(text), 0)).toBe(inSteps.reduce((a, b) => a + b, 0))
  })

  it('keep no token in the checkout, run no install scripts, and put no expression into a command', () => {
    const checkouts = steps.filter(({ step }) => step.uses?.startsWith('actions/checkout@'))
    expect(checkouts.length).toBeGreaterThan(5)
    expect(checkouts.filter(({ step }) => step.with?.['persist-credentials'] !== false)).toEqual([])
    const commands = steps.map(({ step }) => step.run ?? '')
    expect(commands.filter((run) => /npm (ci|i|install)\b(?!.*--ignore-scripts)/.test(run))).toEqual([])
    expect(commands.filter((run) => run.includes('${{'))).toEqual([])
  })

  it('run only scripts that package.json has', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'),
    )
    const inCommands = steps.flatMap(({ step }) => [
      ...(step.run ?? '').matchAll(/npm run (?:-s )?([\w:-]+)/g),
    ])
    const inMatrix = files.flatMap(({ text }) => [...text.matchAll(/^ +- (test:[\w:]+)/gm)])
    const named = new Set([...inCommands, ...inMatrix].map(([, name = '']) => name))
    expect(named.size).toBeGreaterThan(8)
    expect([...named].filter((name) => scripts[name] === undefined)).toEqual([])
  })
})
