import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type PackedProgram, unpackProgram } from '../../../src/main/cli/unpack-program.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const CONTENTS: Record<string, string> = {
  'main/installed.js': 'the command',
  'docs/results.md': '# Results',
  'package.json': '{}',
}

const toProgram = (hash: string): PackedProgram => ({
  hash,
  files: Object.entries(CONTENTS).map(([path, text]) => ({ path, sizeBytes: text.length })),
})
const PROGRAM = toProgram('abc1')

/** Unpacks as one start does, and tells which files were read out of the executable. */
function startIn(cache: string, { program = PROGRAM, nowMs = Date.now() } = {}) {
  const taken: string[] = []
  const read = (path: string) => {
    taken.push(path)
    return Buffer.from(CONTENTS[path] ?? '')
  }
  return { folder: unpackProgram(program, read, cache, nowMs), taken }
}

const isWindows = process.platform === 'win32'

describe('the files of an executable', () => {
  it('are unpacked by the first start, for their owner alone, and used by the next', () => {
    const cache = join(createTemporaryFolder(), 'cache', 'sluice')
    const first = startIn(cache)
    expect(first.folder).toBe(join(cache, 'app-abc1'))
    for (const [path, text] of Object.entries(CONTENTS)) {
      expect(readFileSync(join(first.folder, path), 'utf8')).toBe(text)
      if (!isWindows) expect(statSync(join(first.folder, path)).mode & 0o777).toBe(0o600)
    }
    if (!isWindows) expect(statSync(first.folder).mode & 0o077).toBe(0)
    expect(startIn(cache)).toEqual({ folder: first.folder, taken: [] })
    expect(readdirSync(cache)).toEqual(['app-abc1'])
  })

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['cut short', (file: string) => truncateSync(file, 3)],
    [
      'a link',
      (file: string) => {
        rmSync(file)
        symlinkSync(join(file, '../../package.json'), file)
      },
    ],
  ])('are written anew if one of them is %s', (_what, damage) => {
    const cache = createTemporaryFolder()
    const { folder } = startIn(cache)
    damage(join(folder, 'main/installed.js'))
    expect(startIn(cache).taken).toHaveLength(3)
    expect(readFileSync(join(folder, 'main/installed.js'), 'utf8')).toBe('the command')
    expect(readdirSync(cache)).toEqual(['app-abc1'])
  })

  it('are those of another start that was faster', () => {
    const cache = createTemporaryFolder()
    let isFirst = true
    const folder = unpackProgram(
      PROGRAM,
      (path) => {
        if (isFirst) {
          isFirst = false
          startIn(cache)
        }
        return Buffer.from(CONTENTS[path] ?? '')
      },
      cache,
    )
    expect(existsSync(join(folder, 'main/installed.js'))).toBe(true)
    expect(readdirSync(cache)).toEqual(['app-abc1'])
  })

  it.skipIf(isWindows).each(['', 'app-abc1'])(
    'are not run out of a folder that others can write to: the cache’s %s',
    (name) => {
      const cache = createTemporaryFolder()
      startIn(cache)
      chmodSync(join(cache, name), 0o777)
      expect(() => startIn(cache)).toThrow(`other users can write to ${join(cache, name)}`)
    },
  )

  it('leave no draft where they cannot be written', () => {
    const cache = createTemporaryFolder()
    const fail = () => {
      throw new Error('the disk is full')
    }
    expect(() => unpackProgram(PROGRAM, fail, cache)).toThrow('the disk is full')
    expect(readdirSync(cache)).toEqual([])
  })

  it('stay for thirty days after their last start, and what belongs to others stays for ever', () => {
    const cache = createTemporaryFolder()
    const nowMs = Date.now()
    const age = (name: string, days: number) => {
      const seconds = nowMs / 1000 - days * 86_400
      utimesSync(join(cache, name), seconds, seconds)
    }
    startIn(cache, { program: toProgram('01d') })
    startIn(cache, { program: toProgram('5ed') })
    mkdirSync(join(cache, 'unpacking-x'))
    mkdirSync(join(cache, 'compiled'))
    writeFileSync(join(cache, 'app-notes.txt'), '')
    for (const name of ['app-01d', 'app-5ed', 'unpacking-x', 'compiled', 'app-notes.txt']) age(name, 31)
    startIn(cache, { program: toProgram('5ed'), nowMs })
    startIn(cache, { nowMs })
    expect(readdirSync(cache).toSorted()).toEqual(['app-5ed', 'app-abc1', 'app-notes.txt', 'compiled'])
  })
})
