import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  listCommandLineNames,
  listInstallerNames,
  toCommandLineName,
} from '../../../scripts/release/release-files.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { PROJECT_FOLDER } from '../../house-rules/read-module.ts'

const { version, dependencies }: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'),
)

function runScript(name: string, ...args: string[]) {
  return spawnSync(process.execPath, [join(PROJECT_FOLDER, 'scripts', 'release', name), ...args], {
    encoding: 'utf8',
    env: { ...process.env, GITHUB_REPOSITORY: 'acme/sluice' },
  })
}

/** A folder as the release machines fill it; each file has its own bytes. */
function fillRelease(): string {
  const folder = join(createTemporaryFolder(), 'release')
  mkdirSync(folder)
  const names = [...listInstallerNames(version).map(({ name }) => name), ...listCommandLineNames(version)]
  for (const name of names) writeFileSync(join(folder, name), `the bytes of ${name}`)
  return folder
}

const hash = (path: string, algorithm: string, encoding: 'hex' | 'base64') =>
  createHash(algorithm).update(readFileSync(path)).digest(encoding)

interface Feed {
  version: string
  path: string
  sha512: string
  releaseDate: string
  files: { url: string; sha512: string; size: number }[]
}

interface Bom {
  bomFormat: string
  specVersion: string
  metadata: { component: { name: string; version: string } }
  components: {
    'bom-ref': string
    name: string
    version: string
    purl: string
    licenses?: unknown[]
    hashes?: unknown[]
  }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

describe('describing a release', () => {
  it('adds checksums of every file, a bill of materials, and the feed of each system', () => {
    const folder = fillRelease()
    const { status, stderr } = runScript('describe-release.ts', folder)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })

    const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
    const summed = lines.map((line) => line.split('  '))
    expect(summed.map(([, name]) => name)).toEqual(
      readdirSync(folder)
        .filter((name) => name !== 'SHA256SUMS')
        .toSorted(),
    )
    for (const [sum, name = ''] of summed) expect(sum).toBe(hash(join(folder, name), 'sha256', 'hex'))

    const members: Record<string, number> = {
      'latest.yml': 2,
      'latest-mac.yml': 4,
      'latest-linux.yml': 3,
      'latest-linux-arm64.yml': 3,
    }
    const feeds = readdirSync(folder).filter((name) => name.endsWith('.yml'))
    expect(feeds.toSorted()).toEqual(Object.keys(members).toSorted())
    for (const name of feeds) {
      const feed: Feed = parse(readFileSync(join(folder, name), 'utf8'))
      expect(feed.version).toBe(version)
      expect(feed.files).toHaveLength(members[name] ?? 0)
      expect(feed).toMatchObject({ path: feed.files[0]?.url, sha512: feed.files[0]?.sha512 })
      expect(new Date(feed.releaseDate).toISOString()).toBe(feed.releaseDate)
      for (const { url, sha512, size } of feed.files) {
        const path = join(folder, url)
        expect(sha512).toBe(hash(path, 'sha512', 'base64'))
        expect(size).toBe(readFileSync(path).length)
      }
    }
    const { path }: Feed = parse(readFileSync(join(folder, 'latest-linux-arm64.yml'), 'utf8'))
    expect(path).toBe(`Sluice-${version}-linux-arm64.AppImage`)

    const bom: Bom = JSON.parse(readFileSync(join(folder, `sluice-${version}.cdx.json`), 'utf8'))
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' })
    expect(bom.metadata.component).toMatchObject({ name: 'sluice', version })
    const names = bom.components.map((component) => component.name)
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), 'electron']))
    expect(names).toContain('@napi-rs/keyring-darwin-arm64')
    expect(names.filter((name) => /^node-|vitest|biome|electron-builder/.test(name))).toEqual([])
    const incomplete = bom.components.filter(
      ({ purl, licenses, hashes }) => !purl.startsWith('pkg:npm/') || !licenses?.length || !hashes?.length,
    )
    expect(incomplete).toEqual([])
    const refs = new Set(bom.components.map((component) => component['bom-ref']))
    expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([])
  })

  it('adds the files for package managers, each with the address and hash of a release file', () => {
    const folder = fillRelease()
    expect(runScript('describe-release.ts', folder)).toMatchObject({ status: 0, stderr: '' })
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const toUrl = (name: string) => `https://github.com/acme/sluice/releases/download/v${version}/${name}`
    const toPair = (name: string) => [toUrl(name), hash(join(folder, name), 'sha256', 'hex')]

    const stated = [...read('sluice.rb').matchAll(/url "(.+)"\n\s+sha256 "(\w{64})"/g)]
    const systems = ['mac-arm64', 'mac-x64', 'linux-arm64', 'linux-x64']
    expect(stated.map(([, ...pair]) => pair)).toEqual(
      systems.map((target) => toPair(`sluice-${version}-${target}.tar.gz`)),
    )

    const [x64, arm64] = ['x64', 'arm64'].map((name) => toPair(`sluice-${version}-win-${name}.zip`))
    const { architecture, autoupdate, ...scoop } = JSON.parse(read('sluice.json'))
    expect(scoop).toMatchObject({ version, license: 'MIT', bin: 'sluice.exe' })
    expect(Object.values(architecture['64bit'])).toEqual(x64)
    expect(Object.values(architecture.arm64)).toEqual(arm64)
    expect(autoupdate.architecture.arm64.url.replaceAll('$version', version)).toBe(arm64?.[0])

    const endings = ['.yaml', '.installer.yaml', '.locale.en-US.yaml']
    const winget = endings.map((ending) => parse(read(`acme.Sluice${ending}`)))
    const common = { PackageIdentifier: 'acme.Sluice', PackageVersion: version }
    expect(winget).toMatchObject([common, common, common])
    const installers: Record<string, string>[] = winget[1].Installers
    expect(
      installers.map(({ InstallerUrl, InstallerSha256 = '' }) => [
        InstallerUrl,
        InstallerSha256.toLowerCase(),
      ]),
    ).toEqual([x64, arm64])

    const [address, sum] = toPair(toCommandLineName(version))
    expect(read('Containerfile')).toContain(`\nADD --checksum=sha256:${sum} ${address} /tmp/sluice.tgz\n`)
    expect(read('Containerfile')).not.toContain('COPY')
  })

  it('refuses a release with a missing installer or a file that does not belong to it', () => {
    const folder = fillRelease()
    const name = `Sluice-${version}-mac-x64.zip`
    rmSync(join(folder, name))
    expect(runScript('describe-release.ts', folder)).toMatchObject({
      status: 1,
      stderr: `release:describe: missing in ${folder}: ${name}\n`,
    })
    writeFileSync(join(folder, name), '')
    writeFileSync(join(folder, 'Sluice-0.0.1-mac-x64.zip'), '')
    expect(runScript('describe-release.ts', folder)).toMatchObject({
      status: 1,
      stderr: `release:describe: not part of version ${version}, in ${folder}: Sluice-0.0.1-mac-x64.zip\n`,
    })
    expect(readdirSync(folder)).not.toContain('SHA256SUMS')
  })
})

describe('the tag of a release', () => {
  it('is the version in package.json and has an entry in the changelog', () => {
    expect(runScript('check-tag.ts', 'v9.9.9')).toMatchObject({
      status: 1,
      stderr: `release:check-tag: the tag is v9.9.9, but package.json has ${version}\n`,
    })
    const changelog = readFileSync(join(PROJECT_FOLDER, 'CHANGELOG.md'), 'utf8')
    const isReleased = changelog.includes(`\n## [${version}]`)
    expect(runScript('check-tag.ts', `v${version}`).status).toBe(isReleased ? 0 : 1)
  })

  it.each([
    [
      'the text below its heading',
      '# Changelog\n\n## [1.2.0] - 2026-11-22\n\n- New.\n\n## [1.1.0]\n\n- Old.\n',
      '- New.',
    ],
    ['nothing without a heading of its own', '# Changelog\n\n## [Unreleased]\n\n- New.\n', null],
    ['nothing below an empty heading', '## [1.2.0]\n\n## [1.1.0]\n\n- Old.\n', ''],
  ])('has as its notes %s', async (_name, changelog, notes) => {
    const { findNotes } = await import('../../../scripts/release/release-notes.ts')
    expect(findNotes(changelog, '1.2.0')).toBe(notes)
  })
})
