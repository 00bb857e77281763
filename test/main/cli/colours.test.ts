import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { spawnSluice } from './spawn-sluice.ts'

/** An error on an output that is not a terminal. */
async function failWith(env: Record<string, string>): Promise<string> {
  const { stderr } = await spawnSluice(['show', 'latest'], { workspace: createTemporaryFolder(), env })
  expect(stderr).toContain('sluice:')
  return stderr
}

describe('colours of the command line', () => {
  it('are forced by a non-empty FORCE_COLOR only', async () => {
    onlyInLongForm()
    expect(await failWith({ FORCE_COLOR: '1' })).toContain('\u001b[')
    expect(await failWith({ FORCE_COLOR: '1', NO_COLOR: '' })).toContain('\u001b[')
    expect(await failWith({ FORCE_COLOR: '' })).not.toContain('\u001b[')
    expect(await failWith({ FORCE_COLOR: '', NO_COLOR: '1' })).not.toContain('\u001b[')
  })
})
