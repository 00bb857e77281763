import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT_FOLDER } from './read-module.ts'

/** Heading of the column that names tests. */
const PROOF = 'proved by'

interface Claim {
  /** The protected thing, from the first cell. */
  what: string
  proofs: { file: string; title: string }[]
}

/** The rows of all tables of the security page that name tests. */
function readClaims(): Claim[] {
  const text = readFileSync(join(PROJECT_FOLDER, 'docs', 'security.md'), 'utf8')
  const claims: Claim[] = []
  let proofAt = -1
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) {
      proofAt = -1
      continue
    }
    const cells = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
    if (proofAt === -1) proofAt = cells.indexOf(PROOF)
    else if (!/^-+$/.test(cells[0] ?? '')) {
      claims.push({ what: cells[0] ?? '', proofs: readProofs(cells[proofAt] ?? '') })
    }
  }
  return claims
}

/**
 * The tests that a cell names: each a file under `test` and a full title, both empty if it is something else.
 */
function readProofs(cell: string): Claim['proofs'] {
  return cell.split('<br>').map((part) => {
    const [, file = '', title = ''] = /^`([\w/.-]+\.test\.tsx?)` (.+)$/.exec(part.trim()) ?? []
    return { file, title: title.replaceAll('\\|', '|') }
  })
}

/** Whether a file has a test with exactly that title. */
function hasTest(file: string, title: string): boolean {
  const path = join(PROJECT_FOLDER, 'test', file)
  if (file === '' || !existsSync(path)) return false
  const escaped = title.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`\\(\\s*(['"\`])${escaped}\\1,`).test(readFileSync(path, 'utf8'))
}

it('claims nothing without a test', () => {
  const claims = readClaims()
  expect(claims.length).toBeGreaterThan(30)
  expect(
    claims.filter(({ proofs }) => proofs.every(({ file }) => file === '')).map(({ what }) => what),
  ).toEqual([])
})

it("has a row for each of the 20 points of Electron's security page", () => {
  const text = readFileSync(join(PROJECT_FOLDER, 'docs', 'security.md'), 'utf8')
  const numbers = [...text.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number))
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

it('names existing tests by their full titles', () => {
  const named = readClaims().flatMap(({ proofs }) => proofs)
  expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
})
