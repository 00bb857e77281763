import type { Configuration } from 'electron-builder'

/** How the app is packed, on top of `electron-builder.yml`. */
export interface Packaging {
  config: Configuration
  isSigned: boolean
  /** Why the app is not signed, or `''`. */
  reason: string
}

/** What notarising a signed app for macOS takes: an App Store Connect key, whose first is the path of a file. */
const APPLE_KEY = ['APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER'] as const

/** What Azure Trusted Signing takes: who asks, and with which certificate. */
const AZURE_IDENTITY = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'] as const
const AZURE_CERTIFICATE = {
  publisherName: 'SLUICE_AZURE_PUBLISHER',
  endpoint: 'SLUICE_AZURE_ENDPOINT',
  certificateProfileName: 'SLUICE_AZURE_PROFILE',
  codeSigningAccountName: 'SLUICE_AZURE_ACCOUNT',
} as const

function listMissing(env: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  return names.filter((name) => !env[name])
}

/** Part of the credentials is a mistake that must not end in an unsigned release. */
function hasAll(env: NodeJS.ProcessEnv, names: readonly string[]): boolean {
  const missing = listMissing(env, names)
  if (missing.length === 0) return true
  if (missing.length === names.length) return false
  throw new Error(`signing needs all of ${names.join(', ')}; missing: ${missing.join(', ')}`)
}

/** The repository of a workflow, as the place that the app asks for updates, and as the page that packages name. */
function toUpdateSource(env: NodeJS.ProcessEnv): Configuration {
  const [owner, repo] = (env['GITHUB_REPOSITORY'] ?? '').split('/')
  if (!owner || !repo) return { publish: null }
  const homepage = `https://github.com/${owner}/${repo}`
  return { publish: [{ provider: 'github', owner, repo }], extraMetadata: { homepage } }
}

/** Port of this machine at which an app that was packed to try an update looks for it. */
export const UPDATE_TRIAL_PORT = 18_613

/** How an app is packed that tries to update itself on the machine that packs it, and is given to nobody. */
export function toUpdateTrial(packaging: Packaging): Packaging {
  const publish = [{ provider: 'generic' as const, url: `http://127.0.0.1:${UPDATE_TRIAL_PORT}` }]
  return { ...packaging, config: { ...packaging.config, publish } }
}

function packMac(env: NodeJS.ProcessEnv): Packaging {
  if (!hasAll(env, ['CSC_LINK', 'CSC_KEY_PASSWORD'])) {
    // Apple silicon runs nothing without any signature. An ad-hoc one has no team, so that the hardened runtime
    // would refuse Electron's own libraries unless library validation were off.
    const config = { mac: { identity: '-', hardenedRuntime: false, notarize: false } }
    return { config, isSigned: false, reason: 'CSC_LINK and CSC_KEY_PASSWORD are not set' }
  }
  const notarize = hasAll(env, APPLE_KEY)
  return { config: { forceCodeSigning: true, mac: { notarize } }, isSigned: true, reason: '' }
}

function packWindows(env: NodeJS.ProcessEnv): Packaging {
  const names = [...AZURE_IDENTITY, ...Object.values(AZURE_CERTIFICATE)]
  if (!hasAll(env, names)) {
    const config = { win: { signExecutable: false } }
    return { config, isSigned: false, reason: `${AZURE_IDENTITY.join(', ')} are not set` }
  }
  const read = (key: keyof typeof AZURE_CERTIFICATE) => env[AZURE_CERTIFICATE[key]] ?? ''
  const azureSignOptions = {
    publisherName: read('publisherName'),
    endpoint: read('endpoint'),
    certificateProfileName: read('certificateProfileName'),
    codeSigningAccountName: read('codeSigningAccountName'),
  }
  return { config: { forceCodeSigning: true, win: { azureSignOptions } }, isSigned: true, reason: '' }
}

/**
 * How to pack on a system with the credentials of an environment. Throws if only part of the credentials is set. A
 * package asks for updates only if it was made by a workflow of a repository, which is then the place that it asks.
 */
export function toPackaging(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): Packaging {
  const packaging =
    platform === 'darwin'
      ? packMac(env)
      : platform === 'win32'
        ? packWindows(env)
        : { config: {}, isSigned: false, reason: 'Linux packages carry no signature' }
  return { ...packaging, config: { ...packaging.config, ...toUpdateSource(env) } }
}
