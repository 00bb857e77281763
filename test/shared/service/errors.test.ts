import { describe, expect, it } from 'vitest'
import {
  isKeyRefusal,
  isServiceErrorBody,
  readServiceError,
  SERVICE_ERRORS,
  serviceErrorSchema,
} from '../../../src/shared/service/errors.ts'

const BODY = {
  error: true,
  status: 400,
  error_code: 'PARAM_REQUIRED',
  message: 'watchlist is required',
  show_alert: false,
}

describe('reading an error body', () => {
  it("reads the interface's body as its schema does", () => {
    const body = serviceErrorSchema.parse(BODY)
    expect(readServiceError(BODY)).toEqual({
      status: body.status,
      errorCode: body.error_code,
      message: body.message,
    })
    expect(isServiceErrorBody(BODY)).toBe(true)
  })

  it("reads as much as it can of a gateway's answer", () => {
    expect(readServiceError({ message: 'Forbidden' })).toEqual({
      status: null,
      errorCode: null,
      message: 'Forbidden',
    })
    expect(readServiceError({ status: 404, error: 'Not Found' })).toEqual({
      status: 404,
      errorCode: null,
      message: 'Not Found',
    })
    expect(readServiceError({ error: true })).toEqual({ status: null, errorCode: null, message: null })
  })

  it.each([[null], ['error'], [[]], [{}], [{ task_id: 't1' }], [{ error: false }], [{ error_code: 5 }]])(
    'returns null for %j',
    (body) => {
      expect(readServiceError(body)).toBeNull()
      expect(isServiceErrorBody(body)).toBe(false)
    },
  )
})

describe('the table of errors', () => {
  it('has both pairings of watchlist add, which contradict each other', () => {
    const ofAdd = SERVICE_ERRORS.filter((entry) => entry.operation === 'watchlist-add')
    expect(ofAdd.map(({ status, errorCode, consistent }) => [status, errorCode, consistent ?? true])).toEqual(
      [
        [400, 'PARAM_REQUIRED', true],
        [403, 'PARAM_REQUIRED', false],
        [400, 'INVALID_API_KEY', false],
      ],
    )
  })

  it('has every code in the interface', () => {
    expect([...new Set(SERVICE_ERRORS.map((entry) => entry.errorCode))].sort()).toEqual([
      'INVALID_API_KEY',
      'INVALID_APPEAL',
      'INVALID_CUSTOM_INDEX',
      'INVALID_CUSTOM_INDEX_ITEM',
      'PARAM_REQUIRED',
      'REQUIRE_AT_LEAST_ONE_PARAM',
    ])
  })
})

describe('a wrong key', () => {
  it('is recognised by its code, whatever the status', () => {
    expect(isKeyRefusal(403, 'INVALID_API_KEY')).toBe(true)
    expect(isKeyRefusal(400, 'INVALID_API_KEY')).toBe(true)
    expect(isKeyRefusal(null, 'INVALID_API_KEY')).toBe(true)
  })

  it('is recognised by 401 and 403 unless the code says something else that the interface knows', () => {
    expect(isKeyRefusal(401, null)).toBe(true)
    expect(isKeyRefusal(403, 'FORBIDDEN')).toBe(true)
    expect(isKeyRefusal(403, 'PARAM_REQUIRED')).toBe(false)
    expect(isKeyRefusal(400, null)).toBe(false)
    expect(isKeyRefusal(null, 'ECONNRESET')).toBe(false)
  })
})
