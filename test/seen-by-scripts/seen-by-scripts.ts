import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { createCliContext } from '../../src/main/cli/context.ts'
import {
  DOCUMENT_SCHEMAS,
  type DocumentName,
  toDocumentJsonSchema,
} from '../../src/main/cli/documents/document-schemas.ts'
import { COMMAND_NAMES, createProgram } from '../../src/main/cli/program.ts'
import { type ErrorEntry, EXIT } from '../../src/shared/messages/error-entry.ts'
import { ERROR_MESSAGES } from '../../src/shared/messages/error-messages.ts'
import { APP_VERSION } from '../../src/shared/version.ts'
import { type Answer, listGoldenWorkspaces, readAnswers } from '../golden/answers.ts'
import { toExpected } from '../golden/intended-differences.ts'

/** What scripts see of the last version, as `npm run seen-by-scripts` recorded it. */
export const SEEN_FILE = fileURLToPath(new URL('../fixtures/seen-by-scripts.json', import.meta.url))

/** What scripts see of a version: space-separated names, by what they belong to. */
export interface SeenByScripts {
  version: string
  /** Exit codes by their meaning, and by the error code they come with. */
  exit_codes: Record<string, string>
  /** Options and arguments of each command. */
  options: Record<string, string>
  /** Members of each document of `--json`, as paths. */
  members: Record<string, string>
  /** Columns of each default export of a golden workspace. */
  columns: Record<string, string>
}

/** Collects what scripts see of the current code. */
export async function collectSeenByScripts(): Promise<SeenByScripts> {
  const program = await createProgram(createCliContext({ env: {} }), COMMAND_NAMES)
  return {
    version: APP_VERSION,
    exit_codes: listExitCodes(),
    options: Object.fromEntries(program.commands.flatMap((command) => listOptions(command, ''))),
    members: Object.fromEntries(
      (Object.keys(DOCUMENT_SCHEMAS) as DocumentName[]).map((name) => [
        name,
        [...new Set(listMembers(toDocumentJsonSchema(name), ''))].sort().join(' '),
      ]),
    ),
    columns: Object.fromEntries(listGoldenWorkspaces().flatMap(listColumns)),
  }
}

function listExitCodes(): Record<string, string> {
  const entries: readonly ErrorEntry[] = Object.values(ERROR_MESSAGES)
  const codes = new Set(entries.map(({ code }) => code))
  return {
    ...Object.fromEntries(Object.entries(EXIT).map(([name, code]) => [name, String(code)])),
    ...Object.fromEntries(
      [...codes].map((code) => {
        const exits = entries
          .filter((entry) => entry.code === code)
          .map(({ exit = 'badInput' }) => EXIT[exit])
        return [code, [...new Set(exits)].sort((a, b) => a - b).join(' ')]
      }),
    ),
  }
}

/** The options and arguments of a command and its subcommands. */
function listOptions(command: Command, above: string): [string, string][] {
  const name = `${above}${command.name()}`
  const options = command.options.map((option) => option.long ?? option.flags)
  const given = command.registeredArguments.map((argument) => argument.name())
  return [
    [name, [...given, ...options].sort().join(' ')],
    ...command.commands.flatMap((below) => listOptions(below, `${name} `)),
  ]
}

/** Paths of the members of a JSON Schema; `*` stands for members of a record and items of an array. */
function listMembers(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((part) => listMembers(part, path))
  if (typeof schema !== 'object' || schema === null) return []
  const {
    properties = {},
    items,
    additionalProperties,
    anyOf,
    oneOf,
    allOf,
  } = schema as Record<string, unknown>
  return [
    ...Object.entries(properties as object).flatMap(([name, member]) => [
      `${path}${name}`,
      ...listMembers(member, `${path}${name}.`),
    ]),
    ...listMembers([items, additionalProperties], `${path}*.`),
    ...listMembers([anyOf, oneOf, allOf], path),
  ]
}

/** The header of the first CSV that a golden workspace exports without options. */
function listColumns(workspace: string): [string, string][] {
  const found = readAnswers(workspace)
    .map((answer) => toExpected(answer, workspace))
    .find(isDefaultExport)
  if (found === undefined) return []
  const [header = ''] = found.args[2] === '-' ? (found.stdout as string[]) : (found.files['load.csv'] ?? [])
  return [[workspace, header.replace('\ufeff', '').replaceAll(',', ' ')]]
}

function isDefaultExport({ args: [command, , file, ...rest] }: Answer): boolean {
  return (
    command === 'export' && (file === '-' ? rest.join(' ') === '--format csv' : file === '{out}/load.csv')
  )
}

/** Names that one version has and another lacks, each with its owner. */
export function listChanges(before: SeenByScripts, now: SeenByScripts): { of: string; name: string }[] {
  return (['exit_codes', 'options', 'members', 'columns'] as const).flatMap((kind) => {
    const groups = new Set([...Object.keys(before[kind]), ...Object.keys(now[kind])])
    return [...groups].flatMap((group) => {
      const [was, is] = [before[kind][group], now[kind][group]]
      // The name of a new command covers everything that is new in it.
      if (was === undefined || is === undefined) return [{ of: kind, name: group }]
      const [had, has] = [new Set(was.split(' ')), new Set(is.split(' '))]
      const changed = [...had.symmetricDifference(has)]
      if (kind === 'exit_codes') return changed.length === 0 ? [] : [{ of: kind, name: group }]
      return changed.map((name) => ({ of: `${kind} of ${group}`, name }))
    })
  })
}

/** Changes that migrating.md does not mention above the heading of the version. */
export function listUnmentioned(
  changes: readonly { of: string; name: string }[],
  page: string,
  version: string,
): string[] {
  const [since = ''] = page.split(`\n## ${version}\n`)
  const code = (since.match(/`[^`]+`/g) ?? []).join(' ')
  const words = new Set(code.split(/[^\w-]+/).filter((word) => word !== ''))
  const isMentioned = (name: string) => {
    const last =
      name
        .split(/[.\s]/)
        .filter((part) => part !== '*')
        .at(-1) ?? name
    return words.has(last)
  }
  return changes.filter(({ name }) => !isMentioned(name)).map(({ of, name }) => `${name} (${of})`)
}
