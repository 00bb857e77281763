import type { Configuration } from 'electron-builder'

/** How to pack the app, in addition to `electron-builder.yml`. */
export interface Packaging {
  config: Configuration
  isSigned: boolean
  /** Why the app is not signed, or `''`. */
  reason: string
}

/**
 * Variables for notarising a signed macOS app: an App Store Connect key; the first is the path of its file.
 */
const APPLE_KEY = ['APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER'] as const

/** Variables for Azure Trusted Signing: the client and the certificate. */
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

/**
 * Whether all variables are set. Throws if only some are, so that a mistake does not end in an unsigned
 * release.
 */
function hasAll(env: NodeJS.ProcessEnv, names: readonly string[]): boolean {
  const missing = listMissing(env, names)
  if (missing.length === 0) return true
  if (missing.length === names.length) return false
  throw new Error(`signing needs all of ${names.join(', ')}; missing: ${missing.join(', ')}`)
}

/** The workflow's repository, as the place to ask for updates and the page that packages name. */
function toUpdateSource(env: NodeJS.ProcessEnv): Configuration {
  const [owner, repo] = (env['GITHUB_REPOSITORY'] ?? '').split('/')
  if (!owner || !repo) return { publish: null }
  const homepage = `https://github.com/${owner}/${repo}`
  return { publish: [{ provider: 'github', owner, repo }], extraMetadata: { homepage } }
}

/** The local port at which an app packed for an update trial looks for updates. */
export const UPDATE_TRIAL_PORT = 18_613

/** How to pack an app for an update trial on the same machine. It is never given out. */
export function toUpdateTrial(packaging: Packaging): Packaging {
  const publish = [{ provider: 'generic' as const, url: `http://127.0.0.1:${UPDATE_TRIAL_PORT}` }]
  return { ...packaging, config: { ...packaging.config, publish } }
}

function packMac(env: NodeJS.ProcessEnv): Packaging {
  if (!hasAll(env, ['CSC_LINK', 'CSC_KEY_PASSWORD'])) {
    // Apple silicon runs nothing unsigned. An ad-hoc signature has no team, so the hardened runtime would
    // refuse Electron's own libraries unless library validation is off.
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
 * How to pack on a system, given the credentials in the environment. Throws if they are incomplete. The app
 * asks for updates only if a repository's workflow built it, and then at that repository.
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
