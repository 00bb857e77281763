import type { Argument, Command, Option } from 'commander'
import { VERDICTS } from '../../../shared/lookback/verdict.ts'
import { readConnections } from '../../engine/workspace/connections.ts'
import { readSavedMappings } from '../../engine/workspace/saved-mappings.ts'
import { listRunIds } from '../../engine/workspace/workspace-files.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace } from '../engine-access.ts'
import { createProgram } from '../program.ts'
import { HELP_TOPICS } from '../topics.ts'

interface Candidate {
  value: string
  /** What it means, one line; may be empty. */
  about: string
}

interface Completion {
  candidates: readonly Candidate[]
  /** Which paths the shell offers too. */
  paths: 'none' | 'files' | 'folders'
}

const NOTHING: Completion = { candidates: [], paths: 'none' }

/** What the arguments before the cursor mean. */
interface Position {
  command: Command
  /** Arguments of the command before the cursor. */
  count: number
  /** The option whose value is at the cursor; null if there is none. */
  option: Option | null
  takesOptions: boolean
}

/**
 * What may stand at the cursor, for the scripts of shell-scripts.ts: `none`, `files` or `folders` on the
 * first line, then a line for each candidate, followed by a tab and its meaning. `typed` are the words before
 * the cursor, `word` is the part of the word at the cursor that is typed. Never throws: it offers nothing
 * instead.
 */
export async function completeWords(
  context: CliContext,
  typed: readonly string[],
  word: string,
): Promise<string> {
  const { candidates, paths } = await findCompletion(context, typed, word).catch(() => NOTHING)
  const fitting = candidates.filter(({ value }) => value.startsWith(word))
  const lines = fitting.map(({ value, about }) => `${value}\t${about.replaceAll(/\s+/g, ' ')}`)
  return `${[paths, ...lines].join('\n')}\n`
}

async function findCompletion(
  context: CliContext,
  typed: readonly string[],
  word: string,
): Promise<Completion> {
  const program = await createProgram(context, typed)
  if (typed[0] === 'help') return typed.length === 1 ? completeHelp(program) : NOTHING
  const position = followWords(program, typed)
  const [, name = '', known] = /^(--[\w-]+)(=?)/.exec(word) ?? []
  if (position.option === null && position.takesOptions && known === '=') {
    const option = findOption(position.command, name)
    if (option === undefined) return NOTHING
    const { candidates, paths } = completeValue(context, typed, option)
    return {
      candidates: candidates.map(({ value, about }) => ({ value: `${name}=${value}`, about })),
      paths,
    }
  }
  if (position.option !== null) return completeValue(context, typed, position.option)
  if (position.takesOptions && word.startsWith('-')) return completeOptions(position.command)
  return completeArgument(context, typed, position)
}

/** Follows the words through the tree of commands as commander reads them. */
function followWords(program: Command, typed: readonly string[]): Position {
  const position: Position = { command: program, count: 0, option: null, takesOptions: true }
  for (const word of typed) {
    if (position.option !== null) position.option = null
    else if (position.takesOptions && word === '--') position.takesOptions = false
    else if (position.takesOptions && word.startsWith('-')) {
      const option = findOption(position.command, word)
      if (option?.required) position.option = option
    } else {
      const inner = position.command.commands.find((command) => command.name() === word)
      if (inner !== undefined && position.count === 0) position.command = inner
      else position.count += 1
    }
  }
  return position
}

function findOption({ options }: Command, word: string): Option | undefined {
  return options.find(({ long, short }) => word === long || word === short)
}

function completeHelp(program: Command): Completion {
  const topics = HELP_TOPICS.map(({ name, about }) => ({ value: name, about }))
  return { candidates: [...toCandidates(program), ...topics], paths: 'none' }
}

function toCandidates({ commands }: Command): Candidate[] {
  return commands.map((command) => ({ value: command.name(), about: command.summary() }))
}

function completeOptions(command: Command): Completion {
  const options = command.createHelp().visibleOptions(command)
  const candidates = options.flatMap(({ long, description }) =>
    long === undefined ? [] : [{ value: long, about: description }],
  )
  return { candidates, paths: 'none' }
}

function completeArgument(
  context: CliContext,
  typed: readonly string[],
  { command, count }: Position,
): Completion {
  const inner = count === 0 ? toCandidates(command) : []
  const isTop = command.parent === null
  const own = [...inner, ...(isTop && count === 0 ? [{ value: 'help', about: 'show help' }] : [])]
  const { registeredArguments } = command
  const last = registeredArguments.at(-1)
  const argument = registeredArguments[count] ?? (last?.variadic ? last : undefined)
  if (argument === undefined) return { candidates: own, paths: 'none' }
  const { candidates, paths } = completeNamed(context, typed, command, argument)
  return { candidates: [...own, ...candidates], paths }
}

function completeNamed(
  context: CliContext,
  typed: readonly string[],
  command: Command,
  argument: Argument,
): Completion {
  switch (argument.name()) {
    case 'source':
    case 'file':
      return { candidates: [], paths: 'files' }
    case 'run':
    case 'a':
    case 'b':
      return { candidates: listRuns(context, typed), paths: 'none' }
    case 'run-or-source':
    case 'source-or-run':
      return { candidates: listRuns(context, typed), paths: 'files' }
    case 'mapping':
      return { candidates: listMappings(context, typed), paths: 'none' }
    case 'verdict':
      return { candidates: toPlainCandidates(VERDICTS), paths: 'none' }
    case 'name':
      return command.name() === 'add'
        ? NOTHING
        : { candidates: listConnections(context, typed), paths: 'none' }
    default:
      return { candidates: toPlainCandidates(argument.argChoices ?? []), paths: 'none' }
  }
}

function completeValue(context: CliContext, typed: readonly string[], option: Option): Completion {
  if (option.argChoices !== undefined)
    return { candidates: toPlainCandidates(option.argChoices), paths: 'none' }
  if (option.long === '--connection') {
    return { candidates: listConnections(context, typed), paths: 'none' }
  }
  if (option.long === '--mapping') return { candidates: listMappings(context, typed), paths: 'none' }
  if (/[<[]run[>\]]/.test(option.flags)) return { candidates: listRuns(context, typed), paths: 'none' }
  if (option.flags.includes('<file>')) return { candidates: [], paths: 'files' }
  if (option.flags.includes('<folder>')) return { candidates: [], paths: 'folders' }
  return NOTHING
}

function toPlainCandidates(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, about: '' }))
}

/** The newest runs: more would fill the screen. */
const LISTED_RUNS = 50

function listRuns(context: CliContext, typed: readonly string[]): Candidate[] {
  const ids = listRunIds(findWorkspace(context, typed)).slice(0, LISTED_RUNS)
  return ids.length === 0 ? [] : [{ value: 'latest', about: 'the newest run' }, ...toPlainCandidates(ids)]
}

function listConnections(context: CliContext, typed: readonly string[]): Candidate[] {
  const { connections } = readConnections(findWorkspace(context, typed))
  return connections.map(({ name, baseUrl }) => ({ value: name, about: baseUrl }))
}

function listMappings(context: CliContext, typed: readonly string[]): Candidate[] {
  const saved = readSavedMappings(findWorkspace(context, typed))
  return saved.map(({ name, operation }) => ({ value: name, about: operation }))
}

/** The workspace that the words name, or the default. */
function findWorkspace({ env }: CliContext, typed: readonly string[]): string {
  const at = typed.indexOf('--workspace')
  const joined = typed.find((word) => word.startsWith('--workspace='))?.slice('--workspace='.length)
  return resolveWorkspace(joined ?? (at < 0 ? undefined : typed[at + 1]), env)
}
