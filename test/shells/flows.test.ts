import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../src/main/engine/workspace/connections.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import {
  checkSample,
  dropFromDisk,
  readShownCounts,
  resumeInterrupted,
  seeRunEnded,
  seeScreen,
  sendEverything,
  sendFaster,
  sendSlowly,
} from '../helpers/e2e/walk.ts'
import { createStandIn } from '../helpers/electron-stand-in/create-stand-in.ts'
import { startFaultServer, toTaskAnswer } from '../helpers/fault-server.ts'
import { browserShell } from '../helpers/shells/browser-shell.ts'
import { chooseShells } from '../helpers/shells/choose-shells.ts'
import { createElectronShell } from '../helpers/shells/electron-shell.ts'
import { createPackagedShell } from '../helpers/shells/packaged-shell.ts'
import type { Shell, ShellFolders, StartedShell } from '../helpers/shells/shell.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { FLOWS, type FlowName, type ShellName, toSuiteName, whyNotIn } from './flow-list.ts'

const CREATE: Record<ShellName, (program: string) => Shell> = {
  browser: () => browserShell,
  'stand-in': () => createElectronShell(createStandIn()),
  electron: createElectronShell,
  packaged: createPackagedShell,
}

/** Rows of the sandbox's sample, of which eight cannot be sent. */
const SAMPLE = { rows: 372, invalid: 8 }

const FILE = 'user_id,text_data\nu1,hello\nu2,win a free prize now\nu3,good day\n'

const WALKS: Record<FlowName, (shell: Shell, folders: ShellFolders) => Promise<void>> = {
  async crash(shell, folders) {
    const { page, kill } = await start(shell, folders)
    await checkSample(page)
    await sendSlowly(page)
    await page.getByRole('button', { name: 'Likely spam' }).waitFor()
    await kill()
    const { page: later } = await start(shell, folders)
    await resumeInterrupted(later)
    await sendFaster(later)
    await seeWholeSample(later)
  },

  async drop(shell, folders) {
    const { page } = await start(shell, folders)
    await dropFromDisk(page, writeSource(folders, 'dropped.csv'))
    await page.getByRole('button', { name: 'Continue' }).click()
    await sendEverything(page)
    await seeRunEnded(page)
    expect(await readShownCounts(page)).toEqual({ succeeded: 3 })
  },

  async 'second start'(shell, folders) {
    const { page } = await start(shell, folders, writeSource(folders, 'first.csv'))
    await seeScreen(page, 'Source')
    await page.getByText('first.csv').first().waitFor()
    const file = writeSource(folders, 'second.csv')
    const startAgain = shell.startAgain ?? expect.fail('it is started once')
    expect(await startAgain(folders, file)).toBe(0)
    await page.getByText('second.csv').first().waitFor()
  },

  async plan(shell, folders) {
    const service = await startFaultServer({
      onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
    })
    vi.stubEnv('PLAN_KEY', 'the-key-of-the-plan')
    onTestFinished(() => void vi.unstubAllEnvs())
    // A plan that uses a stored connection and its own folder opens without a question.
    mkdirSync(folders.workspace, { recursive: true })
    const stored = storedConnectionSchema.parse({
      name: 'staging',
      baseUrl: service.baseUrl,
      keys: [{ label: 'main', env: 'PLAN_KEY' }],
      activeKey: 'main',
    })
    changeConnections(folders.workspace, (known) => addConnection(known, stored))
    writeSource(folders, 'posts.csv')
    const plan = {
      connection: { name: 'staging' },
      source: { path: 'posts.csv' },
      operation: { kind: 'task' },
    }
    const { page } = await start(
      shell,
      folders,
      writeSource(folders, 'posts.sluiceplan', JSON.stringify(plan)),
    )
    const dialog = page.getByRole('dialog', { name: 'Open a plan' })
    await dialog.getByText(`staging, ${service.baseUrl}`).waitFor()
    await dialog.getByText('Nothing has been read or sent yet').waitFor()
    await dialog.getByRole('button', { name: 'Read and check the source' }).click()
    await dialog.getByText('3 rows read and checked').waitFor()
    expect(service.requests).toEqual([])
    await dialog.getByRole('button', { name: 'Send 3 rows' }).click()
    await seeRunEnded(page)
    expect(await readShownCounts(page)).toEqual({ succeeded: 3 })
    expect(service.requests).toHaveLength(3)
  },

  async quit(shell, folders) {
    const { page, quit = expect.fail('it does not ask'), ended } = await start(shell, folders)
    await checkSample(page)
    await sendSlowly(page)
    await page.getByRole('button', { name: 'Likely spam' }).waitFor()
    expect(await quit('Cancel')).toBe('1 run still in progress')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await quit('Stop and resume later')
    expect(await ended).toBe(0)

    const again = await start(shell, folders)
    await resumeInterrupted(again.page)
    await again.quit?.('Finish first')
    await sendFaster(again.page)
    expect(await again.ended).toBe(0)

    const { page: last } = await start(shell, folders)
    await last.getByRole('button', { name: 'sample.csv', exact: true }).click()
    await seeWholeSample(last)
  },
}

/** Starts a shell and waits for its first screen. */
async function start(shell: Shell, folders: ShellFolders, file?: string): Promise<StartedShell> {
  const started = await shell.start(folders, file)
  if (file === undefined) await seeScreen(started.page, 'Runs')
  return started
}

function writeSource({ userData }: ShellFolders, name: string, text = FILE): string {
  const file = join(userData, '..', name)
  writeFileSync(file, text)
  return file
}

async function seeWholeSample(page: StartedShell['page']): Promise<void> {
  await seeRunEnded(page)
  const counts = await readShownCounts(page)
  expect(counts).toMatchObject({ invalid: SAMPLE.invalid })
  expect(counts).not.toHaveProperty('pending')
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(SAMPLE.rows)
}

const here = chooseShells().filter((choice) => 'program' in choice)
/** Flows that `npm test` leaves to other test runs. */
const LEFT_OUT: readonly FlowName[] = ['drop', 'quit']
const whyNotNow = (flow: FlowName, shell: ShellName): string | null => {
  if (inject('walksAll')) return null
  if (LEFT_OUT.includes(flow)) return 'only where all flows are walked'
  // Slow, and much the same in every shell.
  return flow === 'crash' && shell !== here[0]?.name ? 'only in the first shell' : null
}
if (here.length === 0) it.todo('shows the screens in a shell (this machine has none)')

for (const { name, program } of here) {
  describe(toSuiteName(name), () => {
    const flows = (Object.keys(FLOWS) as FlowName[]).filter((flow) => whyNotIn(flow, name) === null)
    it.for(flows.map((flow) => ({ flow, ...FLOWS[flow] })))('$title', async ({ flow }, { skip }) => {
      const why = whyNotNow(flow, name)
      if (why !== null) skip(why)
      const folder = createTemporaryFolder()
      const folders = { userData: join(folder, 'user-data'), workspace: join(folder, 'workspace') }
      await WALKS[flow](CREATE[name](program), folders)
    })
  })
}
