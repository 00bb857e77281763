import { describe, expect, it } from 'vitest'
import { sayCorrectedUrl, toBaseUrl } from '../../../src/shared/service/base-url.ts'

describe('a base URL', () => {
  it('loses the path that is added for each request', () => {
    for (const path of [
      '/api/v1',
      '/api/v1/',
      '/api/v2',
      '/api/v1/text',
      '/api/v1/task/sync',
      '/api/v2/task/async/',
      '/api/v1/custom_index/7/add/sync',
      '/api/v1/api/v1/task/sync',
      '/API/V1/',
      '//api//v1',
    ]) {
      expect([path, toBaseUrl(`https://api.example.com${path}`)]).toEqual([path, 'https://api.example.com'])
      expect(sayCorrectedUrl(`https://api.example.com${path}`)).toContain(
        'Using https://api.example.com as the base URL',
      )
    }
    expect(toBaseUrl('https://example.com/moderation/api/v1/task/sync')).toBe(
      'https://example.com/moderation',
    )
  })

  it('keeps the prefix of a deployment', () => {
    for (const url of [
      'https://example.com/moderation',
      'https://example.com/api',
      'https://example.com/v1',
      'https://example.com/api/v1beta',
      'https://example.com/my-api/v1',
      'https://example.com/api/eu',
      'https://api.v1.example.com',
    ]) {
      expect([url, toBaseUrl(url), sayCorrectedUrl(url)]).toEqual([url, url, null])
    }
  })
})
