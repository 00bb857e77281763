import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SANDBOX_KEY } from '../../../src/main/sandbox/sandbox-options.ts'
import { PROJECT_FOLDER } from '../../helpers/build/bundles.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { spawnSluice } from './spawn-sluice.ts'

const RECORDER = pathToFileURL(join(PROJECT_FOLDER, 'test/helpers/contacts-recorder.ts')).href

/** Runs a command, and returns whom its processes and threads contacted. */
async function watch(
  args: readonly string[],
  folder: string,
): Promise<{ code: number | null; stderr: string; contacts: string[] }> {
  const file = join(folder, 'contacts')
  writeFileSync(file, '')
  const { code, stderr } = await spawnSluice(args, {
    workspace: join(folder, 'workspace'),
    cwd: folder,
    env: {
      SLUICE_API_KEY: DEFAULT_SANDBOX_KEY,
      NODE_OPTIONS: `--import=${RECORDER}`,
      CONTACTS_FILE: file,
    },
  })
  return { code, stderr, contacts: [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))] }
}

describe('the command line', () => {
  it('contacts only the service that it is told to send to', async () => {
    const { baseUrl } = await withSandbox()
    const { host } = new URL(baseUrl)
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'posts.csv'), 'text_data,user_id\nhello,user1\nworld,user2\n')
    for (const command of [
      ['task', 'posts.csv', '--base-url', baseUrl, '--quiet'],
      ['load', 'posts.csv', '--base-url', baseUrl, '--requests', '10', '--concurrency', '2', '--quiet'],
    ]) {
      expect(await watch(command, folder)).toEqual({ code: 0, stderr: '', contacts: [host] })
    }
  })

  it.each([['runs'], ['help', 'results'], ['connection', 'list']])(
    'contacts nobody for local data: %s',
    async (...args) => {
      const { contacts } = await watch(args, createTemporaryFolder())
      expect(contacts).toEqual([])
    },
  )
})
