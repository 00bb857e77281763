// npm run release:check-electron: asks the registry whether the Electron version in package.json has all
// fixes, and whether its major still gets any.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findElectronProblem } from './electron-support.ts'

const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
const shipped: string = devDependencies.electron
const npm = process.env['npm_execpath']
if (npm === undefined) {
  process.stderr.write('release:check-electron: run it by npm run release:check-electron\n')
  process.exit(2)
}
const answer = execFileSync(process.execPath, [npm, 'view', `electron@>=${shipped}`, 'version', '--json'], {
  encoding: 'utf8',
})
// The registry gives one version as a text and several as a list.
const published: string | string[] = JSON.parse(answer)
const problem = findElectronProblem(shipped, [published].flat())
if (problem === null) process.stdout.write(`Electron ${shipped} has every fix of a supported major\n`)
else {
  process.stderr.write(`release:check-electron: ${problem}\n`)
  process.exitCode = 1
}
