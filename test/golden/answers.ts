import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

/** How a command ended and what it wrote. */
export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** What a command line said of a workspace: JSON documents as they are, everything else line by line. */
export interface Answer {
  /** `{out}` stands for the folder of the files that are written. */
  args: string[]
  code: number | null
  stdout: unknown
  stderr: string[]
  /** The files that were written, by name. */
  files: Record<string, string[]>
}

/** Where the golden workspaces and their answers are. */
const GOLDEN_FOLDER = fileURLToPath(new URL('../fixtures/golden/', import.meta.url))

/** Where a golden workspace counts as being, wherever its copy is. */
const NEUTRAL_WORKSPACE = '/golden/workspace'

/**
 * Asks one question. `folder` is empty and becomes that of the files that are written.
 *
 * All that depends on the machine is made the same here, and only here: where the copy and the written files are, and
 * how the command line was started. The time zone is that of the process (`TZ=UTC`); Sluice writes numbers in English
 * everywhere.
 */
export async function ask(
  args: readonly string[],
  places: { workspace: string; folder: string },
  run: (args: readonly string[]) => Promise<CommandResult>,
): Promise<Answer> {
  const { workspace, folder } = places
  mkdirSync(folder, { recursive: true })
  const { code, stdout, stderr } = await run(args.map((arg) => arg.replace('{out}', folder)))
  const normalise = (text: string) =>
    text
      .replaceAll(JSON.stringify(folder).slice(1, -1), '{out}')
      .replaceAll(folder, '{out}')
      .replaceAll(JSON.stringify(workspace).slice(1, -1), NEUTRAL_WORKSPACE)
      .replaceAll(workspace, NEUTRAL_WORKSPACE)
      .replaceAll('npm run -s sluice -- ', 'sluice ')
  const out = normalise(stdout)
  return {
    args: [...args],
    code,
    stdout: args.includes('--json') && out !== '' ? JSON.parse(out) : toLines(out),
    stderr: toLines(normalise(stderr)),
    files: Object.fromEntries(
      readdirSync(folder)
        .sort()
        .map((name) => [name, toLines(normalise(readFileSync(join(folder, name), 'utf8')))]),
    ),
  }
}

function toLines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

/** Names of the golden workspaces. */
export function listGoldenWorkspaces(folder: string = GOLDEN_FOLDER): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** The answers of the version that wrote a workspace. */
export function readAnswers(name: string, folder: string = GOLDEN_FOLDER): Answer[] {
  return readFileSync(join(folder, name, 'answers.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer)
}

/** Keeps a workspace, packed, as a fixture; without locks and what SQLite shares between processes, which hold nothing. */
export function storeGolden(workspace: string, folder: string): void {
  for (const file of listFiles(workspace)) {
    if (statSync(file).size === 0 || file.endsWith('-shm')) continue
    const packed = join(folder, 'workspace', `${relative(workspace, file)}.gz`)
    mkdirSync(dirname(packed), { recursive: true })
    writeFileSync(packed, gzipSync(toNeutral(file, readFileSync(file)), { level: 9 }))
  }
}

/** The secret that makes callback addresses is the only one in a workspace; nobody receives at those of a golden one. */
function toNeutral(file: string, content: Buffer): Buffer | string {
  if (basename(file) !== 'receiver.json') return content
  return content.toString('utf8').replace(/[0-9a-f]{64}/, '0'.repeat(64))
}

/** Keeps what a golden workspace answers. */
export function storeAnswers(answers: readonly Answer[], folder: string): void {
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`)
  writeFileSync(join(folder, 'answers.jsonl'), lines.join(''))
}

/** Writes a copy of a golden workspace into a folder that does not exist yet. */
export function copyGolden(name: string, workspace: string, folder: string = GOLDEN_FOLDER): void {
  const packed = join(folder, name, 'workspace')
  for (const file of listFiles(packed)) {
    const copy = join(workspace, relative(packed, file).replace(/\.gz$/, ''))
    // As Sluice makes them: for their owner alone.
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    writeFileSync(copy, gunzipSync(readFileSync(file)), { mode: 0o600 })
  }
}

/** All files below a folder, sorted; none if it does not exist. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.parentPath + sep + entry.name)
    .sort()
}
