import { type Command, InvalidArgumentError, type Option } from 'commander'

/** Makes a command and its subcommands refuse a repeated single-value option: the last would silently win. */
export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (isRepeatable(option)) continue
    let given: string | null = null
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (given !== null) {
        throw new InvalidArgumentError(
          `${option.long ?? option.flags} takes one value and was given twice. Leave one of the two out.`,
        )
      }
      given = value ?? ''
    })
  }
  for (const below of command.commands) refuseRepeatedOptions(below)
}

/** Whether an option may be given again: it collects its values, or has none. */
export function isRepeatable({ required, optional, variadic, argChoices, parseArg }: Option): boolean {
  if (!required && !optional) return true
  // A collecting parser takes the earlier values; the parser of choices ignores them.
  return variadic || (argChoices === undefined && (parseArg?.length ?? 0) > 1)
}
