import { expect, test } from 'vitest'
import { describeMapping } from '../../../src/shared/mapping/describe-mapping.ts'
import { FOLDER_COLUMNS } from '../../../src/shared/mapping/match-columns.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'

const describeFolder = (media?: object) =>
  describeMapping(
    planSchema.parse({
      operation: { kind: 'task', mode: 'sync', api: 'v1', models: [], legacy: false },
      connection: { baseUrl: 'http://127.0.0.1' },
      source: { path: '/posts', format: 'folder', ...(media && { media }) },
      mapping: { user_id: { kind: 'template', template: 'u' } },
    }),
    FOLDER_COLUMNS,
  )

test.each([
  ['a template', { kind: 'template', template: 'https://m.example/{{path}}' }, 'https://m.example/{{path}}'],
  ['this machine', { kind: 'host' }, undefined],
])('media files of a folder with addresses of %s fill url', (_, media, template) => {
  const { fields, not_sent } = describeFolder(media)
  const filler = template === undefined ? { column: 'media' } : { template }
  expect(fields).toContainEqual({ field: 'url', ...filler, by: 'stated' })
  expect(not_sent).toEqual(['path', 'kind'])
})

test('media files of a folder without addresses are not sent', () => {
  const { fields, not_sent } = describeFolder()
  expect(fields.map(({ field }) => field)).not.toContain('url')
  expect(not_sent).toContain('media')
})
