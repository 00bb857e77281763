import { describe, expect, it } from 'vitest'
import { toPackaging } from '../../../scripts/release/packaging.ts'

const APPLE = { APPLE_API_KEY: '/key.p8', APPLE_API_KEY_ID: 'ID', APPLE_API_ISSUER: 'issuer' }
const CERTIFICATE = { CSC_LINK: 'file:///certificate.p12', CSC_KEY_PASSWORD: 'x' }
const AZURE = {
  AZURE_TENANT_ID: 'tenant',
  AZURE_CLIENT_ID: 'client',
  AZURE_CLIENT_SECRET: 'x',
  SLUICE_AZURE_PUBLISHER: 'The Sluice authors',
  SLUICE_AZURE_ENDPOINT: 'https://weu.codesigning.azure.net',
  SLUICE_AZURE_PROFILE: 'profile',
  SLUICE_AZURE_ACCOUNT: 'account',
}

describe('packing', () => {
  it('signs and notarises for macOS with the credentials of both', () => {
    expect(toPackaging('darwin', { ...CERTIFICATE, ...APPLE })).toEqual({
      config: { forceCodeSigning: true, mac: { notarize: true }, publish: null },
      isSigned: true,
      reason: '',
    })
    expect(toPackaging('darwin', CERTIFICATE).config.mac).toEqual({ notarize: false })
  })

  it('makes an ad-hoc signature without a hardened runtime if there is no certificate, and says so', () => {
    const { config, isSigned, reason } = toPackaging('darwin', { CSC_LINK: '' })
    expect(config.mac).toEqual({ identity: '-', hardenedRuntime: false, notarize: false })
    expect({ isSigned, reason }).toEqual({
      isSigned: false,
      reason: 'CSC_LINK and CSC_KEY_PASSWORD are not set',
    })
  })

  it('signs for Windows with Azure or not at all', () => {
    const signed = toPackaging('win32', AZURE)
    expect(signed.isSigned).toBe(true)
    expect(signed.config).toMatchObject({
      forceCodeSigning: true,
      win: {
        azureSignOptions: {
          publisherName: 'The Sluice authors',
          endpoint: 'https://weu.codesigning.azure.net',
          certificateProfileName: 'profile',
          codeSigningAccountName: 'account',
        },
      },
    })
    expect(JSON.stringify(signed)).not.toContain('"x"')
    expect(toPackaging('win32', {})).toMatchObject({
      isSigned: false,
      config: { win: { signExecutable: false } },
    })
  })

  it('refuses incomplete credentials instead of leaving a release unsigned', () => {
    expect(() => toPackaging('darwin', { CSC_LINK: 'file:///certificate.p12' })).toThrow(
      'missing: CSC_KEY_PASSWORD',
    )
    expect(() => toPackaging('darwin', { ...CERTIFICATE, APPLE_API_KEY: '/key.p8' })).toThrow(
      'missing: APPLE_API_KEY_ID, APPLE_API_ISSUER',
    )
    expect(() => toPackaging('win32', { ...AZURE, AZURE_CLIENT_SECRET: '' })).toThrow(
      'missing: AZURE_CLIENT_SECRET',
    )
  })

  it('lets the app ask for updates at the repository that built it, or nowhere', () => {
    expect(toPackaging('linux', { GITHUB_REPOSITORY: 'someone/sluice' }).config.publish).toEqual([
      { provider: 'github', owner: 'someone', repo: 'sluice' },
    ])
    expect(toPackaging('linux', {}).config.publish).toBeNull()
  })
})
