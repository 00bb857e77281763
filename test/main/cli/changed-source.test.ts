import { expect, it } from 'vitest'
import { updateRunRecord } from '../../../src/main/engine/journal/run-record.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { openRun, writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

it('says in a resume and a retry that the source has changed, and sends the rows as first read', async () => {
  const service = await startRecordingService()
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', createRows(3))
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  try {
    const limited = ['task', source, '--base-url', service.baseUrl, '--limit', '1']
    expect(await run(...limited)).toMatchObject({ code: 0 })
    writeSource(workspace, 'posts.csv', createRows(4).replaceAll(',u', ',v'))
    const resumed = await run('resume', 'latest')
    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining('The source has changed') })
    expect([...service.userIds.values()]).toEqual(['u0', 'u1', 'u2'])
    for (const command of ['resume', 'retry']) {
      expect((await run(command, 'latest')).stderr).toMatch(/has changed[\s\S]*run-again[\s\S]*nothing/)
    }
    writeSource(workspace, 'posts.csv', createRows(3))
    expect((await run('retry', 'latest')).stderr).not.toContain('has changed')
  } finally {
    await service.close()
  }
})

it('says in a resume that a source has changed which the run had not read to its end, and reads it again', async () => {
  const service = await startRecordingService()
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', createRows(2))
  const runId = '20261128-120000-000abcd'
  const plan = {
    connection: { baseUrl: service.baseUrl },
    source: { path: source },
    mapping: {
      user_id: { kind: 'column' as const, column: 'user_id' },
      text_data: { kind: 'column' as const, column: 'text_data' },
    },
  }
  writeRun(workspace, { runId, rows: 0, plan })
  const journal = openRun(workspace, { runId })
  const before = { sha256: '0'.repeat(64), bytes: 9, files: null, modified_at: '2026-11-28T12:00:00.000Z' }
  updateRunRecord(journal.db, { state: 'intake', source_fingerprint: JSON.stringify(before) })
  journal.close()
  try {
    const resumed = await runInProcess(['resume', runId], { workspace, env: { SLUICE_API_KEY: 'the-key' } })
    expect(resumed.stderr).toContain('The source has changed since the run began to read it')
    expect([...service.userIds.values()]).toEqual(['u0', 'u1'])
  } finally {
    await service.close()
  }
})

it("asks in a run-again about a column with the content's name, although another was guessed before", async () => {
  onlyInLongForm()
  const service = await startRecordingService()
  const workspace = createTemporaryFolder()
  const run = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  try {
    const source = writeSource(workspace, 'posts.csv', 'user_id,body\nu1,hello there\n')
    expect(await run('task', source, '--base-url', service.baseUrl)).toMatchObject({ code: 0 })
    writeSource(workspace, 'posts.csv', 'user_id,body,text_data\nu2,hello there,other content\n')
    const again = await run('run-again', 'latest')
    expect(again).toMatchObject({ code: 2 })
    expect(again.stdout + again.stderr).toMatch(/column `text_data`[\s\S]*content_cut/)
    expect([...service.userIds.values()]).toEqual(['u1'])
  } finally {
    await service.close()
  }
})
