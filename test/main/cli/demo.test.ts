import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { spawnSluice } from './spawn-sluice.ts'

describe('demo', () => {
  it('shows the main job from end to end and exits with 0', async () => {
    const workspace = createTemporaryFolder()
    const result = await spawnSluice(['demo'], { workspace, fromSources: inject('isLong') })
    expect(result.stderr).toContain('as expected')
    expect(result.code).toBe(0)
    expect(result.stdout).toMatch(/Triggered rules/)
    expect(result.stdout).toMatch(/http_req_duration/)
    expect(result.stdout).toMatch(/post_id: must not contain `_` or `;`, found `post_0017`/)
    expect(result.stdout).toMatch(/DUPLICATE_POST_ID/)
    for (const name of ['results.csv', 'results.jsonl']) {
      const file = join(workspace, 'demo', name)
      expect(result.stdout).toContain(file)
      expect(existsSync(file)).toBe(true)
    }
    expect(
      readFileSync(join(workspace, 'demo', 'results.jsonl'), 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(372)
  })
})
