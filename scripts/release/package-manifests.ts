// The files that package managers need to install a release: Homebrew's formula, the manifests of Scoop and
// winget, and the container file, each with the addresses and hashes of the release's files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { TARGETS, type TargetName, toArchiveName } from '../pack-binary/targets.ts'
import { toCommandLineName } from './release-files.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** The version of winget's manifest schemas. */
const WINGET_VERSION = '1.10.0'

/** The parts of a release that the manifests need. */
export interface PublishedRelease {
  version: string
  /** OWNER/NAME of the repository whose release it is. */
  repository: string
  /** Hash of a release file, in hexadecimal. */
  sha256: (name: string) => string
  /** The release date, such as 2026-11-27. */
  date: string
}

/** The name and content of a file. */
interface TextFile {
  name: string
  text: string
}

export function writeManifests(release: PublishedRelease): TextFile[] {
  const about = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
  return [
    { name: 'sluice.rb', text: writeFormula(release, about) },
    { name: 'sluice.json', text: writeScoopManifest(release, about) },
    ...writeWingetManifests(release, about),
    { name: 'Containerfile', text: writeContainerfile(release, about) },
  ]
}

/** Project details from package.json. */
interface About {
  description: string
  license: string
  author: string
  keywords: string[]
}

const toPage = ({ repository }: PublishedRelease) => `https://github.com/${repository}`
const toUrl = (release: PublishedRelease, name: string) =>
  `${toPage(release)}/releases/download/v${release.version}/${name}`

/** Address and hash of a target's archive. */
function findArchive(release: PublishedRelease, target: TargetName): { url: string; hash: string } {
  const name = toArchiveName(release.version, target)
  return { url: toUrl(release, name), hash: release.sha256(name) }
}

function writeFormula(release: PublishedRelease, { license }: About): string {
  const draw = (block: string, target: TargetName) => {
    const { url, hash } = findArchive(release, target)
    return `    ${block} do\n      url "${url}"\n      sha256 "${hash}"\n    end\n`
  }
  return `class Sluice < Formula
  desc "Send spreadsheets to a content moderation service, and load test it"
  homepage "${toPage(release)}"
  license "${license}"

  on_macos do
${draw('on_arm', 'mac-arm64')}${draw('on_intel', 'mac-x64')}  end

  on_linux do
${draw('on_arm', 'linux-arm64')}${draw('on_intel', 'linux-x64')}  end

  def install
    bin.install "sluice"
    generate_completions_from_executable(bin/"sluice", "completion", shells: [:bash, :zsh, :fish, :pwsh])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/sluice --version")
  end
end
`
}

const SCOOP_NAMES = { '64bit': 'win-x64', arm64: 'win-arm64' } as const

function writeScoopManifest(release: PublishedRelease, { description, license }: About): string {
  const architecture = Object.entries(SCOOP_NAMES).map(([name, target]) => [
    name,
    findArchive(release, target),
  ])
  const newer = Object.entries(SCOOP_NAMES).map(([name, target]) => [
    name,
    { url: `${toPage(release)}/releases/download/v$version/${toArchiveName('$version', target)}` },
  ])
  const manifest = {
    version: release.version,
    description,
    homepage: toPage(release),
    license,
    architecture: Object.fromEntries(architecture),
    bin: TARGETS['win-x64'].program,
    checkver: 'github',
    autoupdate: { architecture: Object.fromEntries(newer), hash: { url: '$baseurl/SHA256SUMS' } },
  }
  return `${JSON.stringify(manifest, null, 4)}\n`
}

function writeWingetManifests(release: PublishedRelease, about: About): TextFile[] {
  const [owner = ''] = release.repository.split('/')
  const PackageIdentifier = `${owner}.Sluice`
  const common = { PackageIdentifier, PackageVersion: release.version }
  const draw = (kind: string, ending: string, content: object) => {
    const schema = `https://aka.ms/winget-manifest.${kind}.${WINGET_VERSION}.schema.json`
    const manifest = { ...common, ...content, ManifestType: kind, ManifestVersion: WINGET_VERSION }
    return {
      name: `${PackageIdentifier}${ending}.yaml`,
      text: `# yaml-language-server: $schema=${schema}\n${stringify(manifest, { lineWidth: 0 })}`,
    }
  }
  const installers = (['x64', 'arm64'] as const).map((processor) => {
    const { url, hash } = findArchive(release, `win-${processor}`)
    return { Architecture: processor, InstallerUrl: url, InstallerSha256: hash.toUpperCase() }
  })
  const { program } = TARGETS['win-x64']
  return [
    draw('version', '', { DefaultLocale: 'en-US' }),
    draw('installer', '.installer', {
      InstallerType: 'zip',
      NestedInstallerType: 'portable',
      NestedInstallerFiles: [{ RelativeFilePath: program, PortableCommandAlias: 'sluice' }],
      Commands: ['sluice'],
      UpgradeBehavior: 'uninstallPrevious',
      ReleaseDate: release.date,
      Installers: installers,
    }),
    draw('defaultLocale', '.locale.en-US', {
      PackageLocale: 'en-US',
      Publisher: about.author,
      PublisherUrl: `https://github.com/${owner}`,
      PackageName: 'Sluice',
      PackageUrl: toPage(release),
      License: about.license,
      LicenseUrl: `${toPage(release)}/blob/v${release.version}/LICENSE`,
      ShortDescription: about.description,
      Moniker: 'sluice',
      Tags: about.keywords,
      ReleaseNotesUrl: `${toPage(release)}/releases/tag/v${release.version}`,
    }),
  ]
}

/**
 * The container file of scripts/pack-cli, changed to take the package from the release instead of from
 * `dist`.
 */
function writeContainerfile(release: PublishedRelease, { description, license }: About): string {
  const template = readFileSync(join(PROJECT_FOLDER, 'scripts/pack-cli/Containerfile'), 'utf8')
  const packed = toCommandLineName(release.version)
  const copy = 'COPY sluice-*.tgz /tmp/sluice.tgz\n'
  if (!template.includes(copy)) throw new Error('the container file copies no package')
  const labels = Object.entries({
    title: 'Sluice',
    description,
    licenses: license,
    version: release.version,
    source: toPage(release),
  }).map(([name, value]) => `org.opencontainers.image.${name}="${value}"`)
  return template
    .replace(
      /^# The command line for CI.*\n(#.*\n)*/,
      `# The command line of Sluice ${release.version} for CI, started as a plain user:
#   docker build -t sluice - < Containerfile
#   docker run --rm --init -e SLUICE_API_KEY -v "$PWD:/work" sluice task posts.csv --base-url https://api.example.com
`,
    )
    .replace(
      copy,
      `ADD --checksum=sha256:${release.sha256(packed)} ${toUrl(release, packed)} /tmp/sluice.tgz\nLABEL ${labels.join(' \\\n  ')}\n`,
    )
}
