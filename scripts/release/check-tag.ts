// npm run -s release:check-tag -- vVERSION: checks that a tag matches the version in package.json and that
// CHANGELOG.md has an entry for it, then prints that entry as release notes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findNotes } from './release-notes.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(PROJECT_FOLDER, path), 'utf8')

const [tag = ''] = process.argv.slice(2)
const { version }: { version: string } = JSON.parse(read('package.json'))
const notes = findNotes(read('CHANGELOG.md'), version)
if (tag !== `v${version}`) {
  process.stderr.write(`release:check-tag: the tag is ${tag || 'missing'}, but package.json has ${version}\n`)
  process.exitCode = 1
} else if (!notes) {
  process.stderr.write(
    `release:check-tag: CHANGELOG.md has no entry for ${version}. Rename [Unreleased] to [${version}].\n`,
  )
  process.exitCode = 1
} else {
  process.stdout.write(`${notes}\n`)
}
