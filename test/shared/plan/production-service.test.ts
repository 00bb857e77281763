import { expect, test } from 'vitest'
import { findProduction, toService } from '../../../src/shared/plan/production-service.ts'

const LIVE = {
  name: 'live',
  baseUrl: 'https://api.example.com/v1',
  taskBaseUrl: 'https://[2001:db8::1]:8443',
  isProduction: true,
}
const KNOWN = [{ name: 'staging', baseUrl: 'https://staging.example.com', isProduction: false }, LIVE]

test.each([
  'https://api.example.com',
  'http://api.example.com',
  'http://api.example.com:8080',
  'https://api.example.com:444/elsewhere',
  'https://API.Example.COM',
  'https://api.example.com.',
  'https://user:word@api.example.com',
  'https://ａｐｉ.example.com',
  'https://api%2Eexample.com',
  'http://[2001:db8:0:0::1]',
  'http://[2001:0DB8::0001]:9000',
])('%s is the production service that is stored as https://api.example.com', (baseUrl) => {
  const reached = [{ baseUrl }, { baseUrl: 'https://other.example', taskBaseUrl: baseUrl }]
  for (const one of reached) expect(findProduction(KNOWN, one)).toBe(LIVE)
  expect(findProduction(KNOWN, { baseUrl: 'https://other.example', proxy: { url: baseUrl } })).toBe(LIVE)
})

test.each([
  'https://example.com',
  'https://api.example.com.other.example',
  'https://xapi.example.com',
  'https://other.example/api.example.com',
  'https://api.example.com@other.example',
  'https://staging.example.com',
  'http://[2001:db8::2]',
])('%s is not a production service', (baseUrl) => {
  expect(findProduction(KNOWN, { baseUrl })).toBeNull()
})

test('a production connection that a plan names is production, whatever the address', () => {
  expect(findProduction(KNOWN, { name: 'live', baseUrl: 'https://other.example' })).toBe(LIVE)
  expect(findProduction(KNOWN, { name: 'staging', baseUrl: 'http://api.example.com' })).toBe(LIVE)
})

test('an IPv4 address is the same service in each IPv6 spelling', () => {
  for (const url of ['http://[::ffff:192.0.2.7]', 'https://[::FFFF:c000:207]:1', 'http://3221225991']) {
    expect(toService(url)).toBe(toService('https://192.0.2.7'))
  }
})

test('this machine is one service per port, whatever its name', () => {
  for (const url of [
    'https://127.0.0.1:8080',
    'http://LOCALHOST.:8080',
    'http://[::1]:8080',
    'http://[::]:8080',
  ]) {
    expect(toService(url)).toBe(toService('http://localhost:8080'))
  }
  expect(toService('http://localhost:8081')).not.toBe(toService('http://localhost:8080'))
  expect(toService('https://localhost')).toBe(toService('http://localhost:443'))
})
