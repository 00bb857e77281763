import { expect, test } from 'vitest'
import type { Answer } from '../../../../src/main/engine/service/exchange.ts'
import { toRedirectMessage } from '../../../../src/main/engine/service/redirect-message.ts'

function say(baseUrl: string, location: string | null, status = 308): string {
  return toRedirectMessage({ status, location } as Answer, baseUrl)
}

test.each([
  ['https://api.test', 'https://api.test/api/v1/task/'],
  ['https://api.test/', '/api/v1/task/'],
  ['https://api.test/base', '/base/api/v1/appeal/a1/status/?x=1'],
])('a redirect to the same path with a slash says that no base URL helps (%s to %s)', (baseUrl, location) => {
  expect(say(baseUrl, location)).toBe(
    'answered 308, a redirect to the same path with a slash at its end, which is not followed, so that the key stays here; another base URL does not help: have the service, or the proxy before it, answer without that slash',
  )
})

test.each([
  ['http://api.test', 'https://api.test/api/v1/task', 'https://api.test'],
  ['https://api.test', 'https://eu.api.test/api/v1/task/async', 'https://eu.api.test'],
  ['https://api.test', '/moderation/api/v1/task/', 'https://api.test/moderation'],
  ['https://api.test/old/', '/api/v2/task', 'https://api.test'],
])('a redirect of the whole service names the base URL to set (%s to %s)', (baseUrl, location, suggested) => {
  expect(say(baseUrl, location, 301)).toMatch(`; set the base URL to ${suggested}`)
})

test('a redirect to the same base URL says that another one does not help', () => {
  expect(say('https://api.test', '/api/v1/task?again=1', 307)).toContain('another one does not help')
})

test('a redirect elsewhere, such as to a sign-in page, hides its path and query', () => {
  const message = say('https://api.test', 'https://login.test/sign-in?token=abc', 302)
  expect(message).toBe(
    "answered 302, a redirect to https://login.test, which is not followed, so that the key stays here; it leads to none of the service's paths: check the base URL, and what stands before the service",
  )
})

test.each([null, 'http://[', ''])('a redirect without a usable address says so (%j)', (location) => {
  expect(say('https://api.test', location)).toMatch(
    /redirect (elsewhere|to https:\/\/api\.test), which is not followed/,
  )
})
