import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { createCliContext } from '../../src/main/cli/context.ts'
import { runCli } from '../../src/main/cli/run-cli.ts'
import { createEngine } from '../../src/main/engine/engine.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { type Answer, ask, copyGolden, listFiles, listGoldenWorkspaces, readAnswers } from './answers.ts'
import { openCommandLine } from './command-line.ts'
import { INTENDED_DIFFERENCES, toExpected } from './intended-differences.ts'

const NAMES = listGoldenWorkspaces()
const zone = process.env['TZ']

// The time zone of the stored answers.
beforeAll(() => {
  process.env['TZ'] = 'UTC'
})

afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

/** A copy of a golden workspace and a command line to ask about it. */
function openCopy(name: string) {
  const place = createTemporaryFolder()
  const workspace = join(place, 'workspace')
  copyGolden(name, workspace)
  let asked = 0
  return {
    workspace,
    askAll: async (questions: readonly Answer[]): Promise<Answer[]> => {
      const { run, close } = openCommandLine({ createCliContext, runCli, createEngine }, workspace)
      onTestFinished(close)
      const answers: Answer[] = []
      for (const { args } of questions) {
        asked += 1
        answers.push(await ask(args, { workspace, folder: join(place, `out-${asked}`) }, run))
      }
      return answers
    },
  }
}

/** Questions that each start a thread, which takes twenty times as long as all others. */
const IN_A_THREAD = new Set(['export', 'report', 'evaluate', 'sample'])

/** Every answer about a workspace. The short form asks only every fifth question that starts a thread. */
function chooseAnswers(name: string): Answer[] {
  let started = NAMES.indexOf(name)
  return readAnswers(name).filter(({ args: [command = ''] }) => {
    if (inject('isLong') || !IN_A_THREAD.has(command)) return true
    started += 1
    return started % 5 === 0
  })
}

// The long form asks all of them.
it.each(NAMES.filter((_, index) => inject('isLong') || index % 10 === 0))(
  'answers about the golden workspace %s as the version that wrote it did, except as intended',
  async (name) => {
    const expected = chooseAnswers(name).map((answer) => toExpected(answer, name))
    const today = await openCopy(name).askAll(expected)
    for (const [index, answer] of expected.entries()) expect(today[index]).toEqual(answer)
  },
)

it('notices an altered count in a journal', async () => {
  const golden = readAnswers('task-v1-sync').filter(({ args }) => args[0] === 'show' && args[2] === '--json')
  const { workspace, askAll } = openCopy('task-v1-sync')
  const [journal = ''] = listFiles(join(workspace, 'runs')).filter((file) => file.endsWith('.journal'))
  const db = new DatabaseSync(journal)
  expect(
    db.prepare("UPDATE facet SET n = n + 1 WHERE kind = 'state' AND value = 'succeeded'").run().changes,
  ).toBe(1)
  db.close()
  expect(await askAll(golden)).not.toEqual(golden.map((answer) => toExpected(answer, 'task-v1-sync')))
})

it.each(INTENDED_DIFFERENCES)('still has an answer that differs since $reason', ({ apply }) => {
  const isChanged = NAMES.some((name) =>
    readAnswers(name).some((answer) => JSON.stringify(apply(answer, name)) !== JSON.stringify(answer)),
  )
  expect(isChanged).toBe(true)
})
