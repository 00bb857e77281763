import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listFiles, PROJECT_FOLDER } from './read-module.ts'

const { scripts } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
const filters = scripts['test:long'].split(' --mode long ')[1].split(' ')

it('runs every test that has a long form in test:long', () => {
  const tests = listFiles('test').filter((path) => /\.test\.tsx?$/.test(path))
  // All walks of the window have one: openApp inspects their screens in both colour schemes.
  const long = tests.filter(
    (path) =>
      path.startsWith('test/e2e/') ||
      /inject\('(isLong|walksAll)'\)/.test(readFileSync(join(PROJECT_FOLDER, path), 'utf8')),
  )
  expect(long.length).toBeGreaterThan(20)
  expect(long.filter((path) => !filters.some((filter: string) => path.includes(filter)))).toEqual([])
})
