import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkK6Folder } from '../../../../src/main/engine/load/k6/k6-project.ts'
import { refuseForeignLinks } from '../../../../src/main/engine/workspace/foreign-links.ts'
import { replaceFile, replaceFileSync } from '../../../../src/main/engine/workspace/replace-file.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { writeRun } from '../../../helpers/write-run.ts'
import { runInProcess } from '../../cli/run-in-process.ts'

const ownUid = process.geteuid?.() ?? 0
const OTHER = 65_534
const onUnix = describe.skipIf(process.platform === 'win32')
/** Only root can create links that belong to another user. */
const asRoot = describe.runIf(ownUid === 0)

/** A shared folder such as /tmp, in which a link leads to a file elsewhere. */
function createShared(mode = 0o1777) {
  const shared = createTemporaryFolder()
  chmodSync(shared, mode)
  const victim = join(createTemporaryFolder(), 'victim.csv')
  writeFileSync(victim, 'untouched')
  const link = join(shared, 'out.csv')
  symlinkSync(victim, link)
  return { shared, victim, link }
}

onUnix('links', () => {
  test('of the person and of the system are followed, to the last', () => {
    const { shared, link } = createShared()
    symlinkSync(link, join(shared, 'again.csv'))
    for (const path of [link, join(shared, 'again.csv'), '/dev/stdout', join(shared, 'new.csv')]) {
      expect(() => refuseForeignLinks(path)).not.toThrow()
    }
  })

  test('that form a circle do not loop forever', () => {
    const folder = createTemporaryFolder()
    symlinkSync('loop', join(folder, 'loop'))
    expect(() => refuseForeignLinks(join(folder, 'loop'))).toThrow(/ELOOP/)
  })

  test.skipIf(ownUid === 0)('of another user are not followed', () => {
    const { link } = createShared()
    expect(() => refuseForeignLinks(link, ownUid + 1)).toThrow(`${link} is a link of another user`)
  })
})

asRoot("another user's link", () => {
  test.each([
    ['a sticky folder', 0o1777],
    ['a folder that all can write to', 0o777],
    ['a folder of the person', 0o755],
  ])('in %s is neither followed nor replaced', async (_, mode) => {
    const { shared, victim, link } = createShared(mode)
    lchownSync(link, OTHER, OTHER)
    const refusal = `${link} is a link of another user`
    await expect(replaceFile(link, (append) => append('new'))).rejects.toThrow(refusal)
    expect(() => replaceFileSync(link, 'new', { isPrivate: true })).toThrow(refusal)
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readdirSync(shared)).toEqual(['out.csv'])
  })

  test('is refused if its target does not exist yet, or if a link of the person leads to it', async () => {
    const { shared, link } = createShared()
    const dangling = join(shared, 'dangling.csv')
    symlinkSync(join(shared, 'not-there'), dangling)
    for (const path of [link, dangling]) lchownSync(path, OTHER, OTHER)
    const own = join(createTemporaryFolder(), 'own.csv')
    symlinkSync(link, own)
    await expect(replaceFile(dangling, (append) => append('new'))).rejects.toThrow(`${dangling} is a link`)
    await expect(replaceFile(own, (append) => append('new'))).rejects.toThrow(`${link} is a link`)
  })

  test('is not followed on the way to the file if anybody could have put it there', async () => {
    const { shared } = createShared()
    const elsewhere = createTemporaryFolder()
    const way = join(shared, 'results')
    symlinkSync(elsewhere, way)
    lchownSync(way, OTHER, OTHER)
    await expect(replaceFile(join(way, 'out.csv'), (append) => append('new'))).rejects.toThrow(
      `${way} is a link of another user`,
    )
    expect(readdirSync(elsewhere)).toEqual([])
    const closed = createTemporaryFolder()
    mkdirSync(join(closed, 'admin'))
    symlinkSync(elsewhere, join(closed, 'admin', 'current'))
    lchownSync(join(closed, 'admin', 'current'), OTHER, OTHER)
    chownSync(join(closed, 'admin'), OTHER, OTHER)
    await replaceFile(join(closed, 'admin', 'current', 'out.csv'), (append) => append('new'))
    expect(readFileSync(join(elsewhere, 'out.csv'), 'utf8')).toBe('new')
  })

  test('nor is a pipe of another user written to', async () => {
    const { shared } = createShared()
    const pipe = join(shared, 'pipe.csv')
    execFileSync('mkfifo', [pipe])
    chownSync(pipe, OTHER, OTHER)
    await expect(replaceFile(pipe, (append) => append('new'))).rejects.toThrow(
      `${pipe} belongs to another user`,
    )
  })

  test('stops an export, a report, a sample and a saved plan, which say what to do', async () => {
    const workspace = createTemporaryFolder()
    writeRun(workspace, { runId: '20261101-000000-000bbbb' })
    const source = join(workspace, 'source.csv')
    writeFileSync(source, 'text_data,user_id\na,b\n')
    const { shared, victim, link } = createShared()
    const plan = join(shared, 'victim.json')
    writeFileSync(plan, '{ "operation": {}, "source": {} }')
    symlinkSync(victim, join(shared, 'out.html'))
    symlinkSync(plan, join(shared, 'out.json'))
    for (const name of readdirSync(shared))
      if (name !== 'victim.json') lchownSync(join(shared, name), OTHER, OTHER)
    const commands = [
      ['export', 'latest', link],
      ['report', 'latest', join(shared, 'out.html')],
      ['sample', source, link, '--size', '1'],
      ['task', source, '--base-url', 'http://127.0.0.1:1', '--save-plan', join(shared, 'out.json')],
    ]
    for (const args of commands) {
      const result = await runInProcess(args, { workspace })
      expect({ args, code: result.code, stderr: result.stderr }).toMatchObject({
        code: expect.not.toBeOneOf([0]),
        stderr: expect.stringContaining('another user'),
      })
    }
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(readFileSync(plan, 'utf8')).toBe('{ "operation": {}, "source": {} }')
  })
})

asRoot('a k6 project behind the link of another user', () => {
  test('is refused before anything is sent', async () => {
    const shared = createTemporaryFolder()
    chmodSync(shared, 0o1777)
    const link = join(shared, 'load.k6')
    symlinkSync(createTemporaryFolder(), link)
    lchownSync(link, OTHER, OTHER)
    await expect(checkK6Folder(link)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' })
  })
})
