import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

const HEADER = 'post_id,user_id,text_data,label\n'

/** Every file below a folder with its bytes. */
function readAll(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => [file, readFileSync(file).toString('hex')]),
  )
}

/** Sources of one run each, and the command line with the sandbox behind it. */
async function open() {
  const sandbox = await withSandbox()
  const folder = createTemporaryFolder()
  const sources = join(folder, 'sources')
  mkdirSync(join(sources, 'month', 'week'), { recursive: true })
  mkdirSync(join(sources, 'posts'))
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(sources, name), content)
    return join(sources, name)
  }
  const sep = write('sep.csv', `${HEADER}s1,u1,first,a\ns2,u1,second,a\n`)
  const oct = write('oct.csv', `${HEADER}o1,u1,third,a\n`)
  const nov = write('nov.csv.gz', gzipSync(`${HEADER}n1,u1,fourth,a\n`))
  write('month/dec.csv', `${HEADER}d1,u1,fifth,a\n`)
  write('month/week/last.csv', `${HEADER}l1,u1,sixth,a\n`)
  write('posts/one.txt', 'seventh')
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  return { sandbox, folder, sources, sep, oct, nov, sluice, to: ['--base-url', sandbox.baseUrl] }
}

/** The sandbox's run of three files and a folder of tables, and what is in the files. */
async function openSent() {
  const opened = await open()
  const { sources, sep, oct, nov, sluice, to } = opened
  const sent = await sluice('task', sep, oct, nov, join(sources, 'month'), ...to)
  expect(sent.code).toBe(0)
  return { ...opened, before: readAll(sources) }
}

describe('a file that a run was read from', () => {
  it.each(firstOf(1, ['oct.csv', 'nov.csv.gz', 'month/dec.csv', 'month/week/last.csv']))(
    'is not replaced by an export, %s among several',
    async (name) => {
      const { folder, sources, sluice, before } = await openSent()
      const file = join(sources, name)
      for (const args of [
        ['export', 'latest', file],
        ['export', 'latest', join(folder, 'ok.csv'), '--errors', file],
        ['evaluate', 'latest', '--label', 'label', '--export', file],
        ['compare', 'latest', 'latest', '--export', file],
        ['sample', 'latest', file, '--size', '1'],
        ['verdict', 'latest', '--export', file],
      ]) {
        const result = await sluice(...args)
        expect([args, result.code, result.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
          ...[args, 2],
          expect.stringMatching(/is (a source|in a folder that is a source) of this run/),
        ])
      }
      expect(readAll(sources)).toEqual(before)
      // With the error file refused, the other is not written either.
      expect(readdirSync(folder)).not.toContain('ok.csv')
    },
  )

  it('is not replaced by a retry or a report, or through a link', async () => {
    onlyInLongForm()
    const { folder, sources, oct, sluice, before } = await openSent()
    const [symbolic, hard] = [join(folder, 'link.csv'), join(folder, 'hard.csv')]
    symlinkSync(oct, symbolic)
    linkSync(oct, hard)
    symlinkSync(join(sources, 'month'), join(folder, 'months'))
    for (const file of [symbolic, hard, join(folder, 'months', 'dec.csv')]) {
      const result = await sluice('export', 'latest', file)
      expect([file, result.code]).toEqual([file, 2])
    }
    for (const args of [
      ['resume', 'latest', '--export', oct],
      ['retry', 'latest', '--export', oct],
    ]) {
      expect([args, (await sluice(...args)).code]).toEqual([args, 2])
    }
    const workbook = join(sources, 'month', 'report.xlsx')
    writeFileSync(workbook, 'a workbook of the person')
    expect((await sluice('report', 'latest', workbook)).code).toBe(2)
    expect(readFileSync(workbook, 'utf8')).toBe('a workbook of the person')
    expect(readAll(sources)).toMatchObject(before)
    expect(readFileSync(hard)).toEqual(readFileSync(oct))
  })

  it('is not replaced by the export of the run that is about to read it, and nothing is sent', async () => {
    const { sandbox, sources, sep, oct, sluice, to } = await open()
    const before = readAll(sources)
    for (const [files, target] of [
      [[sep, oct], oct],
      [[join(sources, '*.csv')], sep],
      [[join(sources, '*.csv')], oct],
      [[join(sources, 'month')], join(sources, 'month', 'dec.csv')],
    ] as const) {
      const result = await sluice('task', ...files, ...to, '--export', target)
      expect([target, result.code, result.stdout]).toEqual([target, 2, ''])
    }
    expect((await sandbox.stats()).tasks).toBe(0)
    expect(readAll(sources)).toEqual(before)
  })

  it('is not replaced if it is a post of a folder, whereas a new file is written next to it', async () => {
    const { sources, sluice, to } = await open()
    const posts = join(sources, 'posts')
    writeFileSync(join(posts, 'two.jsonl.txt'), 'eighth')
    expect((await sluice('task', posts, ...to, '--set', 'user_id=u')).code).toBe(0)
    const link = join(posts, 'three.csv')
    symlinkSync(join(posts, 'one.txt'), link)
    expect((await sluice('export', 'latest', link)).code).toBe(2)
    expect(readFileSync(join(posts, 'one.txt'), 'utf8')).toBe('seventh')
    expect((await sluice('export', 'latest', join(posts, 'results.csv'))).code).toBe(0)
  })

  it('is not replaced by its plan', async () => {
    const { sources, sep, sluice, to } = await open()
    const file = join(sources, 'requests.json')
    const content = '{"operation":"x","source":"y","post_id":"r1","user_id":"u1","text_data":"ninth"}'
    writeFileSync(file, content)
    const result = await sluice('task', sep, file, ...to, '--save-plan', file, '--dry-run')
    expect(result.code).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe(content)
  })
})

describe('a file of labels', () => {
  it('is not replaced by the rows that are evaluated with it', async () => {
    onlyInLongForm()
    const { folder, sluice } = await openSent()
    const labels = join(folder, 'labels.csv')
    writeFileSync(labels, 'post_id,truth\ns1,spam\no1,spam\n')
    const asked = ['evaluate', 'latest', '--labels', labels, '--label', 'truth', '--key', 'post_id']
    const result = await sluice(...asked, '--export', labels)
    expect([result.code, result.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('is the source of the labels'),
    ])
    expect(readFileSync(labels, 'utf8')).toBe('post_id,truth\ns1,spam\no1,spam\n')
  })
})
