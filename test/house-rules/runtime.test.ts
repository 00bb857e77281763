import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT_FOLDER } from './read-module.ts'

const read = (path: string) => readFileSync(join(PROJECT_FOLDER, path), 'utf8')

const RECORDED = Array.from(
  read('docs/decisions/0001-pinned-runtime.md').matchAll(
    /^\| `(node-[\w-]+)` \| ([\d.]+) \| `(\w{64})` \|/gm,
  ),
  ([, name = '', version = '', hash = '']) => ({ name, version, hash }),
)

describe('the Node that npm ci brings', () => {
  it('is recorded for each system, with the version of package.json', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'))
    expect(Object.fromEntries(RECORDED.map(({ name, version }) => [name, version]))).toEqual(
      optionalDependencies,
    )
  })

  it('is the recorded program on systems where it is installed', () => {
    const installed = RECORDED.flatMap(({ name, hash }) => {
      const folder = join(PROJECT_FOLDER, 'node_modules', name, 'bin')
      const file = [join(folder, 'node'), join(folder, 'node.exe')].find(existsSync)
      return file === undefined ? [] : [{ name, hash, file }]
    })
    for (const { name, hash, file } of installed) {
      expect(createHash('sha256').update(readFileSync(file)).digest('hex'), name).toBe(hash)
    }
    // Windows on arm64 has its own package.
    expect(installed).toHaveLength(`${process.platform}-${process.arch}` === 'win32-arm64' ? 0 : 1)
  })

  it('is installed without running code of any package', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
  })
})
