import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  collectSeenByScripts,
  listChanges,
  listUnmentioned,
  SEEN_FILE,
  type SeenByScripts,
} from './seen-by-scripts.ts'

const PAGE = fileURLToPath(new URL('../../docs/migrating.md', import.meta.url))
const before = JSON.parse(readFileSync(SEEN_FILE, 'utf8')) as SeenByScripts

it('changes nothing that scripts see without a line in docs/migrating.md', async () => {
  const changes = listChanges(before, await collectSeenByScripts())
  expect(
    listUnmentioned(changes, readFileSync(PAGE, 'utf8'), before.version),
    'Scripts see these changes. Add a line for each to docs/migrating.md, with its name in backticks.',
  ).toEqual([])
})

it('lists the changes for scripts once per version', () => {
  const headings = readFileSync(PAGE, 'utf8').match(/^#+ .*$/gm) ?? []
  expect(headings).toEqual([...new Set(headings)])
  expect(headings[0]).toBe('# Migrating')
})

it('notices added, removed and renamed options, members, columns and exit codes', () => {
  const now: SeenByScripts = {
    ...before,
    exit_codes: { ...before.exit_codes, thresholdCrossed: '98' },
    options: { ...before.options, runs: `${before.options['runs']} --other`, sql: 'query --json' },
    members: { ...before.members, wipe: 'schema_version workspace deleted' },
    columns: { ...before.columns, load: (before.columns['load'] ?? '').replace('time', 'at') },
  }
  const changes = listChanges(before, now)
  const names = changes.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['thresholdCrossed', '--other', 'sql', 'deleted_runs', 'deleted']),
  )
  const page = '## Unreleased\n\n- `sql`, `deleted`\n\n## 0.0.9\n\n- `--other`\n'
  const left = listUnmentioned(changes, page, '0.0.9')
  expect(left).toEqual(expect.arrayContaining(['--other (options of runs)', 'thresholdCrossed (exit_codes)']))
  expect(left.join()).not.toMatch(/^(sql|deleted) /m)
})
