import { type Command, CommanderError } from 'commander'
import { listNearest } from '../../shared/messages/find-nearest.ts'

const SUGGESTED_MAX = 3

/**
 * An error about an unknown command or option, with suggestions of names that differ in at most a third of
 * their letters. Other errors stay as they are.
 */
export function addSuggestion(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error
  const isCommand = error.code === 'commander.unknownCommand'
  if (!isCommand && error.code !== 'commander.unknownOption') return error
  const [, typed = ''] = /'([^']*)'/.exec(error.message) ?? []
  const command = findCommand(program, args)
  const options = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? [])
  const names = isCommand ? [...command.commands.map((one) => one.name()), ...options] : options
  const byComparable = new Map(names.map((name) => [toComparable(name), name]))
  const near = listNearest(toComparable(typed), [...byComparable.keys()]).map(
    (one) => byComparable.get(one) ?? one,
  )
  if (near.length === 0) return error
  return new CommanderError(error.exitCode, error.code, `${error.message}${sayNear(near)}`)
}

/** A name for comparisons: without its hyphens in front, with its words joined by `_`. */
function toComparable(name: string): string {
  return name.replace(/^--/, '').replaceAll('-', '_')
}

/** Suggested names after a message: `; did you mean show or sql?` */
export function sayNear(names: readonly string[]): string {
  const near = names.slice(0, SUGGESTED_MAX)
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
}

/** The words of the command that arguments name, such as `runs prune`; none for the program itself. */
export function nameCommand(program: Command, args: readonly string[]): string {
  const names: string[] = []
  for (let command = findCommand(program, args); command !== program && command.parent !== null; ) {
    names.unshift(command.name())
    command = command.parent
  }
  return names.join(' ')
}

/** The command that the arguments name, as far as they name one. */
function findCommand(program: Command, args: readonly string[]): Command {
  let command = program
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? ''
    // Options of the program come before the command: `--workspace FOLDER show RUN`.
    const option =
      command === program ? program.options.find(({ long, short }) => [long, short].includes(word)) : null
    if (option) {
      if (option.required) at += 1
      continue
    }
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) break
    command = next
  }
  return command
}
