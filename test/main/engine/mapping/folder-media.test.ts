import { expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { FOLDER_COLUMNS } from '../../../../src/shared/mapping/match-columns.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan } from './build-plan.ts'

const user = { user_id: { kind: 'template' as const, template: 'u' } }
const withMedia = (media: NonNullable<PlanInput['source']['media']>): Partial<PlanInput> => ({
  source: { path: '/folder', format: 'folder', media },
  mapping: user,
})
const file = (path: string) => [path, 'media', '', '', path]

function mapFile(path: string, parts: Partial<PlanInput>, toMediaUrl?: (path: string) => string) {
  const plan = buildPlan(parts)
  const addresses = toMediaUrl === undefined ? undefined : { toMediaUrl }
  const mapped = createRowMapper(plan, FOLDER_COLUMNS, 'r1', addresses)(7, file(path))
  const resolved = { ...plan, mapping: resolveMapping(plan, FOLDER_COLUMNS) }
  const found = [...mapped.problems, ...createRowValidator(resolved)(7, mapped.body)]
  return { body: mapped.body, found: found.map(formatProblem) }
}

test('a template makes the address of a file, with its path percent-encoded by segment', () => {
  const parts = withMedia({ kind: 'template', template: 'https://cdn.example/{{path}}?v={{row}}' })
  const { body, found } = mapFile('Bilder/größe 100%#1?.png', parts)
  expect(body).toEqual({
    url: 'https://cdn.example/Bilder/gr%C3%B6%C3%9Fe%20100%25%231%3F.png?v=7',
    user_id: 'u',
    post_id: 'r1-7',
  })
  expect(found).toEqual([])
})

test('every placeholder of a template is percent-encoded, not only the path', () => {
  const parts = withMedia({ kind: 'template', template: 'https://cdn.example/{{path}}?name={{media}}' })
  expect(mapFile('50% #1&2.png', parts).body['url']).toBe(
    'https://cdn.example/50%25%20%231%262.png?name=50%25%20%231%262.png',
  )
})

test('the media host gives the address of a file', () => {
  const { body } = mapFile('a/b.mp4', withMedia({ kind: 'host' }), (path) => `https://m.example/x/${path}`)
  expect(body['url']).toBe('https://m.example/x/a/b.mp4')
})

test('before a run has addresses, a placeholder of the same form keeps the preview valid', () => {
  const parts = withMedia({ kind: 'host', url: 'https://m.example/base' })
  expect(mapFile('a b.png', parts)).toMatchObject({
    body: { url: 'https://m.example/base/media/a%20b.png' },
    found: [],
  })
})

test('rows that are not media files have no address', () => {
  const plan = buildPlan(withMedia({ kind: 'template', template: 'https://cdn.example/{{path}}' }))
  const mapRow = createRowMapper(plan, FOLDER_COLUMNS, 'r1')
  expect(mapRow(1, ['a.txt', 'text', 'a text', '', '']).body).not.toHaveProperty('url')
  const request = '{"url":"https://own.example/1.png"}'
  expect(mapRow(2, ['a.json', 'request', '', request, '']).body['url']).toBe('https://own.example/1.png')
})

test('a media file without an address says how to give it one', () => {
  const { found } = mapFile('a.png', { source: { path: '/folder', format: 'folder' }, mapping: user })
  expect(found).toContain(
    'row 7, url: is a file and needs an address; pass --media-template TEMPLATE, or let Sluice serve the file with --media-host, found `a.png`',
  )
})

test('a template without {{path}}, or with an unknown placeholder, is refused as a whole', () => {
  const refuse = (template: string) => () => mapFile('a.png', withMedia({ kind: 'template', template }))
  expect(refuse('https://cdn.example/{{row}}')).toThrow(
    'has no {{path}}, so every file would have the same address',
  )
  expect(refuse('https://cdn.example/{{pfad}}/{{path}}')).toThrow('media: `{{pfad}}` is neither')
})

test('files go into a custom index by their addresses, and their path is never used as one', () => {
  const parts: Partial<PlanInput> = {
    source: { path: '/folder', media: { kind: 'template', template: 'https://cdn.example/{{path}}' } },
    operation: { kind: 'index-add', indexId: 'i' },
    mapping: { 'metadata.file': { kind: 'column', column: 'path' } },
  }
  expect(mapFile('logos/a.png', parts)).toEqual({
    body: { url: 'https://cdn.example/logos/a.png', metadata: { file: 'logos/a.png' } },
    found: [],
  })
})

test("an address that the plan maps takes precedence over the file's", () => {
  const parts = withMedia({ kind: 'template', template: 'https://cdn.example/{{path}}' })
  const url = { kind: 'template' as const, template: 'https://mapped.example/{{row}}' }
  expect(mapFile('a.png', { ...parts, mapping: { ...user, url } }).body['url']).toBe(
    'https://mapped.example/7',
  )
})
