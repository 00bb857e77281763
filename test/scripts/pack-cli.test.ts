import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { withTemporaryFolder } from '../helpers/temporary-folder.ts'
import { PROJECT_FOLDER, parseModule } from '../house-rules/read-module.ts'

/** The results of `npm run pack:cli` and `npm install -g`, and of running the installed command. */
interface Installed {
  printed: string
  /** Paths inside the package, and their sizes in bytes. */
  files: Map<string, number>
  packages: string[]
  notices: string
  version: SpawnSyncReturns<string>
  demo: SpawnSyncReturns<string>
  hasDemoExport: boolean
  topic: SpawnSyncReturns<string>
  completed: SpawnSyncReturns<string>
  page: string
  /** The folder that man searches; npm does not install man pages on Windows. */
  hasManPage: boolean
}

const isWindows = process.platform === 'win32'

/** Packs the command line, installs it, and runs it. */
async function tryInstalled(): Promise<Installed> {
  return withTemporaryFolder(async (folder) => {
    const toPath = (...parts: string[]) => join(folder, ...parts)
    const packed = run(process.execPath, [join(PROJECT_FOLDER, 'scripts/pack-cli/main.ts'), '--to', folder], {
      cwd: PROJECT_FOLDER,
      env: process.env,
    })
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    const prefix = toPath('prefix')
    const install = [
      'install',
      '-g',
      '--offline',
      '--prefix',
      prefix,
      '--cache',
      toPath('cache'),
      toPath(tarball),
    ]
    run('npm', install, { cwd: folder, env: process.env, shell: isWindows })

    // Started from another folder, with only Node, by another project's npm script of the same name.
    const elsewhere = toPath('elsewhere')
    mkdirSync(elsewhere)
    const surroundings = {
      cwd: elsewhere,
      env: {
        PATH: dirname(process.execPath),
        HOME: elsewhere,
        LANG: 'C.UTF-8',
        npm_lifecycle_event: 'sluice',
        INIT_CWD: folder,
      },
    }
    const command = isWindows ? join(prefix, 'sluice.cmd') : join(prefix, 'bin/sluice')
    const sluice = (...args: string[]) =>
      spawnSync(command, args, { ...surroundings, encoding: 'utf8', shell: isWindows })
    const own = join(prefix, isWindows ? 'node_modules' : 'lib/node_modules', 'sluice')
    const files = listFiles(own)
    const launcher = join(own, 'bin/sluice.cjs')
    return {
      printed: packed.stdout,
      files,
      packages: [...files.keys()]
        .filter((path) => /^main\/.+\.js$/.test(path))
        .flatMap((path) => parseModule(path, readFileSync(join(own, path), 'utf8')).imports)
        .map(({ specifier }) => specifier)
        .filter((specifier) => !/^(node:|\.)/.test(specifier) && !builtinModules.includes(specifier)),
      notices: readFileSync(join(own, 'THIRD-PARTY-NOTICES.txt'), 'utf8'),
      version: sluice('--version'),
      demo: sluice('demo', '--quiet', '--workspace', 'runs'),
      hasDemoExport: existsSync(join(elsewhere, 'runs/demo/results.csv')),
      topic: sluice('help', 'results'),
      completed: sluice('__complete', 'completion', 'f.'),
      page: await openWindow(launcher, surroundings),
      hasManPage: existsSync(join(prefix, 'share/man/man1/sluice-load.1')),
    }
  })
}

function run(
  command: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; shell?: boolean },
) {
  const result = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')}:\n${result.stdout}${result.stderr}`)
  return result
}

function listFiles(folder: string): Map<string, number> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name))
  return new Map(paths.map((path) => [relative(folder, path).replaceAll(sep, '/'), statSync(path).size]))
}

/** The page that `sluice open` serves to an admitted browser. */
async function openWindow(
  launcher: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(process.execPath, [launcher, 'open', '--no-browser', '--workspace', 'window'], options)
  try {
    const [address] = await once(child.stdout.setEncoding('utf8'), 'data')
    const { origin, host, port, hash } = new URL(String(address).trim())
    const ask = async (method: string, path: string, headers: Record<string, string>, body = '') => {
      const call = request({
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { host, origin, ...headers },
      }).end(body)
      const [response] = await once(call, 'response')
      return {
        cookie: String(response.headers['set-cookie']).split(';', 1).join(),
        body: await text(response),
      }
    }
    const { cookie } = await ask('POST', '/session', { 'content-type': 'text/plain' }, hash.slice(1))
    return (await ask('GET', '/', { cookie })).body
  } finally {
    child.kill('SIGINT')
    await once(child, 'close')
  }
}

describe.runIf(inject('isLong'))('the packed command line', () => {
  let installed: Installed

  beforeAll(async () => {
    installed = await tryInstalled()
  }, 120_000)

  it('holds only files that run, and the notices', () => {
    const expected =
      /^(package\.json|LICENSE|README\.md|THIRD-PARTY-NOTICES\.txt|bin\/sluice\.cjs|man\/sluice(-[\w-]+)?\.1|main\/[\w-]+\.js|main\/[\w-]*sample\.csv|keyring\/(index\.js|package\.json|keyring\.[\w-]+\.node)|docs\/([\w-]+\.md|plan\.schema\.json)|renderer\/index\.html|renderer\/assets\/[\w-]+\.(js|css|svg))$/
    expect([...installed.files.keys()].filter((path) => !expected.test(path))).toEqual([])
    expect([...installed.files.keys()]).toEqual(
      expect.arrayContaining([
        'main/installed.js',
        'main/run-worker.js',
        'main/load-worker.js',
        'main/sent-before-worker.js',
        'main/query-worker.js',
        'main/receiver-worker.js',
        'main/sandbox-worker.js',
        'main/sample.csv',
        'main/async-sample.csv',
        'main/terms-sample.csv',
        'main/keyring-process.js',
        'main/sql-process.js',
        'keyring/index.js',
        'man/sluice.1',
        'man/sluice-load.1',
      ]),
    )
  })

  it.skipIf(isWindows)('installs its man pages where man looks', () => {
    expect(installed.hasManPage).toBe(true)
  })

  it('takes at most 40 MB and needs no other package', () => {
    const sizeBytes = [...installed.files.values()].reduce((sum, size) => sum + size, 0)
    expect(sizeBytes).toBeLessThan(40e6)
    expect(installed.printed).toContain(`${(sizeBytes / 1e6).toFixed(1)} MB when installed`)
    expect([...new Set(installed.packages)]).toEqual([])
  })

  it('ships the licence of every package in it', () => {
    for (const name of ['commander', 'undici', 'react', 'mediabunny', '@napi-rs/keyring']) {
      expect(installed.notices).toMatch(new RegExp(`^${name} \\d.+\\(.+\\)\n`, 'm'))
    }
  })

  it('is installed as sluice', () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
    expect(installed.version).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('starts its threads and reads its samples, with paths relative to the current folder', () => {
    expect(installed.demo).toMatchObject({ status: 0, stderr: '' })
    expect(installed.hasDemoExport).toBe(true)
  })

  it('prints commands that can be pasted', () => {
    expect(installed.demo.stdout).toMatch(/^ {2}sluice --workspace runs show \S+ --row 60/m)
    expect(installed.demo.stdout).not.toContain('npm run')
  })

  it('shows pages of the documentation and completes words', () => {
    expect(installed.topic.stdout).toMatch(/^Results\n/)
    expect(installed.completed.stdout).toBe('none\nfish\t\n')
  })

  it('serves the window', () => {
    expect(installed.page).toMatch(/<div id="root"><\/div>/)
  })
})

describe('the launcher', () => {
  it('names the required Node if an older one runs it, in syntax that every Node can parse', async () => {
    const launcher = join(PROJECT_FOLDER, 'scripts/pack-cli/sluice.cjs')
    const oldNode = await withTemporaryFolder(async (folder) => {
      const old = join(folder, 'old.cjs')
      writeFileSync(old, `Object.defineProperty(process, 'versions', { value: { node: '6.17.1' } })`)
      return spawnSync(process.execPath, ['--require', old, launcher, '--version'], { encoding: 'utf8' })
    })
    expect(oldNode).toMatchObject({ status: 2, stdout: '' })
    expect(oldNode.stderr).toMatch(/^sluice: needs Node\.js 24\.18 or newer, found 6\.17\.1 at .+\.\n/)
    expect(readFileSync(launcher, 'utf8')).not.toMatch(
      /\b(const|let|class|import|async)\b|=>|`|\?\.|\?\?|\.\.\./,
    )
  })
})
