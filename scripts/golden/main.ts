// npm run golden -- [--ask] CHECKOUT FOLDER [NAME…]: has a checkout write the golden workspaces and keeps its
// answers about them. With --ask, only asks about the workspaces already in the folder. See "Golden
// workspaces" in CONTRIBUTING.md.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { type Answer, ask, copyGolden, storeAnswers, storeGolden } from '../../test/golden/answers.ts'
import { openCommandLine } from '../../test/golden/command-line.ts'
import { ENDINGS, OPERATIONS } from './bulk-workspaces.ts'
import { fillFolder, loadCommandLine } from './checkout.ts'
import { LOAD, LOOKING_BACK } from './look-back-workspaces.ts'
import { type ListedRun, listQuestions } from './questions.ts'

// Journals hold the paths of their sources. This one is the same on every machine and reveals nothing about
// any.
const NEUTRAL_FOLDER = '/tmp/golden'

// The tests ask in this time zone too.
process.env['TZ'] = 'UTC'

const { values, positionals } = parseArgs({
  options: { ask: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [checkout, folder, ...names] = positionals.map((path, index) => (index < 2 ? resolve(path) : path))
if (checkout === undefined || folder === undefined) {
  process.stderr.write('usage: npm run golden -- [--ask] CHECKOUT FOLDER [NAME…]\n')
  process.exit(2)
}

const recipes = Object.entries({ ...OPERATIONS, ...ENDINGS, ...LOOKING_BACK, ...LOAD })
for (const [name, fill] of recipes) {
  if (names.length > 0 && !names.includes(name)) continue
  const kept = join(folder, name)
  if (!values.ask) {
    const written = join(NEUTRAL_FOLDER, name)
    await fillFolder(checkout, written, fill)
    rmSync(kept, { recursive: true, force: true })
    storeGolden(join(written, 'workspace'), kept)
    // The answers must not depend on sources that a test does not have.
    rmSync(written, { recursive: true })
  }
  const answers = await askCopy(checkout, name, folder)
  storeAnswers(answers, kept)
  process.stdout.write(`${name}: ${answers.length} answers\n`)
}

/** Asks the checkout about a copy, as the tests ask the current code. */
async function askCopy(checkout: string, name: string, from: string): Promise<Answer[]> {
  const place = mkdtempSync(join(tmpdir(), 'golden-copy-'))
  const workspace = join(place, 'workspace')
  copyGolden(name, workspace, from)
  const { run, close } = openCommandLine(await loadCommandLine(checkout), workspace)
  try {
    const runs = JSON.parse((await run(['runs', '--json'])).stdout) as ListedRun[]
    const answers: Answer[] = []
    for (const [index, args] of listQuestions(name, runs).entries()) {
      answers.push(await ask(args, { workspace, folder: join(place, `out-${index}`) }, run))
    }
    return answers
  } finally {
    await close()
    rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  }
}
