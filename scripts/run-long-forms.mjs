// npm run test:long: runs the long form of every test that has one. A test has one if its file asks for the
// mode.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const asksForLongForm = /inject\('(isLong|walksAll)'\)|\/long-form\.ts'/
const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.test\.tsx?$/.test(path))
  .map((path) => join('test', path).replaceAll('\\', '/'))
// All window tests have a long form: openApp inspects their screens in both colour schemes.
const longForms = tests.filter(
  (path) => path.startsWith('test/e2e/') || asksForLongForm.test(readFileSync(path, 'utf8')),
)
const projects = ['main', 'screens', 'shells'].flatMap((name) => ['--project', name])
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', ...projects, '--mode', 'long', ...longForms],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
