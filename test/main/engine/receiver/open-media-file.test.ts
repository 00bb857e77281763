import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isInside, toFilePath } from '../../../../src/main/engine/receiver/addresses.ts'
import { checkOpened, openMediaFile } from '../../../../src/main/engine/receiver/media-file.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** A folder with a file, beside a folder with a secret. */
function createFolders(): { folder: string; outside: string } {
  const root = createTemporaryFolder()
  const [folder, outside] = [join(root, 'media'), join(root, 'media-of-others')]
  for (const path of [folder, outside, join(folder, 'sub')]) mkdirSync(path)
  writeFileSync(join(folder, 'cat.jpg'), 'a cat')
  writeFileSync(join(folder, 'sub', 'dog.jpg'), 'a dog')
  writeFileSync(join(outside, 'secret.txt'), 'a secret')
  return { folder, outside }
}

/** The content at a path; null if nothing can be read. */
async function read(folder: string, path: string): Promise<string | null> {
  const file = await openMediaFile(folder, path)
  if (file === null) return null
  await using handle = file.handle
  return handle.readFile('utf8')
}

describe('a path inside a folder', () => {
  const NOWHERE: [string][] = [
    [''],
    ['.'],
    ['..'],
    ['../media-of-others/secret.txt'],
    ['sub/../../media-of-others/secret.txt'],
    ['sub/..'],
    ['sub/../cat.jpg'],
    ['./cat.jpg'],
    ['/etc/passwd'],
    ['//etc/passwd'],
    ['sub//dog.jpg'],
    ['sub/'],
    ['cat.jpg/'],
    ['cat.jpg\0'],
    ['cat.jpg\0.png'],
  ]

  it.each(NOWHERE)('is not valid if it is %j', async (path) => {
    const { folder } = createFolders()
    expect(toFilePath(folder, path, 'linux')).toBeNull()
    expect(toFilePath(folder, path, 'win32')).toBeNull()
    expect(await read(folder, path)).toBeNull()
  })

  it.each([
    'C:/windows/win.ini',
    'C:cat.jpg',
    'cat.jpg::$DATA',
    'cat.jpg:stream',
    'cat.jpg.',
    'cat.jpg ',
    'sub./dog.jpg',
    'con',
    'CON.jpg',
    'sub/nul.txt',
    'aux.tar.gz',
    'COM1',
    'lpt9.jpg',
    'com¹.jpg',
    'conin$',
    'cat?.jpg',
    'c*t.jpg',
    '...',
    '..\\media-of-others\\secret.txt',
    'sub\\dog.jpg',
    '..\\..\\',
    '\\\\host\\share',
  ])('is not valid on Windows if it is %j', (path) => {
    expect(toFilePath('/folder', path, 'win32')).toBeNull()
    expect(toFilePath('/folder', path, 'linux')).not.toBeNull()
  })

  it.each([
    '..cat.jpg',
    'cat..jpg',
    '.hidden',
    'console.jpg',
    'company/nullify.txt',
    '%2e%2e',
    '~root',
    'ü.png',
  ])('may be %j', (path) => {
    expect(toFilePath('/folder', path, 'win32')).not.toBeNull()
    expect(toFilePath('/folder', path, 'linux')).toBe(join('/folder', path))
  })

  it('is distinguished from a similar one', () => {
    const inside = ['/a/b/c', '/a/b/..c', '/a/b/c/d'].map((path) => isInside('/a/b', path))
    const outside = ['/a/b', '/a', '/a/bc', '/a/b/../c', '/', '/x'].map((path) => isInside('/a/b', path))
    expect([inside, outside]).toEqual([Array(3).fill(true), Array(6).fill(false)])
    expect(isInside('/', '/etc')).toBe(true)
  })
})

describe('a file that is served', () => {
  it('is read from the folder, and changes its tag when it changes', async () => {
    const { folder } = createFolders()
    expect(await read(folder, 'cat.jpg')).toBe('a cat')
    expect(await read(folder, 'sub/dog.jpg')).toBe('a dog')
    expect(await read(folder, 'bird.jpg')).toBeNull()
    const first = await openMediaFile(folder, 'cat.jpg')
    writeFileSync(join(folder, 'cat.jpg'), 'a bigger cat')
    const second = await openMediaFile(folder, 'cat.jpg')
    await Promise.all([first?.handle.close(), second?.handle.close()])
    expect([first?.sizeBytes, second?.sizeBytes]).toEqual([5, 12])
    expect(first?.etag).not.toBe(second?.etag)
  })

  it.skipIf(process.platform === 'win32')(
    'may have a backslash in its name, which separates nothing',
    async () => {
      const { folder } = createFolders()
      writeFileSync(join(folder, 'sub\\dog.jpg'), 'another dog')
      expect(await read(folder, 'sub\\dog.jpg')).toBe('another dog')
      expect(await read(folder, '..\\media-of-others\\secret.txt')).toBeNull()
    },
  )

  it('is a regular file, not a folder, pipe or device', async () => {
    const { folder } = createFolders()
    expect(await read(folder, 'sub')).toBeNull()
    if (process.platform === 'win32') return
    execFileSync('mkfifo', [join(folder, 'pipe')])
    symlinkSync('/dev/zero', join(folder, 'zero'))
    expect(await read(folder, 'pipe')).toBeNull()
    expect(await read(folder, 'zero')).toBeNull()
  })

  it('may be reached by links that stay inside, but not by links that lead out', async () => {
    const { folder, outside } = createFolders()
    symlinkSync('sub/dog.jpg', join(folder, 'link-inside.jpg'))
    symlinkSync('sub', join(folder, 'folder-inside'))
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.jpg'))
    symlinkSync('../media-of-others', join(folder, 'folder-outside'))
    symlinkSync('link.jpg', join(folder, 'link-to-link.jpg'))
    symlinkSync('loop', join(folder, 'loop'))
    symlinkSync('/proc/self/environ', join(folder, 'environ'))
    symlinkSync('..', join(folder, 'sub', 'up'))
    expect(await read(folder, 'link-inside.jpg')).toBe('a dog')
    expect(await read(folder, 'folder-inside/dog.jpg')).toBe('a dog')
    expect(await read(folder, 'sub/up/cat.jpg')).toBe('a cat')
    const out = [
      'link.jpg',
      'folder-outside/secret.txt',
      'link-to-link.jpg',
      'loop',
      'environ',
      'sub/up/folder-outside/secret.txt',
    ]
    expect(await Promise.all(out.map((path) => read(folder, path)))).toEqual(out.map(() => null))
  })

  it('is served under each name it has inside, including hard links', async () => {
    const { folder } = createFolders()
    linkSync(join(folder, 'cat.jpg'), join(folder, 'same.jpg'))
    expect(await read(folder, 'same.jpg')).toBe('a cat')
  })

  it('is refused if a link was swapped after it was opened', async () => {
    const { folder, outside } = createFolders()
    const path = join(folder, 'link.jpg')
    symlinkSync(join(outside, 'secret.txt'), path)
    const handle = await open(path, 'r')
    onTestFinished(() => handle.close())
    expect(await checkOpened(handle, folder, path)).toBeNull()
    rmSync(path)
    symlinkSync('cat.jpg', path)
    expect(await checkOpened(handle, folder, path)).toBeNull()
    rmSync(path)
    writeFileSync(path, 'a secret')
    expect(await checkOpened(handle, folder, path)).toBeNull()
  })

  it('is refused if its folder was replaced', async () => {
    const { folder, outside } = createFolders()
    writeFileSync(join(outside, 'cat.jpg'), 'a secret cat')
    renameSync(folder, `${folder}-before`)
    symlinkSync(outside, folder)
    expect(await read(folder, 'cat.jpg')).toBeNull()
  })
})
