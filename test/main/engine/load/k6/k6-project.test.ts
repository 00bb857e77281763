import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type K6Body,
  splitAtPostId,
  toRowsPieces,
  writeK6Project,
} from '../../../../../src/main/engine/load/k6/k6-project.ts'
import type { LoadInput } from '../../../../../src/shared/load/load.ts'
import type { PlanInput } from '../../../../../src/shared/plan/plan.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'
import { buildK6Plan } from './build-k6-plan.ts'

const folder = openTestFolder()
let folders = 0

const BODIES: K6Body[] = [
  { text_data: 'a "quoted"\n\u2028 <b>', user_id: 'u1', post_id: 'own' },
  { text_data: '$& ünï \u{1f600}', user_id: 'u2', models: ['text'] },
]

const LOAD: LoadInput = { pace: { kind: 'open', ratePerSecond: 10 }, durationMs: 60_000 }

async function write(
  options: { load?: LoadInput; parts?: Partial<PlanInput>; bodies?: K6Body[]; maxBytes?: number } = {},
  into?: string,
) {
  folders += 1
  const target = into ?? join(folder, `${folders}.k6`)
  const result = await writeK6Project({
    folder: target,
    plan: buildK6Plan(options.load ?? LOAD, options.parts),
    appVersion: '9.9.9',
    bodies: [options.bodies ?? BODIES],
    ...(options.maxBytes === undefined ? {} : { rowsFileMaxBytes: options.maxBytes }),
  })
  const read = (name: string) => readFile(join(target, name), 'utf8')
  return { target, result, read, script: await read('script.js') }
}

describe('a k6 project', () => {
  test('is a script, the rows, a manifest and a page', async () => {
    const { target, result, read } = await write()
    expect((await readdir(target)).toSorted()).toEqual([
      'README.md',
      'rows-001.json',
      'script.js',
      'testrun.yaml',
    ])
    expect(result).toMatchObject({ file: target, rows: 2 })
    const rows = JSON.parse(await read('rows-001.json')) as [string, string][]
    expect(rows.map(([head, tail]) => JSON.parse(`${head}run-1${tail}`))).toEqual([
      { ...BODIES[0], post_id: 'run-1' },
      { ...BODIES[1], post_id: 'run-1' },
    ])
  })

  test('sends to the plan’s host, version and path', async () => {
    const { script } = await write()
    expect(script).toContain('__ENV.SLUICE_BASE_URL || "https://service.test/v")')
    expect(script).toContain('BASE_URL + "/api/v1/task/sync"')
    const other = await write({
      parts: {
        connection: {
          baseUrl: 'https://one.test',
          taskBaseUrl: 'https://two.test',
          apiKeyEnv: 'OTHER_KEY',
          timeoutMs: 1_234,
        },
        operation: { kind: 'task', api: 'v2', mode: 'async' },
      },
    })
    expect(other.script).toContain('__ENV.SLUICE_BASE_URL || "https://two.test")')
    expect(other.script).toContain('BASE_URL + "/api/v2/task/async"')
    expect(other.script).toContain('const KEY_NAME = "OTHER_KEY"')
    expect(other.script).toContain('timeout: 1234,')
    expect(await other.read('README.md')).toContain('k6 cannot receive callbacks')
    expect(await other.read('testrun.yaml')).toContain(
      '- name: OTHER_KEY\n        valueFrom:\n          secretKeyRef:',
    )
  })

  test('has the plan’s think time and client certificate, if any', async () => {
    const { script, read } = await write({
      load: {
        pace: { kind: 'closed', concurrency: 2 },
        durationMs: 5_000,
        thinkTime: { minMs: 100, maxMs: 250 },
      },
      parts: {
        connection: {
          baseUrl: 'https://one.test',
          tls: { caFile: '/ca.pem', certFile: '/c.pem', keyFile: '/k.pem' },
          proxy: { url: 'http://proxy.test:3128' },
        },
      },
    })
    expect(script).toContain('sleep((100 + Math.random() * 150) / 1000)')
    expect(script).toContain(
      'tlsAuth = [{ cert: open(__ENV.SLUICE_CLIENT_CERT), key: open(__ENV.SLUICE_CLIENT_KEY) }]',
    )
    const readme = await read('README.md')
    for (const variable of ['SSL_CERT_FILE', 'CLIENT_CERT', 'HTTPS_PROXY', 'GODEBUG=http2client=0 k6 run']) {
      expect(readme).toContain(variable)
    }
    expect((await write()).script).not.toMatch(/sleep|tlsAuth/)
  })

  test('requires HTTP/1.1 or HTTP/2 as the plan does', async () => {
    const first = await write()
    expect(first.script).toContain('const HTTP_VERSION = "1.1"')
    expect(await first.read('testrun.yaml')).toContain('- name: GODEBUG\n        value: http2client=0')
    const second = await write({ load: { ...LOAD, httpVersion: '2' } })
    expect(await second.read('testrun.yaml')).not.toContain('GODEBUG')
    expect(await second.read('README.md')).not.toContain('GODEBUG')
  })

  test('is a configMap in the cluster if it fits into one, otherwise a volumeClaim', async () => {
    const small = await write()
    expect(await small.read('testrun.yaml')).toMatch(
      /^apiVersion: k6\.io\/v1alpha1\nkind: TestRun\n.*configMap:\n {6}name: sluice-load\n {6}file: script\.js/s,
    )
    expect(await small.read('README.md')).toContain(
      'kubectl create configmap sluice-load --from-file=script.js --from-file=rows-001.json',
    )
    const large = await write({ bodies: Array(11).fill({ text_data: 'x'.repeat(100_000) }) })
    expect(await large.read('testrun.yaml')).toContain('volumeClaim:\n      name: sluice-load')
    expect(await large.read('README.md')).not.toContain('create configmap')
  })

  test('contains no key', async () => {
    vi.stubEnv('SLUICE_API_KEY', 'a-secret-key')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const { target, read } = await write()
    for (const name of await readdir(target)) expect(await read(name)).not.toContain('a-secret-key')
  })

  test('says how k6 differs', async () => {
    const { read } = await write({
      load: { ...LOAD, warmupMs: 5_000, thresholds: ['response_time:p(99)<5'] },
    })
    const readme = await read('README.md')
    expect(readme).toContain('- A due request that finds no virtual user free is dropped')
    expect(readme).toContain('k6 has no metric or tag for `response_time:p(99)<5`: left out.')
    expect(readme).toContain('The warm-up of 5s is a scenario of its own.')
  })

  test('is refused without a row, and for an operation other than tasks', async () => {
    await expect(write({ bodies: [] })).rejects.toMatchObject({ code: 'BAD_USAGE' })
    await expect(write({ parts: { operation: { kind: 'appeal-status' } } })).rejects.toThrow(
      'has no load test',
    )
  })
})

describe('the folder of a k6 project', () => {
  test('that holds an earlier one gets the new files and keeps the results', async () => {
    const { target } = await write({ bodies: Array(4).fill(BODIES[0]), maxBytes: 150 })
    expect(await readdir(target)).toContain('rows-002.json')
    await writeFile(join(target, 'summary.json'), '{}')
    const { read } = await write({}, target)
    expect((await readdir(target)).toSorted()).toEqual([
      'README.md',
      'rows-001.json',
      'script.js',
      'summary.json',
      'testrun.yaml',
    ])
    expect(JSON.parse(await read('rows-001.json'))).toHaveLength(2)
  })

  test('with other content is left unchanged', async () => {
    const target = join(folder, 'mine')
    await mkdir(target)
    await writeFile(join(target, 'script.js'), 'export default 1')
    await expect(write({}, target)).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining('contains script.js and is not a k6 project from Sluice'),
    })
    expect(await readdir(target)).toEqual(['script.js'])
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('that is a file or lies in a missing folder is refused', async () => {
    await writeFile(join(folder, 'a-file'), '')
    await expect(write({}, join(folder, 'a-file'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
    await expect(write({}, join(folder, 'no', 'x.k6'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })
})

describe('rows of a k6 project', () => {
  test('are unchanged on both sides of the post_id, whatever they contain', () => {
    for (const body of [...BODIES, { post_id: 'first', a: 1 }, { note: '"post_id":""' }, {}]) {
      const [head, tail] = splitAtPostId(body)
      expect(JSON.parse(`${head}k6-1${tail}`)).toEqual({ ...body, post_id: 'k6-1' })
    }
  })

  test('are split by size, a larger one on its own', async () => {
    const sizes = [10, 10, 500, 10]
    const bodies = sizes.map((size) => ({ text_data: 'x'.repeat(size) }))
    const files: { text: string; rows: number }[] = []
    let text = ''
    for await (const piece of toRowsPieces([bodies.slice(0, 1), bodies.slice(1)], 200)) {
      text += piece.text
      if (!piece.isEnd) continue
      files.push({ text, rows: piece.rows })
      text = ''
    }
    expect(files.map(({ rows }) => rows)).toEqual([2, 1, 1])
    expect(files.flatMap((file) => JSON.parse(file.text)).map(([head]) => String(head).length)).toEqual(
      sizes.map((size) => '{"text_data":"","post_id":"'.length + size),
    )
    expect(text).toBe('')
  })
})
