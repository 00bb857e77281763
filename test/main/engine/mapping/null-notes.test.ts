import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()

test.each([
  [
    'keep',
    [{ term: 'a', notes: null }, { term: 'b' }, { term: 'c' }, { term: 'd', notes: 'new' }, { term: 'e' }],
  ],
  [
    'clear',
    [
      { term: 'a', notes: null },
      { term: 'b' },
      { term: 'c', notes: null },
      { term: 'd', notes: 'new' },
      { term: 'e' },
    ],
  ],
] as const)(
  'null in JSON lines clears the notes of a term and a missing key leaves them, if empty ones mean %s',
  async (emptyNotes, terms) => {
    const runs = createInProcessRuns(folder)
    const server = await startFaultServer({
      onRequest: (_, wire) => wire.send(200, { message: '', updated_terms: ['a', 'b', 'c', 'd', 'e'] }),
    })
    const path = join(folder, `${emptyNotes}.jsonl`)
    const lines = [
      '{"term":"a","notes":null}',
      '{"term":"b"}',
      '{"term":"c","notes":""}',
      '{"term":"d","notes":"new"}',
      '{"other":1,"term":"e"}',
    ]
    writeFileSync(path, lines.join('\n'))
    const plan = planSchema.parse({
      connection: { baseUrl: server.baseUrl },
      source: { path },
      operation: { kind: 'watchlist-update', watchlist: 'list', emptyNotes },
    })
    await runs.start(plan).ended
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ watchlist: 'list', terms })
  },
)
