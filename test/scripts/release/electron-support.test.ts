import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findElectronProblem } from '../../../scripts/release/electron-support.ts'
import { PROJECT_FOLDER } from '../../house-rules/read-module.ts'

it('is refused without the newest fixes of its major, and if its major no longer gets any', () => {
  expect(findElectronProblem('45.4.1', ['45.4.1', '46.0.0', '47.1.0', '48.0.0-beta.1'])).toBeNull()
  expect(findElectronProblem('45.4.1', ['45.4.1', '45.4.2', '45.10.0', '46.0.0'])).toBe(
    'Electron 45.4.1 lacks fixes of 45.10.0',
  )
  expect(findElectronProblem('45.4.1', ['45.3.9', '44.9.9', '45.4.0'])).toBeNull()
  expect(findElectronProblem('45.4.1', ['48.0.0'])).toContain('Electron 45 gets no fixes any more')
  expect(findElectronProblem('^45.4.1', [])).toContain('not a finished version')
})

it('is one exact version, which every release and every night compares with the published ones', () => {
  const read = (path: string) => readFileSync(join(PROJECT_FOLDER, path), 'utf8')
  expect(findElectronProblem(JSON.parse(read('package.json')).devDependencies.electron, [])).toBeNull()
  for (const workflow of ['release', 'nightly'] as const) {
    expect(read(`.github/workflows/${workflow}.yml`)).toMatch(
      /npm run release:check-electron|- release:check-electron/,
    )
  }
})
