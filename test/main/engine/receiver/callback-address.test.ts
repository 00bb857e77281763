import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  parseCallbackPath,
  parseMediaPath,
  toCallbackPath,
  toMediaPath,
} from '../../../../src/main/engine/receiver/addresses.ts'

const SECRET = '07'.repeat(32)
const OTHER_SECRET = '08'.repeat(32)
const TARGET = { runToken: '20261121-094329-347k3f9', item: 17 }
const PATH = toCallbackPath(SECRET, TARGET)

describe('the address of a callback', () => {
  it('names run and item and carries 128 bits of an HMAC-SHA256', () => {
    const mac = createHmac('sha256', SECRET)
      .update('callback/20261121-094329-347k3f9/17')
      .digest()
      .subarray(0, 16)
      .toString('base64url')
    expect(PATH).toBe(`/callback/20261121-094329-347k3f9/17/${mac}`)
    expect(toCallbackPath(SECRET, TARGET)).toBe(PATH)
  })

  it('is parsed behind any path that a proxy forwards and with any query', () => {
    expect(parseCallbackPath(SECRET, PATH)).toEqual(TARGET)
    expect(parseCallbackPath(SECRET, `/hooks/sluice${PATH}?retry=2`)).toEqual(TARGET)
    expect(parseCallbackPath(SECRET, `http://host:1${PATH}`)).toEqual(TARGET)
  })

  it.each([
    ['another item', PATH.replace('/17/', '/18/')],
    ['another run', PATH.replace('347k3f9', '347k3f8')],
    ['an item written otherwise', PATH.replace('/17/', '/017/')],
    ['another mac', PATH.replace(/.{22}$/, 'A'.repeat(22))],
    ['a mac cut short', PATH.slice(0, -1)],
    ['a mac in another case', PATH.toUpperCase().replace('/CALLBACK/', '/callback/')],
    ['a mac with padding', `${PATH}==`],
    ['something behind', `${PATH}/x`],
    ['nothing', ''],
    ['a mac of another workspace', toCallbackPath(OTHER_SECRET, TARGET)],
    [
      'the mac of a media address',
      PATH.replace(/[^/]+$/, macOf(toMediaPath(SECRET, { runToken: 'r', path: 'a' }))),
    ],
  ])('is refused with %s', (_, path) => {
    expect(parseCallbackPath(SECRET, path)).toBeNull()
  })

  it('has one spelling: no other last character encodes the same bits', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const spellings = [...alphabet].map((last) => PATH.slice(0, -1) + last)
    expect(spellings.filter((path) => parseCallbackPath(SECRET, path) !== null)).toEqual([PATH])
  })
})

describe('the address of a media file', () => {
  it.each(['cat.jpg', 'a folder/ünï çode 猫 😀.png', '100%?#&+=.mp4', '%2e%2e/x.gif', "it's (1)!.webp"])(
    'is parsed for %s',
    (path) => {
      const address = toMediaPath(SECRET, { runToken: 'run-1', path })
      expect(address).toMatch(/^\/media\/run-1\/[\w-]{22}\/[\w%.!'()*~/-]+$/)
      expect(parseMediaPath(SECRET, address)).toEqual({ runToken: 'run-1', path })
      expect(parseMediaPath(SECRET, `/prefix${address}?x=1`)).toEqual({ runToken: 'run-1', path })
    },
  )

  it('is refused for another file, another run, and an invalid URL', () => {
    const address = toMediaPath(SECRET, { runToken: 'run-1', path: 'a/cat.jpg' })
    const others = [
      address.replace('cat', 'dog'),
      address.replace('run-1', 'run-2'),
      address.replace('a/cat', 'a/../a/cat'),
      address.replace('cat', '%63at').replace('.jpg', '%'),
      '/media/run-1//cat.jpg',
      toMediaPath(OTHER_SECRET, { runToken: 'run-1', path: 'a/cat.jpg' }),
    ]
    expect(others.map((path) => parseMediaPath(SECRET, path))).toEqual(others.map(() => null))
  })

  it('also encodes a name that is not valid Unicode', () => {
    const address = toMediaPath(SECRET, { runToken: 'run-1', path: 'a\ud800.jpg' })
    expect(parseMediaPath(SECRET, address)).toEqual({ runToken: 'run-1', path: 'a\ufffd.jpg' })
  })
})

function macOf(mediaPath: string): string {
  return mediaPath.split('/')[3] ?? ''
}
