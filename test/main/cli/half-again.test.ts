import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it.each(firstOf(1, ['csv', 'jsonl', 'xlsx']))(
  'sends a split record once from its export: %s',
  async (ending) => {
    const sandbox = await withSandbox()
    const workspace = createTemporaryFolder()
    const sluice = (...args: string[]) =>
      runInProcess(args, { workspace, env: { SLUICE_API_KEY: sandbox.key } })
    const send = (path: string, mapping = {}) => {
      const plan = {
        version: 1,
        connection: { baseUrl: sandbox.baseUrl },
        source: { path },
        mapping,
        operation: { kind: 'task' },
        fixes: [{ kind: 'split' }],
      }
      writeFileSync(join(workspace, 'split.plan.json'), JSON.stringify(plan))
      return sluice('plan', join(workspace, 'split.plan.json'), '--trust-plan')
    }
    await send(
      writeSource(workspace, 'posts.csv', 'user_id,text_data,url\nu1,one,https://a.test/1\nu2,two,\n'),
    )
    const exported = join(workspace, `exported.${ending}`)
    await sluice('export', 'latest', exported)
    const { tasks } = await sandbox.stats()
    const fromCells = (name: string) => ({ kind: 'column', column: `cells.${name}` })
    const again = await send(
      exported,
      ending === 'jsonl' ? { url: fromCells('url'), text_data: fromCells('text_data') } : {},
    )
    expect(again.stdout).toContain('must be a new record, but is the other half of a split one')
    expect((await sandbox.stats()).tasks).toBe(tasks + 3)
  },
)
