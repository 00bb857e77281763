import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type BundledPackage, formatNotices, isAccepted, readPackages } from '../../scripts/licences.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

function writeList(...packages: BundledPackage[]): string {
  const file = join(createTemporaryFolder(), 'licences.json')
  writeFileSync(file, JSON.stringify(packages))
  return file
}

describe('licences of bundled packages', () => {
  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['(MIT AND Zlib)', true],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only', false],
    ['SEE LICENSE IN LICENSE.md', false],
  ])('%s: accepted %s', (expression, accepted) => {
    expect(isAccepted(expression)).toBe(accepted)
  })

  it('are refused together, each with its package and the reason', () => {
    const list = writeList(
      { name: 'fine', version: '1.0.0', identifier: 'MIT', text: 'words' },
      { name: 'copyleft', version: '2.0.0', identifier: 'AGPL-3.0-only', text: 'words' },
      { name: 'silent', version: '3.0.0' },
    )
    expect(() => readPackages([list])).toThrow(
      'copyleft 2.0.0 is under AGPL-3.0-only\n  silent 3.0.0 names no licence',
    )
  })

  it('are listed once per version, with the licence text and the source address', () => {
    const one = { name: 'b', version: '1.0.0', identifier: 'MPL-2.0', text: 'words of b' }
    const other = { name: 'a', version: '1.0.0', identifier: 'MIT', text: 'words of a' }
    const notices = formatNotices(readPackages([writeList(one), writeList(one, other)]))
    expect(notices.match(/words of b/g)).toHaveLength(1)
    expect(notices.indexOf('words of a')).toBeLessThan(notices.indexOf('words of b'))
    expect(notices).toContain('b 1.0.0 (MPL-2.0)\nSource: https://www.npmjs.com/package/b/v/1.0.0\n')
  })

  it('have a text even if a package only names its licence', () => {
    // The package has no licence file.
    const list = writeList({ name: 'saxes', version: '6.0.0', identifier: 'ISC' })
    expect(readPackages([list])[0]?.text).toMatch(/^Copyright \(c\) Louis-.+\n\nPermission to use, copy/)
  })
})
