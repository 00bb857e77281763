import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkMarkers, checkName, checkRemedies, checkWaits, MARKERS } from './file-rules.ts'
import { listFiles, PROJECT_FOLDER, parseModule } from './read-module.ts'

describe('files outside of the catalogue of messages', () => {
  it('hold no words of a remedy', () => {
    const texts = listFiles('src').filter((path) => /\.tsx?$/.test(path))
    expect(
      texts.flatMap((path) =>
        checkRemedies({ path, text: readFileSync(join(PROJECT_FOLDER, path), 'utf8') }),
      ),
    ).toEqual([])
  })

  it.each(["    hint: 'Try again.',", '    remedy:', '  remedy: `Choose it.`'])(
    'would be found by %j',
    (line) => {
      expect(checkRemedies({ path: 'src/main/engine/a.ts', text: line })).toHaveLength(1)
      expect(checkRemedies({ path: 'src/shared/messages/a.ts', text: line })).toEqual([])
    },
  )
})

describe('files of src, test and scripts', () => {
  const folders = ['src', 'test', 'scripts']

  it('are named after their one job', () => {
    const problems = folders.flatMap(listFiles).map(checkName)
    expect(problems.filter((problem) => problem !== null)).toEqual([])
  })

  it('postpone no work', () => {
    const suspects = folders
      .flatMap(listFiles)
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => ({ path, text: readFileSync(join(PROJECT_FOLDER, path), 'utf8') }))
      .filter(({ text }) => MARKERS.test(text))
    expect(suspects.map(({ path, text }) => parseModule(path, text)).flatMap(checkMarkers)).toEqual([])
  })
})

describe('tests', () => {
  it('wait for events and not for times', () => {
    // The tests of the rules contain what the rules refuse.
    const tests = listFiles('test').filter((path) => /(?<!house-rules.*)\.test\.tsx?$/.test(path))
    const problems = tests.flatMap((path) =>
      checkWaits({ path, text: readFileSync(join(PROJECT_FOLDER, path), 'utf8') }),
    )
    expect(tests.length).toBeGreaterThan(100)
    expect(problems).toEqual([])
  })
})

describe('the file rules', () => {
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
  ])('accept the name %s', (path) => {
    expect(checkName(path)).toBeNull()
  })

  it.each([
    'await new Promise((resolve) => setTimeout' + '(resolve, 20))',
    'await new Promise<void>((done) => {\n  setTimeout' + '(done, 20)\n})',
    "import { setTimeout } from 'node:timers" + "/promises'",
    'expect(performance.now()' + ' - began).toBeLessThan(1_000)',
  ])('refuse a test that waits for a time or measures one: %s', (line) => {
    expect(checkWaits({ path: 'a.test.ts', text: `\n${line}\n` })).toEqual([
      expect.stringContaining('a.test.ts:2: '),
    ])
  })

  it.each([
    'setTimeout(() => wire.send(200, answer), delayMs)',
    "await once(child, 'exit')",
    'expect(performance.now() - began).toBeGreaterThan(18)',
  ])('accept a test that says %s', (line) => {
    expect(checkWaits({ path: 'a.test.ts', text: line })).toEqual([])
  })

  it('refuse a comment that postpones work, and do not mistake code for one', () => {
    const module = parseModule('src/example.ts', "// TODO: later\nexport const word = 'TODO'\n")
    expect(checkMarkers(module)).toEqual([expect.stringContaining('src/example.ts:1')])
  })
})
