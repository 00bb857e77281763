import { z } from 'zod'
import type { Api, Mode } from '../service/endpoints.ts'
import { TASK_FIELDS } from '../service/tasks.ts'
import { defineOperation } from './operation-entry.ts'

/** The default post_id: unique for each row of each run. */
export const DEFAULT_POST_ID = { kind: 'template', template: '{{run}}-{{row}}' } as const

/**
 * Path and query of a task submission (docs/interface.md §4.1, §4.2, §9). `legacy` asks for v1's legacy
 * response; v2 has none.
 */
export function taskPath(task: { api: Api; mode: Mode; legacy: boolean }): string {
  const query = task.legacy && task.api === 'v1' ? '?legacy=1' : ''
  return `/api/${task.api}/task/${task.mode}${query}`
}

/** Submits content (docs/interface.md §4.1, §4.2). */
export const TASK = defineOperation({
  kind: 'task',
  subject: 'content',
  schema: z.object({
    kind: z.literal('task'),
    mode: z.enum(['sync', 'async']).default('sync'),
    api: z.enum(['v1', 'v2']).default('v1'),
    /** Requests the legacy response (`?legacy=1`, docs/interface.md §2.3). */
    legacy: z.boolean().default(false),
    /** Models of every row, unless the mapping fills `models` from a column. */
    models: z.array(z.string()).default([]),
  }),
  scratch: z.strictObject({
    kind: z.literal('task'),
    api: z.enum(['v1', 'v2']),
    mode: z.enum(['sync', 'async']),
    /** Requests the legacy answer, which only v1 has. */
    legacy: z.boolean(),
  }),
  first: { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] },
  fields: TASK_FIELDS,
  namedBy: ['text_data', 'url'],
  recognizedBy: {
    ids: [['post_id']],
    contents: [
      ['user_id', 'text_data'],
      ['user_id', 'url'],
    ],
  },
  defaults: { post_id: DEFAULT_POST_ID },
  checks: [],
  endpoint: { method: 'POST', path: taskPath, sendsKey: true },
  // In v1 (docs/interface.md §2.2, §2.3); v2 answers, acknowledgements and callbacks may have them. The
  // legacy body has a second user_id, a number, which is not the request's.
  echoes: [
    { field: 'post_id', isUnique: true },
    { field: 'user_id', isUnique: false, isText: true },
  ],
  isRepeatable: true,
  errors: [],
  modeOf: ({ mode }) => mode,
  words: {
    title: 'Submit content',
    command: 'task',
    meaning: 'Submits texts, or URLs of images and videos, and lists the rules that each one triggers.',
    describe({ api, mode, models, legacy }) {
      const named = models.length > 1 ? `${models.length} models` : models[0]
      return [`${api} ${mode}`, named, legacy ? 'legacy answer' : undefined].filter(Boolean).join(', ')
    },
    verb: 'submits content of',
    single: 'submits content',
  },
  single: {
    of: ({ kind, api, mode, legacy }) => ({ kind, api, mode, legacy }),
    first: ({ mode = 'sync' }) => ({ kind: 'task' as const, api: 'v1' as const, mode, legacy: false }),
    example: ({ api }, postId) => ({
      ...(api === 'v2'
        ? { url: 'https://media.example.com/sandbox-hate-2.png' }
        : { text_data: 'Win a free prize, you stupid idiot' }),
      user_id: 'someone',
      post_id: postId,
    }),
  },
})
