import { describe, expect, it } from 'vitest'
import { toMediaAnswer } from '../../../../src/main/engine/receiver/media-file.ts'

const MODIFIED_MS = Date.parse('2026-11-21T12:00:00.750Z')
const MODIFIED = 'Sat, 21 Nov 2026 12:00:00 GMT'
const EARLIER = 'Sat, 21 Nov 2026 11:59:59 GMT'
const FILE = { sizeBytes: 100, modifiedAtMs: MODIFIED_MS, etag: '"e"' }
const NONE = {
  isHead: false,
  range: undefined,
  ifRange: undefined,
  ifNoneMatch: undefined,
  ifModifiedSince: undefined,
}

function toPart(range: string, sizeBytes = 100): string {
  const answer = toMediaAnswer({ ...FILE, sizeBytes }, { ...NONE, range })
  return 'firstByte' in answer
    ? `${answer.status} ${answer.firstByte}-${answer.lastByte}`
    : String(answer.status)
}

describe('the part of a file that is sent', () => {
  it.each([
    ['bytes=0-0', '206 0-0'],
    ['bytes=10-19', '206 10-19'],
    ['bytes=90-', '206 90-99'],
    ['bytes=90-1000', '206 90-99'],
    ['bytes=99-999999999999999', '206 99-99'],
    ['bytes=-1', '206 99-99'],
    ['bytes=-100', '206 0-99'],
    ['bytes=-101', '206 0-99'],
    ['Bytes= 10-19 ', '206 10-19'],
    ['bytes=100-', '416'],
    ['bytes=100-200', '416'],
    ['bytes=-0', '416'],
    ['bytes=19-10', '200 0-99'],
    ['bytes=-', '200 0-99'],
    ['bytes=', '200 0-99'],
    ['bytes=a-b', '200 0-99'],
    ['bytes=0x1-2', '200 0-99'],
    ['bytes=1-2-3', '200 0-99'],
    ['bytes=--5', '200 0-99'],
    ['items=0-5', '200 0-99'],
    ['bytes=0-1,5-6', '200 0-99'],
    ['bytes=99999999999999999999-', '200 0-99'],
    ['', '200 0-99'],
  ])('for %j is %s', (range, part) => {
    expect(toPart(range)).toBe(part)
  })

  it('is nothing of an empty file', () => {
    expect(['bytes=0-0', 'bytes=-5', 'bytes=0-'].map((range) => toPart(range, 0))).toEqual([
      '416',
      '416',
      '416',
    ])
    expect(toPart('', 0)).toBe('200 0--1')
  })

  it('is the whole file for a HEAD request', () => {
    expect(toMediaAnswer(FILE, { ...NONE, isHead: true, range: 'bytes=0-0' }).status).toBe(200)
  })

  it.each([
    ['"e"', 206],
    ['W/"e"', 200],
    ['"other"', 200],
    [MODIFIED, 206],
    [EARLIER, 200],
    ['nonsense', 200],
  ])("is the whole file if the client's version is outdated: If-Range %s", (ifRange, status) => {
    expect(toMediaAnswer(FILE, { ...NONE, range: 'bytes=0-9', ifRange }).status).toBe(status)
  })
})

describe('a file that the client has already', () => {
  it.each([
    [{ ifNoneMatch: '"e"' }, 304],
    [{ ifNoneMatch: 'W/"e"' }, 304],
    [{ ifNoneMatch: '"a", "e"' }, 304],
    [{ ifNoneMatch: '*' }, 304],
    [{ ifNoneMatch: '"a"' }, 200],
    [{ ifNoneMatch: '"a"', ifModifiedSince: MODIFIED }, 200],
    [{ ifModifiedSince: MODIFIED }, 304],
    [{ ifModifiedSince: EARLIER }, 200],
    [{ ifModifiedSince: 'nonsense' }, 200],
    [{ ifNoneMatch: '"e"', range: 'bytes=500-' }, 304],
  ])('is not sent again: %j', (conditions, status) => {
    expect(toMediaAnswer(FILE, { ...NONE, ...conditions }).status).toBe(status)
    expect(toMediaAnswer(FILE, { ...NONE, ...conditions, isHead: true }).status).toBe(status)
  })
})
