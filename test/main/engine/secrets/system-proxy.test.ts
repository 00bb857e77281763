import { describe, expect, it } from 'vitest'
import {
  addSystemProxy,
  createEnvironmentProxies,
  findSystemRoute,
  parseProxyList,
} from '../../../../src/main/engine/secrets/system-proxy.ts'

const SERVICE = 'https://api.example.com/moderation'
const PROXY = 'http://proxy.example.com:3128'

describe('the proxy that the environment names', () => {
  it.each<[string, NodeJS.ProcessEnv, string | null]>([
    ['is that of HTTPS_PROXY', { HTTPS_PROXY: PROXY }, PROXY],
    ['is that of ALL_PROXY where there is no other', { ALL_PROXY: `${PROXY}/` }, PROXY],
    [
      'is the one in lower case where both are set',
      { https_proxy: PROXY, HTTPS_PROXY: 'http://other:1' },
      PROXY,
    ],
    ['may lack a scheme', { HTTPS_PROXY: 'proxy.example.com:3128' }, PROXY],
    [
      'may itself be reached by https',
      { HTTPS_PROXY: 'https://proxy.example.com' },
      'https://proxy.example.com',
    ],
    ['is none where the variable is empty', { HTTPS_PROXY: '' }, null],
    ['is not that of HTTP_PROXY', { HTTP_PROXY: PROXY }, null],
    ['is none for every host', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, null],
    ['is none for a host', { HTTPS_PROXY: PROXY, no_proxy: 'a.test, API.example.com' }, null],
    ['is none for hosts below a domain', { HTTPS_PROXY: PROXY, NO_PROXY: '.example.com' }, null],
    ['is none for hosts below a starred domain', { HTTPS_PROXY: PROXY, NO_PROXY: '*.example.com' }, null],
    ['is none for a host and port', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example.com:443' }, null],
    ['is kept for another port', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example.com:8443' }, PROXY],
    ['is none for a host with a dot at its end', { HTTPS_PROXY: PROXY, NO_PROXY: 'api.example.com.' }, null],
    ['is kept for a host that only ends alike', { HTTPS_PROXY: PROXY, NO_PROXY: 'ample.com' }, PROXY],
  ])('%s', async (_what, env, expected) => {
    expect((await createEnvironmentProxies(env)(SERVICE))?.proxy.url ?? null).toBe(expected)
  })

  it.each([
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['192.168.0.7', 'https://192.168.0.7:8443', true],
    ['192.168.0.7:8443', 'https://192.168.0.7', false],
    ['fe80::1', 'https://[fe80::1]', true],
    ['[fe80::1]', 'https://[fe80::1]', true],
    ['fd00::/8', 'https://[fd12::3]', true],
    ['fd00::/8', 'https://fd12.example.com', false],
    ['api.example.com', 'https://api.example.com./v1', true],
  ])('with NO_PROXY %s reads %s as excepted: %s', async (exceptions, url, isExcepted) => {
    const found = await createEnvironmentProxies({ HTTPS_PROXY: PROXY, NO_PROXY: exceptions })(url)
    expect(found === null).toBe(isExcepted)
  })

  it('accepts a password with a percent sign that encodes nothing', async () => {
    const found = await createEnvironmentProxies({
      HTTPS_PROXY: 'http://clerk:100%%2Fa%zz@proxy.example.com:3128',
    })(SERVICE)
    expect(found?.credentials?.toHeader(new URL(PROXY))).toBe(`Basic ${btoa('clerk:100%/a%zz')}`)
  })

  it('has its user name and password separate from its address', async () => {
    const find = createEnvironmentProxies({ HTTPS_PROXY: 'http://clerk:p%40ss@proxy.example.com:3128' })
    const found = await find(SERVICE)
    expect(found?.proxy).toEqual({ url: PROXY, credentialsEnv: 'HTTPS_PROXY' })
    expect(found?.credentials?.toHeader(new URL(PROXY))).toBe(`Basic ${btoa('clerk:p@ss')}`)
  })

  it.each([
    ['socks5://me:hunter2@proxy.example.com:1080', 'socks5://proxy.example.com:1080 is neither an HTTP nor'],
    ['http://me:hunter2@:x', 'HTTPS_PROXY must hold the address of a proxy'],
  ])('is refused if it cannot be used, without its password: %s', async (value, message) => {
    const refused = createEnvironmentProxies({ HTTPS_PROXY: value })(SERVICE)
    await expect(refused).rejects.toMatchObject({
      code: 'BAD_PLAN',
      message: expect.stringContaining(message),
    })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('hunter2') })
  })
})

describe('the proxy that the settings of the system name', () => {
  it.each([
    ['DIRECT', null],
    ['', null],
    ['PROXY proxy.example.com:3128', PROXY],
    ['PROXY proxy.example.com:3128; DIRECT', PROXY],
    ['HTTPS proxy.example.com:443;DIRECT', 'https://proxy.example.com'],
    ['SOCKS5 a.test:1080; PROXY proxy.example.com:3128', PROXY],
    ['DIRECT; PROXY proxy.example.com:3128', null],
  ])('is read from %j', (list, expected) => {
    expect(parseProxyList(list, SERVICE)?.proxy.url ?? null).toBe(expected)
  })

  it('is refused if only SOCKS proxies are named, with what to do', () => {
    expect(() => parseProxyList('SOCKS5 a.test:1080', SERVICE)).toThrow(
      'the proxy of this system for api.example.com cannot be used: SOCKS5 a.test:1080 is neither',
    )
  })
})

describe('requests go through a proxy of the system', () => {
  const find = createEnvironmentProxies({ ALL_PROXY: PROXY })

  it.each([
    [SERVICE, {}, { kind: 'proxy', url: PROXY }],
    [SERVICE, { systemProxy: false }, { kind: 'off' }],
    [SERVICE, { proxy: { url: 'http://own.test:1' } }, { kind: 'off' }],
    ['http://api.example.com', {}, { kind: 'unencrypted' }],
    ['https://127.0.0.1:8443', {}, { kind: 'direct' }],
    ['https://localhost', {}, { kind: 'direct' }],
  ])('from %s with %j: %j', async (url, choice, expected) => {
    expect(await findSystemRoute(url, choice, find)).toEqual(expected)
    const { connection } = await addSystemProxy(url, choice, null, find)
    expect(connection).toEqual(expected.kind === 'proxy' ? { ...choice, proxy: { url: PROXY } } : choice)
  })
})
