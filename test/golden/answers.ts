import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Exit code and output of a command. */
export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** A command line's answer about a workspace: JSON documents as they are, everything else by line. */
export interface Answer {
  /** `{out}` stands for the folder of written files. */
  args: string[]
  code: number | null
  stdout: unknown
  stderr: string[]
  /** Contents of the written files, by name. */
  files: Record<string, string[]>
}

/** Folder of the golden workspaces and their answers. */
const GOLDEN_FOLDER = fileURLToPath(new URL('../fixtures/golden/', import.meta.url))

/** The path that a golden workspace pretends to have, wherever its copy is. */
const NEUTRAL_WORKSPACE = '/golden/workspace'

/**
 * Asks one question. `folder` is an empty folder for the written files.
 *
 * Everything that depends on the machine is replaced here, and only here: the paths of the copy and of the
 * written files, and the command that starts Sluice. The time zone is that of the process (`TZ=UTC`); Sluice
 * writes numbers in English everywhere.
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

/** The answers of the version that wrote the workspace. */
export function readAnswers(name: string, folder: string = GOLDEN_FOLDER): Answer[] {
  return readFileSync(join(folder, name, 'answers.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer)
}

/**
 * Stores a packed workspace as a fixture, without locks and SQLite's shared-memory files, which hold no data.
 */
export function storeGolden(workspace: string, folder: string): void {
  for (const file of listFiles(workspace)) {
    if (statSync(file).size === 0 || file.endsWith('-shm')) continue
    const packed = join(folder, 'workspace', `${relative(workspace, file)}.gz`)
    mkdirSync(dirname(packed), { recursive: true })
    writeFileSync(packed, gzipSync(toNeutral(file, readFileSync(file)), { level: 9 }))
  }
}

/**
 * The secret for callback addresses is the only one in a workspace; no receiver listens for a golden
 * workspace.
 */
function toNeutral(file: string, content: Buffer): Buffer | string {
  if (basename(file) !== 'receiver.json') return content
  return content.toString('utf8').replace(/[0-9a-f]{64}/, '0'.repeat(64))
}

/** Stores the answers of a golden workspace. */
export function storeAnswers(answers: readonly Answer[], folder: string): void {
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`)
  writeFileSync(join(folder, 'answers.jsonl'), lines.join(''))
}

/** Unpacks a golden workspace into a folder that does not exist yet. */
export function copyGolden(name: string, workspace: string, folder: string = GOLDEN_FOLDER): void {
  const packed = join(folder, name, 'workspace')
  for (const file of listFiles(packed)) {
    const copy = join(workspace, relative(packed, file).replace(/\.gz$/, ''))
    // As Sluice creates them: readable by their owner only.
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
