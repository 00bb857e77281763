import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { openJournal } from '../../../../src/main/engine/journal/journal.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { MediaRegistry } from '../../../../src/main/engine/receiver/media-registry.ts'
import {
  keepReceiverPort,
  readReceiverSettings,
} from '../../../../src/main/engine/receiver/receiver-settings.ts'
import { changeConnections } from '../../../../src/main/engine/workspace/connections.ts'
import { isLeaseHeld, takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import { replaceFileSync } from '../../../../src/main/engine/workspace/replace-file.ts'
import {
  createRunId,
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { spawnSluice } from '../../cli/spawn-sluice.ts'
import { writeSource } from '../../cli/write-source.ts'

test('a run’s id contains its time to the millisecond, so that ids sort by it', () => {
  const at = Date.UTC(2026, 10, 21, 9, 43, 29, 7)
  expect(createRunId(at)).toMatch(/^20261121-094329-007[a-z0-9]{4}$/)
  const ids = [0, 1, 12, 123, 999, 1_000].map((ms) => createRunId(at + ms))
  expect(ids.toSorted()).toEqual(ids)
})

test('a run’s id can be part of a post_id, and is unique', () => {
  const ids = Array.from({ length: 100 }, () => createRunId(0))
  expect(new Set(ids).size).toBeGreaterThan(98)
  for (const id of ids) expect(id).not.toMatch(/[_;]/)
})

// Modes do not apply on Windows.
const onUnix = it.skipIf(process.platform === 'win32')
// Only root can give a folder to another user.
const asRoot = it.skipIf(process.platform === 'win32' || process.geteuid?.() !== 0)

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Every file below a folder that anybody but its owner can access, with its mode. */
function listOpen(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    return (statSync(path).mode & 0o077) === 0 ? [] : [`${path}: ${modeOf(path)}`]
  })
}

function createOpenWorkspace(mode = 0o755): string {
  const workspace = join(createTemporaryFolder(), 'workspace')
  mkdirSync(join(workspace, 'runs'), { recursive: true })
  chmodSync(join(workspace, 'runs'), mode)
  chmodSync(workspace, mode)
  return workspace
}

describe('a workspace', () => {
  onUnix.each(['755', '777', '770'])('of mode %s is closed to other users', (mode) => {
    const workspace = createOpenWorkspace(Number.parseInt(mode, 8))
    createWorkspaceFolders(workspace)
    expect([modeOf(workspace), modeOf(join(workspace, 'runs'))]).toEqual(['700', '700'])
  })

  asRoot('of another user is refused with the reason and what to do', () => {
    const workspace = createOpenWorkspace()
    chownSync(workspace, 4711, 4711)
    expect(() => createWorkspaceFolders(workspace)).toThrow(
      `${workspace} is not private: ${workspace} belongs to another user (uid 4711)`,
    )
    chownSync(workspace, 0, 0)
    chownSync(join(workspace, 'runs'), 4711, 4711)
    expect(() => createWorkspaceFolders(workspace)).toThrow('runs belongs to another user (uid 4711)')
  })
})

describe('the files of a workspace', () => {
  onUnix("are their owner's alone, whatever the umask and whatever they were", () => {
    const workspace = createOpenWorkspace()
    const before = process.umask(0)
    try {
      createWorkspaceFolders(workspace)
      const file = toJournalFile(workspace, 'run')
      for (const name of [
        file,
        `${file}.lease`,
        join(workspace, 'inbox'),
        join(workspace, 'connections.json'),
      ]) {
        writeFileSync(name, name.endsWith('.json') ? '{"version":1,"inUse":null,"connections":[]}' : '')
        chmodSync(name, 0o666)
      }
      const lease = takeLease(file, 'it')
      const journal = openJournal(file)
      const inbox = InboxWriter.open(workspace)
      readReceiverSettings(workspace)
      keepReceiverPort(workspace, 20_000)
      new MediaRegistry(workspace, () => 0).add({ runToken: 't', runId: 'run', folder: workspace })
      changeConnections(workspace, (connections) => connections)
      expect(readdirSync(join(workspace, 'runs'))).toContain('run.journal-wal')
      expect(readdirSync(workspace)).toContain('inbox-shm')
      expect(listOpen(workspace)).toEqual([])
      journal.close()
      inbox?.close()
      lease.release()
    } finally {
      process.umask(before)
    }
  })

  it('are closed without releasing a lock that this process holds on them', () => {
    const workspace = createOpenWorkspace()
    const file = join(workspace, 'thing')
    const lease = takeLease(file, 'it')
    if (process.platform !== 'win32') chmodSync(`${file}.lease`, 0o644)
    expect(isLeaseHeld(file)).toBe(true)
    expect(isLeaseHeld(file)).toBe(true)
    lease.release()
    expect(isLeaseHeld(file)).toBe(false)
  })

  onUnix('that the command line makes are closed too, exports and plans included', async () => {
    onlyInLongForm()
    const workspace = createOpenWorkspace()
    const folder = createTemporaryFolder()
    const plan = join(folder, 'plan.json')
    const args = [
      'task',
      writeSource(folder, 'rows.csv', 'user_id,post_id,text_data\nu,p,hello\n'),
      '--dry-run',
      '--save-plan',
      plan,
    ]
    const result = await spawnSluice([...args, '--base-url', 'http://127.0.0.1:1'], { workspace })
    expect(result.code).toBe(0)
    expect(modeOf(plan)).toBe('600')
    expect([modeOf(workspace), ...listOpen(workspace)]).toEqual(['700'])
  })
})

describe('a file that is replaced', () => {
  onUnix('keeps its mode unless it is private, and stays behind a link', () => {
    const folder = createTemporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, 'old')
    chmodSync(file, 0o640)
    symlinkSync(file, join(folder, 'link'))
    replaceFileSync(join(folder, 'link'), 'new', { isPrivate: false })
    expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual(['new', '640'])
    replaceFileSync(file, 'newer', { isPrivate: true })
    expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual(['newer', '600'])
    expect(readdirSync(folder).sort()).toEqual(['file', 'link'])
  })

  it('is not written through a file that somebody put at a guessable draft name', () => {
    const workspace = createOpenWorkspace(0o700)
    const victim = join(createTemporaryFolder(), 'victim')
    writeFileSync(victim, 'untouched')
    mkdirSync(join(workspace, 'media'))
    for (const name of ['receiver.json', 'media/t.json']) {
      symlinkSync(victim, join(workspace, `${name}.${process.pid}.draft`))
    }
    readReceiverSettings(workspace)
    new MediaRegistry(workspace, () => 0).add({ runToken: 't', runId: 'run', folder: workspace })
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
  })

  it('leaves nothing behind if it cannot be written', () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'file'))
    expect(() => replaceFileSync(join(folder, 'file'), 'text', { isPrivate: true })).toThrow()
    expect(readdirSync(folder)).toEqual(['file'])
  })
})
