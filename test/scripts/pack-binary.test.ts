import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { readExecutableFormat, removeWindowsSignature } from '../../scripts/pack-binary/executable-format.ts'
import { TARGETS, type Target, type TargetName } from '../../scripts/pack-binary/targets.ts'
import { copyGolden } from '../golden/answers.ts'
import { openTestFolder } from '../helpers/test-folder.ts'
import { PROJECT_FOLDER } from '../house-rules/read-module.ts'

const folder = openTestFolder()
const { version, optionalDependencies }: { version: string; optionalDependencies: Record<string, string> } =
  JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
const targets = Object.entries(TARGETS) as [TargetName, Target][]
const here = `${process.platform}-${process.arch}`
const [ownName = null] = targets.find(([, { runsOn }]) => runsOn === here) ?? []

/** Starts the script as `npm run pack:binary` does. */
function pack(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(
    process.execPath,
    [join(PROJECT_FOLDER, 'scripts/pack-binary/main.ts'), '--to', folder, ...args],
    { cwd: PROJECT_FOLDER, encoding: 'utf8' },
  )
}

/** Builds an executable and returns its path. */
function build(target: TargetName): string {
  const { status, stdout, stderr } = pack('--target', target)
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return /^(.+): [\d.]+ MB$/m.exec(stdout)?.[1] ?? ''
}

describe('the executables', () => {
  it('hold the Node 24 that npm ci installs for their system, if it installs one', () => {
    const versions = targets.map(([name, target]) => [
      name,
      target.package && optionalDependencies[target.package],
    ])
    expect(versions).toEqual([
      ['linux-x64', expect.stringMatching(/^24\./)],
      ['linux-arm64', expect.stringMatching(/^24\./)],
      ['mac-x64', expect.stringMatching(/^24\./)],
      ['mac-arm64', null],
      ['win-x64', expect.stringMatching(/^24\./)],
      ['win-arm64', null],
    ])
  })

  it('are built on their own system if no package has their Node, and are listed if the name is unknown', () => {
    const foreign = here === 'darwin-arm64' ? 'win-arm64' : 'mac-arm64'
    expect(pack('--target', foreign)).toMatchObject({
      status: 1,
      stderr: `pack:binary: the one for ${TARGETS[foreign].runsOn} is built on such a machine\n`,
    })
    expect(pack('--target', 'solaris').stderr).toMatch(
      /^pack:binary: no target solaris; there are linux-x64, /,
    )
  })

  it('are distinguished by their headers from Node on its own', () => {
    const node = readExecutableFormat(readFileSync(process.execPath))
    const own = targets.find(([, { runsOn }]) => runsOn === here)?.[1]
    expect(node).toMatchObject({ system: own?.system, processor: own?.processor, holdsProgram: false })
    expect(() => readExecutableFormat(Buffer.from('#!/bin/sh\nexec node'))).toThrow('no program of Linux')
  })

  it('lose only a signature that no longer matches', () => {
    const signed = buildWindowsProgram('code', 'signature')
    expect(readExecutableFormat(signed)).toMatchObject({ system: 'win', processor: 'x64', isSigned: true })
    const unsigned = removeWindowsSignature(signed)
    expect(readExecutableFormat(unsigned)).toMatchObject({ isSigned: false })
    expect(unsigned.subarray(-4).toString()).toBe('code')
    expect(removeWindowsSignature(unsigned)).toBe(unsigned)
    expect(() => removeWindowsSignature(Buffer.concat([signed, Buffer.from('more')]))).toThrow(
      'is not its end',
    )
  })
})

/** The headers of a Windows program, followed by its content and its signature. */
function buildWindowsProgram(code: string, signature: string): Buffer {
  const [header, optional] = [64, 64 + 24]
  const file = Buffer.alloc(optional + 240)
  file.write('MZ')
  file.writeUInt32LE(header, 0x3c)
  file.write('PE\0\0', header, 'latin1')
  file.writeUInt16LE(0x8664, header + 4)
  file.writeUInt16LE(240, header + 20)
  const security = optional + 112 + 4 * 8
  file.writeUInt32LE(file.length + code.length, security)
  file.writeUInt32LE(signature.length, security + 4)
  return Buffer.concat([file, Buffer.from(code), Buffer.from(signature)])
}

// Each test fetches the Node of its system, so only `npm run test:binary` builds them.
describe.runIf(inject('everyTarget'))('the executable of another system', () => {
  it.each(targets.filter(([name, target]) => name !== ownName && target.package !== null))(
    'has the format, the processor and our files: %s',
    (name, { system, processor }) => {
      const format = readExecutableFormat(readFileSync(build(name)))
      // Those for macOS are signed there, and those for Windows by the holder of a certificate.
      expect(format).toEqual({ system, processor, holdsProgram: true, isSigned: false })
    },
    600_000,
  )
})

describe.runIf(inject('isLong') && ownName !== null)('the executable of this system', () => {
  const isWindows = process.platform === 'win32'
  const work = join(folder, 'work')
  const home = join(folder, 'home')
  let program = ''

  /** An environment with only a home: no PATH that leads to Node, and no variable that Node reads. */
  const environment = isWindows
    ? {
        SystemRoot: process.env['SystemRoot'],
        LOCALAPPDATA: home,
        APPDATA: home,
        USERPROFILE: home,
        SLUICE_API_KEY: 'sandbox-key',
      }
    : { HOME: home, PATH: join(folder, 'nothing'), SLUICE_API_KEY: 'sandbox-key', LANG: 'C.UTF-8' }
  const sluice = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync(program, args, { cwd: work, env: { ...environment, ...env }, encoding: 'utf8' })

  beforeAll(() => {
    for (const path of [work, home]) mkdirSync(path)
    program = process.env['SLUICE_EXECUTABLE'] ?? build(ownName ?? 'linux-x64')
  }, 300_000)

  it('runs the demo from an empty folder, without Node', () => {
    const demo = sluice(['demo', '--quiet', '--workspace', 'runs'])
    expect(demo).toMatchObject({ status: 0, stderr: '' })
    expect(demo.stdout).toMatch(/^ {2}sluice --workspace runs show \S+ --row 60/m)
    expect(existsSync(join(work, 'runs/demo/results.csv'))).toBe(true)
  })

  it('prints its version, shows pages and completes words', () => {
    expect(sluice(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
    expect(sluice(['help', 'results']).stdout).toMatch(/^Results\n/)
    expect(sluice(['__complete', 'completion', 'f.']).stdout).toBe('none\nfish\t\n')
  })

  it('runs a load test that writes its seconds to a file', async () => {
    writeFileSync(join(work, 'posts.csv'), 'text_data,user_id\nhello,user1\nworld,user2\n')
    const sandbox = spawn(program, ['sandbox', '--port', '0'], { cwd: work, env: environment })
    try {
      const [line] = await once(sandbox.stdout.setEncoding('utf8'), 'data')
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))?.[0] ?? ''
      const load = sluice([
        'load',
        'posts.csv',
        '--base-url',
        url,
        '--requests',
        '40',
        '--concurrency',
        '4',
        '--out',
        'ndjson=seconds.ndjson',
        '--quiet',
        '--json',
      ])
      expect(load).toMatchObject({ status: 0, stderr: '' })
      const seconds = readFileSync(join(work, 'seconds.ndjson'), 'utf8').trimEnd().split('\n')
      expect(seconds.map((second) => JSON.parse(second)).length).toBeGreaterThan(0)
    } finally {
      sandbox.kill('SIGINT')
      await once(sandbox, 'close')
    }
  })

  it('opens a workspace of version 0.1.0, and runs SQL on its journals in a separate process', () => {
    copyGolden('retried', join(work, 'older'))
    const listed = sluice(['runs', '--workspace', 'older', '--json'])
    expect(listed).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(listed.stdout).length).toBeGreaterThan(0)
    const asked = sluice([
      'sql',
      'latest',
      'SELECT state, count(*) AS n FROM rows GROUP BY state',
      '--format',
      'csv',
      '--workspace',
      'older',
    ])
    expect(asked).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/succeeded,\d+/) })
  })

  it('takes no options for Node from its arguments or the environment', () => {
    const hook = join(folder, 'hook.cjs')
    writeFileSync(hook, `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'hooked'))}, '')`)
    expect(sluice(['--version'], { NODE_OPTIONS: `--require ${hook}` }).status).toBe(0)
    expect(sluice(['--require', hook, 'runs']).status).toBe(2)
    expect(existsSync(join(folder, 'hooked'))).toBe(false)
  })

  it('says where it cannot unpack its files, and what helps', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const variable = isWindows ? 'LOCALAPPDATA' : process.platform === 'darwin' ? 'HOME' : 'XDG_CACHE_HOME'
    const refused = sluice(['--version'], { [variable]: file })
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(refused.stderr).toContain('sluice: cannot unpack its files into ')
    expect(refused.stderr).toContain(`set ${variable} to a folder that only you can write to.`)
  })
})
