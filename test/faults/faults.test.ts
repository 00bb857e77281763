import process from 'node:process'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { findWhyNoFaults } from '../helpers/faults/build-fault-library.ts'
import type { Fault } from '../helpers/faults/fault-plan.ts'
import {
  openScenarios,
  SCENARIO_NAMES,
  type ScenarioName,
  type Scenarios,
} from '../helpers/faults/scenarios.ts'
import { openTestFolder } from '../helpers/test-folder.ts'

const whyNot = findWhyNoFaults()

/** `npm run test:faults` also fails every n-th call. */
const stride = Number(process.env['SLUICE_FAULT_STRIDE'] ?? 0)

/** Kinds of fault in `npm run test:faults`: one call fails, or the disk is full from that call on. */
const MODES: readonly Omit<Fault, 'nth'>[] = [
  { error: 'EIO' },
  { error: 'ENOSPC', toEnd: true, full: true },
  { error: 'ENOSPC', toEnd: true, full: true, half: true },
]

/** A failing call, and the exit code and message of the command. */
interface Point {
  title: string
  scenario: ScenarioName
  fault: Fault
  code: number
  says: RegExp
}

const FULL = { error: 'ENOSPC', toEnd: true, full: true } as const

const POINTS: readonly Point[] = [
  {
    title: 'a workspace that cannot be made ends with 2',
    scenario: 'task',
    fault: { call: 'mkdir', nth: 1, error: 'EIO' },
    code: 2,
    says: /cannot create the workspace/,
  },
  {
    title: 'a lease that cannot be made ends with 2',
    scenario: 'task',
    fault: { call: 'create', ending: '.journal.lease', nth: 1, error: 'EIO' },
    code: 2,
    says: /cannot lock/,
  },
  {
    title: 'a journal that finds no room ends with 2',
    scenario: 'task',
    fault: { call: 'create', ending: '.journal', nth: 1, ...FULL },
    code: 2,
    says: /cannot open the journal/,
  },
  {
    title: 'a disk that is full while the tables of a journal are made is no bug, and nothing is sent',
    scenario: 'task',
    fault: { call: 'write', ending: '.journal-wal', nth: 1, ...FULL },
    code: 2,
    says: /cannot open the journal .+ is full/,
  },
  {
    title: 'a disk that fails before the rows are read leaves no run, and none is to be resumed',
    scenario: 'task',
    fault: { call: 'sync', ending: '.journal-wal', nth: 2, error: 'EIO' },
    code: 2,
    says: /Nothing was sent, and no run was created\. Check that the disk works/,
  },
  {
    title: 'a disk that fails while a run is sent is to be checked, and the run can be resumed',
    scenario: 'task',
    fault: { call: 'sync', ending: '.journal-wal', nth: 4, error: 'EIO' },
    code: 1,
    says: /Check that the disk works, .+, then resume the run: .*resume \d{8}-/,
  },
  {
    title: 'a run whose summary cannot be read says that it has ended, and ends with 1',
    scenario: 'task',
    fault: { call: 'open', ending: '.journal', nth: 1, error: 'EIO' },
    code: 1,
    says: /run \S+ has ended, .+do not send the source again.+ show \d{8}-/s,
  },
  {
    title: 'a journal of an older version that finds no room stays as it was',
    scenario: 'older',
    fault: { call: 'write', ending: '.journal-wal', nth: 1, ...FULL },
    code: 2,
    says: /cannot open the journal .+ is full/,
  },
  {
    title: 'a disk that gets full while a run is sent is said as such, and the run can be resumed',
    scenario: 'task',
    fault: { call: 'sync', ending: '.journal-wal', nth: 5, error: 'ENOSPC', toEnd: true },
    code: 1,
    says: /\bresume \d{8}-/,
  },
  {
    title: 'a mark that is half written ends the run, which can be resumed',
    scenario: 'task',
    fault: { call: 'write', ending: '.journal-wal', nth: 220, ...FULL, half: true },
    code: 1,
    says: /Free some space on that disk, then resume the run: .*resume \d{8}-/,
  },
  {
    title: 'a checkpoint that fails is made up for later',
    scenario: 'task',
    fault: { call: 'write', ending: '.journal', nth: 5, error: 'EIO' },
    code: 0,
    says: /^$/,
  },
  {
    title: 'a WAL that cannot be removed does not matter',
    scenario: 'task',
    fault: { call: 'unlink', ending: '.journal-wal', nth: 1, error: 'EIO' },
    code: 0,
    says: /^$/,
  },
  {
    title: 'an inbox that cannot be made ends with 2',
    scenario: 'callbacks',
    fault: { call: 'create', ending: 'inbox', nth: 1, error: 'EIO' },
    code: 2,
    says: /callback inbox/,
  },
  {
    title: 'a port that cannot be kept for the workspace ends with 2',
    scenario: 'callbacks',
    fault: { call: 'create', ending: '.part', nth: 2, error: 'EIO' },
    code: 2,
    says: /receiver\.json/,
  },
  {
    title: 'an inbox that cannot say where it is served ends with 2',
    scenario: 'callbacks',
    fault: { call: 'sync', ending: 'inbox-wal', nth: 3, error: 'EIO' },
    code: 2,
    says: /callback inbox/,
  },
  {
    title: 'callbacks that find no room at once are taken when they come again',
    scenario: 'callbacks',
    fault: { call: 'sync', ending: 'inbox-wal', nth: 8, error: 'ENOSPC' },
    code: 0,
    says: /^$/,
  },
  {
    title: 'an export that finds no room leaves the file that was there',
    scenario: 'export',
    fault: { call: 'write', ending: '.part', nth: 1, error: 'ENOSPC', half: true },
    code: 1,
    says: /the disk is full/,
  },
  {
    title: 'an export that cannot take its name leaves the file that was there',
    scenario: 'export',
    fault: { call: 'rename', ending: '.csv', nth: 1, error: 'EIO' },
    code: 2,
    says: /cannot be written/,
  },
  {
    title: 'verdicts that cannot be written stay as they were',
    scenario: 'verdict',
    fault: { call: 'sync', ending: '.verdicts-journal', nth: 1, error: 'EIO' },
    code: 2,
    says: /Check that the disk works/,
  },
  {
    title: 'a note that finds no room leaves the one that was there',
    scenario: 'note',
    fault: { call: 'write', ending: '.part', nth: 1, error: 'ENOSPC', half: true },
    code: 2,
    says: /Free some space on that disk, then try again/,
  },
  {
    title: 'a baseline that finds no room leaves those that were there',
    scenario: 'baseline',
    fault: { call: 'write', ending: '.part', nth: 1, error: 'ENOSPC', half: true },
    code: 2,
    says: /Free some space on that disk, then try again/,
  },
  {
    title: 'connections that cannot be written stay as they were',
    scenario: 'connection',
    fault: { call: 'rename', ending: '.json', nth: 1, error: 'EIO' },
    code: 2,
    says: /cannot write .+connections\.json/,
  },
]

it.runIf(process.platform === 'linux' && process.env['CI'] !== undefined)(
  'a Linux machine that runs all tests has a C compiler to fail file calls with',
  () => expect(whyNot).toBeNull(),
)

/** The short form tests the first call of each scenario and a disk that fills up while rows are sent. */
const CHOSEN = POINTS.filter(
  ({ scenario, title }, index) =>
    inject('isLong') ||
    POINTS.findIndex((point) => point.scenario === scenario) === index ||
    title.startsWith('a disk that gets full while a run is sent'),
)

describe.skipIf(whyNot !== null)(`a failing disk${whyNot === null ? '' : `, not tested: ${whyNot}`}`, () => {
  const folder = openTestFolder()
  let scenarios: Scenarios

  beforeAll(async () => {
    scenarios = await openScenarios(folder)
  })
  afterAll(() => scenarios.close())

  // Not it.each with a table, which cuts long titles.
  for (const { title, scenario, fault, code, says } of CHOSEN) {
    it(`${scenario}: ${title}`, async () => {
      const { failure, ...found } = await scenarios.run(scenario, fault)
      expect(failure).not.toBeNull()
      expect(found).toMatchObject({ code, mistakes: [], stderr: expect.stringMatching(says) })
    })
  }

  it.runIf(stride > 0).each(SCENARIO_NAMES)(
    '%s: whichever call fails, nothing is lost or done twice, and the advice can be followed',
    { timeout: 10_800_000 },
    async (scenario) => {
      const mistakes: string[] = []
      let failed = 0
      for (const mode of MODES) {
        for (let nth = 1, isOver = false; !isOver; nth += stride) {
          const fault = { ...mode, nth }
          const run = await scenarios.run(scenario, fault)
          isOver = run.failure === null
          if (!isOver) failed += 1
          if (run.mistakes.length > 0) {
            mistakes.push(
              `${JSON.stringify(fault)} ${run.failure}: ${run.mistakes.join('; ')}\n${run.code} ${run.stderr}`,
            )
          }
        }
      }
      expect(mistakes).toEqual([])
      expect(failed).toBeGreaterThan(0)
    },
  )
})
