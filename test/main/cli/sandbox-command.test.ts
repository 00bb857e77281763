import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN_HEADER } from '../../../src/main/sandbox/admin-access.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'

describe('sandbox', () => {
  it('listens until Ctrl-C, says what to type, and that its scores decide nothing', async () => {
    const workspace = createTemporaryFolder()
    const result = await spawnSluice(['sandbox', '--latency', '10ms±5ms', '--fault', '5xx=3%'], {
      workspace,
      onStdout: (text, child) => {
        if (text.includes('Try')) child.kill('SIGINT')
      },
    })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toMatch(/http:\/\/127\.0\.0\.1:\d+/)
    expect(result.stdout).toMatch(/task \S*sample\.csv --base-url http:\/\/127\.0\.0\.1:\d+/)
    expect(result.stdout).toContain('not moderation decisions')
  })

  it('prints a command for its admin routes that keeps the token out of the list of processes', async () => {
    let answer = ''
    const result = await spawnSluice(['sandbox'], {
      workspace: createTemporaryFolder(),
      onStdout: (text, child) => {
        const command = /(echo .* \| curl .*)$/m.exec(text)?.[1]
        if (command === undefined || answer !== '') return
        answer = 'asked'
        const shell = execFile('sh', [], (_error, stdout) => {
          answer = stdout
          child.kill('SIGINT')
        })
        shell.stdin?.end(command)
      },
    })
    expect(JSON.parse(answer)).toMatchObject({ requests: 0, tasks: 0 })
    const [, builtIn = '', listed = ''] = /(echo .*) \| (curl .*)$/m.exec(result.stdout) ?? []
    expect(builtIn).toMatch(/x-sandbox-token: [\w-]{32,}/)
    expect(listed).toMatch(/^curl -sK- http:\/\/127\.0\.0\.1:\d+\/sandbox\/admin\/stats$/)
  })

  it('answers with the key of a variable', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    let status = 0
    const result = await spawnSluice(['sandbox', '--json', '--key-env', 'MY_KEY'], {
      workspace,
      env: { MY_KEY: 'my-own-key' },
      onStdout: (text, child) => {
        if (!text.endsWith('}\n')) return
        const { base_url: baseUrl } = JSON.parse(text)
        void fetch(`${baseUrl}/api/v1/task/sync`, {
          method: 'POST',
          headers: { authorization: 'token my-own-key', 'content-type': 'application/json' },
          body: JSON.stringify({ post_id: 'p1', user_id: 'u1', text_data: 'hello' }),
        }).then((answer) => {
          status = answer.status
          child.kill('SIGTERM')
        })
      },
    })
    expect(status).toBe(200)
    expect(result.code).toBe(0)
    expect(result.stdout).not.toContain('my-own-key')
  })

  it('has the configured indexes, watchlists, appeals and callbacks', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const termFile = join(workspace, 'terms.txt')
    writeFileSync(termFile, '\uFEFFOne\tits notes\r\n\r\ntwo words\n')
    const read: Record<string, unknown> = {}
    const result = await spawnSluice(
      [
        ...[
          'sandbox',
          '--json',
          '--index',
          'logos',
          '--watchlist',
          'empty',
          '--watchlist',
          `mine=${termFile}`,
        ],
        ...['--appeals', '25', '--callbacks', 'delay=5ms,double=5%', '--max-terms', '100'],
        ...['--failed-terms', 'strings', '--watchlist-add-codes', 'contradictory'],
        ...['--store', join(workspace, 'sandbox.sqlite')],
      ],
      {
        workspace,
        onStdout: (text, child) => {
          if (!text.endsWith('}\n')) return
          const { base_url: baseUrl, task_base_url: taskBaseUrl, admin_token: adminToken } = JSON.parse(text)
          const headers = { [ADMIN_TOKEN_HEADER]: adminToken }
          const readAdmin = async (path: string) => {
            read[path] = await (await fetch(`${baseUrl}/sandbox/admin/${path}`, { headers })).json()
          }
          const readThere = async () => {
            read['there'] = (await fetch(`${taskBaseUrl}/api/v2/task/sync`, { method: 'POST' })).status
          }
          const paths = ['indexes', 'watchlists', 'watchlists/mine', 'appeals', 'behaviour']
          void Promise.all([...paths.map(readAdmin), readThere()]).then(() => child.kill('SIGTERM'))
        },
      },
    )
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(read).toMatchObject({
      indexes: { indexes: [{ custom_index_id: 'logos' }, { custom_index_id: 'sandbox-index' }] },
      watchlists: { watchlists: ['empty', 'mine', 'sandbox_terms'] },
      'watchlists/mine': {
        terms: [
          { term: 'one', notes: 'its notes' },
          { term: 'two words', notes: null },
        ],
      },
      appeals: { total: 25 },
      behaviour: {
        callbacks: 'delay=5ms,double=5%',
        maxTermsPerRequest: 100,
        failedTerms: 'strings',
        watchlistAddCodes: 'contradictory',
      },
      there: 403,
    })
    expect(existsSync(join(workspace, 'sandbox.sqlite'))).toBe(true)
  })

  it.each([
    [['--callbacks', 'hurry=1%'], 'callbacks "hurry=1%"'],
    [['--watchlist', 'mine=/no/such/file'], '/no/such/file'],
    [['--failed-terms', 'numbers'], 'objects, strings'],
    [['--latency', 'soon'], 'latency "soon"'],
    [['--fault', '5xx'], 'fault "5xx"'],
    [['--port', '70000'], 'from 0 to 65535, found `70000`'],
  ])('refuses %j', async (args, message) => {
    const result = await runInProcess(['sandbox', ...args], { workspace: createTemporaryFolder() })
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain(message)
  })
})
