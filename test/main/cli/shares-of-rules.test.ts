import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

type Found = { rule_id: string; rule_name: string }[]

/**
 * A service that finds the same in every post but `fine`; for those that end in `x`, one of its models fails.
 * With `later`, it finds that instead from the second time on, and none of its models fails.
 */
async function startService(found: Found, later?: Found): Promise<string> {
  const seen = new Set<string>()
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { post_id } = JSON.parse(body) as { post_id: string }
      const isLater = later !== undefined && seen.has(post_id)
      seen.add(post_id)
      const status =
        post_id.endsWith('x') && !isLater
          ? { code: '551', message: 'the model is down' }
          : { code: '0', message: 'SUCCESS' }
      const rules = post_id === 'fine' ? [] : isLater ? later : found
      const answer = { task_id: `t-${post_id}`, post_id, triggered_rules: rules, status: [{ status }] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A workspace with a run of posts with these ids. */
async function sendPosts(ids: readonly string[], ...rules: Parameters<typeof startService>) {
  const folder = createTemporaryFolder()
  const source = join(folder, 'posts.csv')
  writeFileSync(source, `post_id,user_id,text_data\n${ids.map((id) => `${id},u1,text of ${id}\n`).join('')}`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const sent = await sluice('task', source, '--legacy', '--base-url', await startService(...rules))
  return { folder, source, sluice, sent }
}

it('counts rows that were answered with rules and an error, and leaves them out of the shares of those that succeeded', async () => {
  const ids = ['a', 'fine', 'c-x', 'd-x', 'e-x']
  const { folder, source, sluice, sent } = await sendPosts(ids, [{ rule_id: 'r1', rule_name: 'Spam' }])
  expect(sent.stdout).toMatch(/Spam +4 +50\.0 %/)
  expect(sent.stdout).toContain('Some of these rows were answered with an error in addition to the rules.')
  const shown = await sluice('show', 'latest', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    rows: { succeeded: 2, rejected: 3 },
    triggered_rules: [{ rule_id: 'r1', rows: 4, without_success: 3 }],
  })
  const trend = await sluice('trend', source, '--json')
  expect(JSON.parse(trend.stdout)).toMatchObject({
    runs: [{ rules: [{ rule_id: 'r1', rows: 4, share: 0.5 }] }],
  })
  await sluice('report', 'latest', join(folder, 'report.md'))
  const report = await sluice('report', 'latest', '--json')
  expect(JSON.parse(report.stdout)).toMatchObject({ rows_without_rule: 1 })
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toMatch(/Spam.*\| 4 \| 50\.0 %/)
})

it('names rules of one name with their ids, and counts those that triggered none', async () => {
  const rules = ['r1', 'r2'].map((rule_id) => ({ rule_id, rule_name: 'Spam' }))
  const { folder, source, sluice, sent } = await sendPosts(['a', 'b-x', 'fine'], rules)
  expect(sent.stdout).toMatch(/Spam \(r1\) +2 +50\.0 %.*Spam \(r2\) +2 +50\.0 %/s)
  const trend = await sluice('trend', source)
  expect(trend.stdout).toMatch(/Spam \(r1\) +Spam \(r2\)/)
  const report = await sluice('report', 'latest', '--json')
  expect(JSON.parse(report.stdout)).toMatchObject({ rows_without_rule: 1 })
  await sluice('report', 'latest', join(folder, 'report.md'))
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toMatch(/Spam \(r1\).*Spam \(r2\)/s)
})

it('exports no row by a rule that only a try triggered which a retry has replaced', async () => {
  const [early, late] = [
    { rule_id: 'r1', rule_name: 'Spam' },
    { rule_id: 'r2', rule_name: 'Hate' },
  ]
  const { sluice } = await sendPosts(['a-x', 'fine'], [early], [late])
  const exportBy = (rule: string) => sluice('export', 'latest', '-', '--format', 'jsonl', '--rule', rule)
  expect(JSON.parse((await exportBy('Spam')).stdout)).toMatchObject({ post_id: 'a-x', state: 'rejected' })
  expect((await sluice('retry', 'latest')).code).toBe(0)
  expect(JSON.parse((await exportBy('Hate')).stdout)).toMatchObject({ post_id: 'a-x', state: 'succeeded' })
  for (const rule of ['Spam', 'r1']) {
    const refused = await exportBy(rule)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`\`${rule}\``)
    expect(refused.stderr).toContain('`Hate`')
  }
})
