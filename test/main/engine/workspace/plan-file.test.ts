import { describe, expect, it } from 'vitest'
import { fromPlanPath, mapTlsPaths, toPlanPath } from '../../../../src/main/engine/workspace/plan-file.ts'

describe.skipIf(process.platform === 'win32')('a path in a plan file', () => {
  it.each([
    ['/home/me/plans', '/home/me/plans/posts.csv', 'posts.csv'],
    ['/home/me/plans', '/home/me/plans/data/posts.csv', 'data/posts.csv'],
    ['/home/me/plans', '/home/me/data/posts.csv', '../data/posts.csv'],
    ['/home/me/plans', '/etc/ssl/own.pem', '/etc/ssl/own.pem'],
    ['/', '/posts.csv', 'posts.csv'],
    ['/home/me/plans', '/home/me/plans', '/home/me/plans'],
  ])('in %s for %s is %s, and leads back', (folder, path, written) => {
    expect(toPlanPath(folder, path)).toBe(written)
    expect(fromPlanPath(folder, written)).toBe(path)
  })

  it('changes every certificate file and adds none', () => {
    expect(mapTlsPaths({ caFile: 'a' }, (path) => `/x/${path}`)).toEqual({ caFile: '/x/a' })
    const narrowed = { systemAuthorities: false, caFile: 'a' }
    expect(mapTlsPaths(narrowed, (path) => `/x/${path}`)).toEqual({ ...narrowed, caFile: '/x/a' })
    expect(mapTlsPaths({ certFile: 'c', keyFile: 'k' }, (path) => `/x/${path}`)).toEqual({
      certFile: '/x/c',
      keyFile: '/x/k',
    })
  })
})
