import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { PROJECT_FOLDER } from './read-module.ts'

/** Runs vitest with the project's reporter on the files and returns its exit code and output. */
function runTests(files: Record<string, string>): { lastLine: string | undefined; exitCode: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-closing-line-'))
  try {
    symlinkSync(join(PROJECT_FOLDER, 'node_modules'), join(folder, 'node_modules'), 'junction')
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), body)
    const vitest = join(PROJECT_FOLDER, 'node_modules', 'vitest', 'vitest.mjs')
    const reporter = join(PROJECT_FOLDER, 'test', 'helpers', 'closing-line-reporter.ts')
    const { stdout, status } = spawnSync(
      process.execPath,
      [vitest, 'run', '--root', folder, '--maxWorkers', '1', '--reporter', 'default', '--reporter', reporter],
      { encoding: 'utf8', env: { ...process.env, VITEST: undefined, VITEST_POOL_ID: undefined } },
    )
    return { lastLine: stdout.trimEnd().split('\n').at(-1), exitCode: status }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it('ends a run with one line that counts every failure, of tests and of files that could not run', () => {
  onlyInLongForm()
  const { lastLine, exitCode } = runTests({
    'plain.test.js': `import { expect, it } from 'vitest'
it('passes', () => {})
it('fails', () => expect(1).toBe(2))
it.skipIf(true)('is skipped', () => {})`,
    'does-not-load.test.js': "import './missing.js'",
    'set-up-fails.test.js': `import { beforeAll, it } from 'vitest'
beforeAll(() => { throw new Error('no set-up') })
it('never runs', () => {})`,
  })
  expect(lastLine).toBe('1 passed, 3 failed, 2 skipped')
  expect(exitCode).toBe(1)
})
