import { describe, expect, it } from 'vitest'
import { appealStatusPath } from '../../../src/shared/operations/appeal-status.ts'
import { indexAddPath } from '../../../src/shared/operations/index-add.ts'
import { indexRemovePath } from '../../../src/shared/operations/index-remove.ts'
import { operationSchema } from '../../../src/shared/operations/operations.ts'
import { taskPath } from '../../../src/shared/operations/task.ts'
import { isDotSegment, toAuthorization } from '../../../src/shared/service/endpoints.ts'

describe('paths of the service', () => {
  it('contain version and mode of a task, and request the legacy response from v1 only', () => {
    expect(taskPath({ api: 'v1', mode: 'sync', legacy: false })).toBe('/api/v1/task/sync')
    expect(taskPath({ api: 'v1', mode: 'async', legacy: true })).toBe('/api/v1/task/async?legacy=1')
    expect(taskPath({ api: 'v2', mode: 'sync', legacy: true })).toBe('/api/v2/task/sync')
  })

  it('keep an id within its segment', () => {
    expect(indexAddPath({ indexId: 'a/b ?', mode: 'sync' })).toBe('/api/v1/custom_index/a%2Fb%20%3F/add/sync')
    expect(indexRemovePath({ indexId: 'logos', mode: 'async' })).toBe(
      '/api/v1/custom_index/logos/remove/async',
    )
    expect(appealStatusPath('../keys')).toBe('/api/v1/appeals/status/..%2Fkeys')
  })

  it('refuse an id that would leave its segment, in any spelling', () => {
    for (const id of ['.', '..', '%2e', '%2E.', '.%2e', '%2e%2E', '%252e%252e']) {
      expect(isDotSegment(id), id).toBe(true)
      expect(() => indexAddPath({ indexId: id, mode: 'sync' }), id).toThrow('leave its place')
      expect(() => indexRemovePath({ indexId: id, mode: 'async' }), id).toThrow('leave its place')
      expect(() => appealStatusPath(id), id).toThrow('leave its place')
      expect(operationSchema.safeParse({ kind: 'index-add', indexId: id }).success, id).toBe(false)
      expect(operationSchema.safeParse({ kind: 'index-remove', indexId: id }).success, id).toBe(false)
    }
    for (const id of ['...', 'a.', '.a', '%2f', 'v1..2']) expect(isDotSegment(id), id).toBe(false)
  })

  it('are requested with the key as a token', () => {
    expect(toAuthorization('abc')).toBe('token abc')
  })
})
