import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { parseRfc4180 } from '../engine/source/rfc4180.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = [
  'post_id;user_id;text_data',
  'p1;u1;win a free prize now',
  'p2;u2;see you at lunch',
  'p_3;u3;odd',
]

/** A run of three rows: one that triggers a rule, one that does not, one that is invalid. */
async function sendRows() {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const sandbox = await withSandbox()
  const source = writeSource(folder, 'posts.csv', `${ROWS.join('\n')}\n`)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
  const sending = [source, '--legacy', '--base-url', sandbox.baseUrl, '--quiet']
  await sluice('task', ...sending)
  return { folder, source, sending, sluice, at: (name: string) => join(folder, name) }
}

const readCsv = (file: string) => parseRfc4180(readFileSync(file, 'utf8').slice(1))

describe('export', () => {
  it('writes the columns that were asked for, and one for each rule', async () => {
    const { sluice, at } = await sendRows()
    const columns = ['--columns', 'sluice_row, "source.post_id"', '--columns', 'sluice_state,answer.code']
    const { code } = await sluice('export', 'latest', at('out.csv'), ...columns, '--rules-as-columns')
    expect(code).toBe(0)
    expect(readCsv(at('out.csv'))).toEqual([
      ['sluice_row', 'post_id', 'sluice_state', 'answer.code', 'rule.Likely spam'],
      ['1', 'p1', 'succeeded', '200', 'true'],
      ['2', 'p2', 'succeeded', '200', 'false'],
      ['3', 'p_3', 'invalid', '', ''],
    ])
  })

  it('refuses unknown columns, and columns of what has none, before a file is written', async () => {
    const { sluice, at, sending } = await sendRows()
    const refuse = async (name: string, ...args: string[]) => {
      const result = await sluice('export', 'latest', at(name), ...args)
      expect(result, args.join(' ')).toMatchObject({ code: 2, stdout: '' })
      expect(existsSync(at(name))).toBe(false)
      return result.stderr
    }
    expect(await refuse('out.csv', '--columns', 'source,language')).toContain('`sluice_language`')
    expect(await refuse('out.csv', '--columns', ' , ')).toContain('expected names of columns')
    expect(await refuse('out.jsonl', '--rules-as-columns')).toContain('always holds everything')
    await sluice('load', ...sending, '--concurrency', '1', '--requests', '1')
    expect(await refuse('out.csv', '--columns', 'all')).toContain('--columns cannot be used with a load test')
  })
})
