import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatAnnotation } from '../../../src/main/cli/annotations.ts'
import { joinSentences } from '../../../src/shared/messages/join-sentences.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A GitHub Actions job that sends to a service, which refuses every third row. */
async function openJob() {
  const folder = createTemporaryFolder()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 3 === 0)
        wire.send(400, { error: true, code: 'BAD', message: '::error::@team | x' })
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = join(folder, 'summary.md')
  const env = { SLUICE_API_KEY: 'k', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary }
  const workspace = join(folder, 'workspace')
  const source = writeSource(folder, 'posts.csv', createRows(6))
  const sluice = (args: string[], more: Record<string, string> = {}) =>
    runInProcess(args, { workspace, env: { ...env, ...more } })
  const send = ['task', source, '--base-url', server.baseUrl, '--concurrency', '1']
  return { folder, summary, source, server, sluice, send }
}

const listCommands = (text: string) => text.split('\n').filter((line) => line.startsWith('::'))

describe('in a job of GitHub Actions', () => {
  it('a run adds its report to the summary of the step, and annotates unsuccessful rows', async () => {
    const { summary, sluice, send } = await openJob()
    writeFileSync(summary, 'Earlier step\n\n')
    const ran = await sluice([...send, '--json'])
    expect(ran.code).toBe(1)
    const document = readFileSync(summary, 'utf8')
    expect(document.startsWith('Earlier step\n\n## posts.csv\n')).toBe(true)
    expect(document).toContain('| succeeded | 4 | 66.7 % |')
    expect(document).toContain('`400: ::error::@team \\| x`')
    // Nobody there may read cells of the source.
    expect(document).not.toContain('Text number')
    // A busy machine may add a warning of its own.
    const errors = listCommands(ran.stderr).filter((line) => line.startsWith('::error'))
    expect(errors).toEqual(['::error title=posts.csv%3A rows without success::2 of 6 rows did not succeed.'])
    // Stdout is one document, whatever the environment.
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: { succeeded: 4 } })
  })

  it('a load test annotates each failed threshold', async () => {
    const { summary, source, server, sluice } = await openJob()
    const load = ['load', source, '--base-url', server.baseUrl, '--concurrency', '1', '--requests', '9']
    const thresholds = ['--threshold', 'http_req_failed:rate<0.01', '--threshold', 'p(99)<60000']
    const ran = await sluice([...load, '--first-request', 'skip', ...thresholds])
    expect(ran.code).toBe(99)
    const failed = listCommands(ran.stderr).filter((line) => line.startsWith('::error'))
    expect(failed).toEqual([
      expect.stringMatching(
        /^::error title=posts\.csv%3A threshold failed::✗ http_req_failed:rate<0\.01: 33\.3 %25, /,
      ),
    ])
    const document = readFileSync(summary, 'utf8')
    expect(document).toMatch(/^## posts\.csv\n/)
    expect(document).toContain('thresholds: ✗ 1 of 2 crossed')
    // A service may quote the row that it refuses.
    expect(document).toContain('400: …')
    expect(document).not.toContain('@team')
    expect(document).toContain('| ✗ http\\_req\\_failed:rate&lt;0.01 |'.replaceAll('\\_', '_'))
  })

  it("a load test that fails without a failed threshold says why, but not the service's message about a row", async () => {
    onlyInLongForm()
    const { folder, summary, sluice } = await openJob()
    const refusing = await startFaultServer({
      onRequest: ({ body }, wire) => {
        const { text_data: text } = JSON.parse(body) as { text_data: string }
        wire.send(403, { error: true, error_code: 'FORBIDDEN', message: `not ${text}` })
      },
    })
    const source = writeSource(folder, 'secret.csv', 'text_data,user_id\nmy private words,u1\n')
    const load = ['load', source, '--base-url', refusing.baseUrl, '--concurrency', '1', '--requests', '3']
    const errors: string[] = []
    for (const more of [['--first-request', 'skip'], []]) {
      const ran = await sluice([...load, ...more])
      expect(ran.code).toBe(1)
      errors.push(...listCommands(ran.stderr).filter((line) => line.startsWith('::error')))
      expect(listCommands(ran.stderr).join('\n')).not.toContain('private')
    }
    expect(errors).toEqual([
      '::error title=secret.csv%3A no success::None of 3 requests succeeded.',
      expect.stringMatching(/^::error title=secret\.csv%3A stopped::.*403 FORBIDDEN: …; check the API key/),
    ])
    expect(readFileSync(summary, 'utf8')).toContain('403 FORBIDDEN: …; check the API key')
    expect(readFileSync(summary, 'utf8')).not.toContain('private')
    const failed = await sluice(['runs', '--failed', '--json'])
    expect(JSON.parse(failed.stdout)).toHaveLength(2)
    expect((await sluice(['runs'])).stdout).toMatch(/THRESHOLDS.*\n(.*\n)*.* no success /)
  })

  it('an error annotates what happened and what to do', async () => {
    const { source, sluice } = await openJob()
    const ran = await sluice(['task', source])
    expect(ran.code).toBe(2)
    expect(listCommands(ran.stderr)).toEqual([expect.stringMatching(/^::error title=sluice::.*--base-url/)])
  })

  it('a comparison and an evaluation add their parts, and annotate the checks that fail', async () => {
    onlyInLongForm()
    const { summary, sluice, send } = await openJob()
    await sluice(send)
    await sluice([...send, '--set', 'post_id={{run}}-{{row}}'])
    writeFileSync(summary, '')
    const { stdout } = await sluice(['runs', '--json'])
    const [b, a] = JSON.parse(stdout).map(({ run_id: id }: { run_id: string }) => id)
    const compared = await sluice(['compare', a, b, '--fail-if-slower', '10%'])
    expect(compared.code).toBe(98)
    expect(listCommands(compared.stderr)).toEqual([
      expect.stringMatching(/^::error title=Not judged::.*cannot judge/),
    ])
    expect(readFileSync(summary, 'utf8')).toMatch(/^## Comparison\n/)
    const labels = ['--label', 'user_id', '--positive', 'u1=Spam', '--assert', 'recall(Spam)>=0.9']
    const evaluated = await sluice(['evaluate', 'latest', ...labels])
    expect(evaluated.code).toBe(99)
    expect(listCommands(evaluated.stderr)).toEqual([
      expect.stringMatching(/^::error title=Assertion failed::recall\(Spam\)>=0\.9/),
    ])
    expect(readFileSync(summary, 'utf8')).toContain('\n## Evaluation of posts.csv\n')
  })

  it('a summary that cannot be written, or would be too long, has no other effect', async () => {
    onlyInLongForm()
    const { folder, summary, sluice, send } = await openJob()
    const unwritable = await sluice(send, { GITHUB_STEP_SUMMARY: folder })
    expect([unwritable.code, unwritable.stderr]).toEqual([
      1,
      expect.stringContaining('The summary for GitHub was not written: '),
    ])
    const full = 'x'.repeat(1024 ** 2)
    writeFileSync(summary, full)
    const ran = await sluice([...send, '--set', 'post_id={{run}}-{{row}}'])
    expect(ran.stderr).toContain('The summary for GitHub is left out')
    expect(readFileSync(summary, 'utf8')).toBe(full)
  })

  it('rows and answers that look like runner commands are not executed', async () => {
    const { folder, sluice, server } = await openJob()
    const hostile = ['::error::pwned', ' ::add-mask::pwned', '##[error]pwned', '<p>::stop-commands::pwned']
    const source = writeSource(
      folder,
      'hostile.csv',
      `text_data,user_id\n${hostile.map((text) => `"${text}",u\n`).join('')}`,
    )
    await sluice(['task', source, '--base-url', server.baseUrl, '--quiet'])
    const sql = (format: string) =>
      sluice(['sql', 'latest', 'SELECT text_data FROM rows', '--format', format])
    const outputs = [
      await sluice(['show', 'latest', '--row', '2']),
      await sluice(['show', 'latest', '--row', '4', '--json']),
      await sql('table'),
      await sql('jsonl'),
    ]
    for (const { code, stdout, stderr } of outputs) {
      expect(code).toBe(0)
      expect(stdout + stderr).toContain('pwned')
      expect(stdout + stderr).not.toMatch(/^\s*::|##\[/m)
    }
    const rows = (await sql('jsonl')).stdout.trim().split('\n')
    expect(rows.map((line) => JSON.parse(line).text_data)).toEqual(hostile)
    // A table for programs is unchanged.
    expect((await sql('csv')).stdout).toContain('##[error]pwned')
  })

  it('none of this happens elsewhere', async () => {
    onlyInLongForm()
    const { summary, sluice, send } = await openJob()
    const ran = await sluice(send, { GITHUB_ACTIONS: '', GITHUB_STEP_SUMMARY: '' })
    expect(ran.code).toBe(1)
    expect(listCommands(ran.stderr)).toEqual([])
    expect(existsSync(summary)).toBe(false)
  })
})

describe('an annotation', () => {
  it('keeps its sentences apart, whether they end with a full stop or not', () => {
    expect(joinSentences(['B is slower', 'It stalled.', 'Is it?', ' see: '])).toBe(
      'B is slower. It stalled. Is it? see:',
    )
  })

  it('is one line that sets only its title and message, whatever these contain', () => {
    const text = 'a:b,c%0A\r\n::error::x'
    expect(formatAnnotation({ level: 'error', title: text, message: text })).toBe(
      '::error title=a%3Ab%2Cc%250A\\r\\n%3A%3Aerror%3A%3Ax::a:b,c%250A\\r\\n::error::x',
    )
  })
})
