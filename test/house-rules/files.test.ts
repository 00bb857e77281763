import { describe, expect, it } from 'vitest'
import { checkDocumentation, checkLengths, checkMarkers, checkName } from './file-rules.ts'
import { listFiles, parseModule, readModules } from './read-module.ts'

const modules = readModules('src')

describe('files of src', () => {
  it('have at most 400 lines', () => {
    expect(checkLengths(modules)).toEqual([])
  })

  it('say what each export is in a JSDoc sentence', () => {
    expect(modules.flatMap(checkDocumentation)).toEqual([])
  })
})

describe('files of src, test and scripts', () => {
  const folders = ['src', 'test', 'scripts']

  it('are named after their one job', () => {
    const problems = folders.flatMap(listFiles).map(checkName)
    expect(problems.filter((problem) => problem !== null)).toEqual([])
  })

  it('put nothing off', () => {
    expect(folders.flatMap(readModules).flatMap(checkMarkers)).toEqual([])
  })
})

describe('the file rules', () => {
  const toFiles = (lines: readonly number[]) =>
    lines.map((count, index) => ({ path: `src/${index}.ts`, lines: count }))

  it('refuse a file that is too long', () => {
    expect(checkLengths(toFiles([...Array(20).fill(50), 401]))).toEqual([
      expect.stringContaining('has 401 lines'),
    ])
    expect(checkLengths(toFiles([...Array(20).fill(50), 400]))).toEqual([])
  })

  it.each([
    'src/shared/utils.ts',
    'src/main/cli/cli-helpers.ts',
    'src/main/common/a.ts',
    'test/run-manager.test.ts',
  ])('refuse the name %s', (path) => {
    expect(checkName(path)).toContain(path)
  })

  it.each([
    'src/shared/format.ts',
    'test/helpers/start-server.ts',
    'src/main/engine/journal/commonest-errors.ts',
  ])('let pass the name %s', (path) => {
    expect(checkName(path)).toBeNull()
  })

  it('refuse an export without its sentence, however it is exported', () => {
    const module = parseModule(
      'src/example.ts',
      `/** Says what it is. */
export const documented = 1
// An ordinary comment is no documentation.
export const bare = 2
/** Belongs to the constant. */
const listed = 3
const unlisted = 4
export { listed, unlisted }
/** Says what all of them do. */
export function overloaded(a: string): void
export function overloaded(a: number): void
export function overloaded(a: unknown): void {}
export interface Shape {}
export { elsewhere } from './elsewhere.ts'
export default class {}
`,
    )
    expect(checkDocumentation(module).map((problem) => problem.split(' ')[1])).toEqual([
      'bare',
      'unlisted',
      'Shape',
      'default',
    ])
  })

  it('refuse a comment that puts work off, and read no such thing into code', () => {
    const module = parseModule('src/example.ts', "// TODO: later\nexport const word = 'TODO'\n")
    expect(checkMarkers(module)).toEqual([expect.stringContaining('src/example.ts:1')])
  })
})
