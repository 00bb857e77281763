import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { withTemporaryFolder } from '../helpers/temporary-folder.ts'
import { PROJECT_FOLDER, parseModule } from './read-module.ts'

/** What the build of this moment is made of. */
interface Build {
  mainFiles: string[]
  packages: string[]
  preload: string
  page: string
}

let built: Build

// Outside the project, so that nothing there is can be found but what was built.
beforeAll(async () => {
  built = await withTemporaryFolder((folder) => {
    const run = (args: string[]) =>
      spawnSync(process.execPath, args, { cwd: PROJECT_FOLDER, encoding: 'utf8', env: toEnv(folder) })
    const output = join(folder, 'out')
    const tool = join(PROJECT_FOLDER, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js')
    const build = run([tool, 'build', '--outDir', output, '--logLevel', 'warn'])
    if (build.status !== 0) throw new Error(`the build failed:\n${build.stdout}${build.stderr}`)
    const main = join(output, 'main')
    const mainFiles = readdirSync(main)
    const scripts = mainFiles.filter((name) => name.endsWith('.js'))
    return {
      mainFiles,
      packages: scripts.flatMap((name) => {
        const { imports } = parseModule(name, readFileSync(join(main, name), 'utf8'))
        return imports.map(({ specifier }) => specifier).filter((specifier) => !/^(node:|\.)/.test(specifier))
      }),
      preload: readFileSync(join(output, 'preload', 'preload.cjs'), 'utf8'),
      page: readFileSync(join(output, 'renderer', 'index.html'), 'utf8'),
    }
  })
}, 120_000)

function toEnv(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_ENV: undefined, VITEST: undefined, TMPDIR: folder }
}

describe('the build', () => {
  it('makes every entry, each under the name that others look for', () => {
    const entries = [
      'main.js',
      'run-worker.js',
      'query-worker.js',
      'receiver-worker.js',
      'sandbox-worker.js',
      'sample.csv',
      'async-sample.csv',
      'terms-sample.csv',
    ]
    expect(built.mainFiles).toEqual(expect.arrayContaining(entries))
  })

  it('needs no package but electron', () => {
    expect([...new Set(built.packages)]).toEqual(['electron'])
  })

  it('makes the preload script one CommonJS file, which is all a sandboxed one may be', () => {
    const required = [...built.preload.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name)
    expect(required).toEqual(['electron'])
    expect(built.preload).not.toMatch(/^(import|export) /m)
  })

  it('leaves a place for the nonce at every script and style of the page, and nothing inline', () => {
    const tags = built.page.match(/<(script|style|link rel="stylesheet")[^>]*>/g) ?? []
    expect(tags.length).toBeGreaterThanOrEqual(2)
    for (const tag of tags) expect(tag).toContain('nonce="__CSP_NONCE__"')
    expect(built.page).not.toMatch(/<script[^>]*>[^<]|<style| style="| on[a-z]+="/)
  })
})
