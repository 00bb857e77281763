import { SOURCE_OPTIONS } from '../../shared/options/source-options.ts'

/** Options that say how a source is read and mapped. */
const SOURCE_FLAGS = [
  ...Object.values(SOURCE_OPTIONS).flatMap((option) => ('flag' in option ? [option.flag] : [])),
  ...['--map <field=column>', '--set <field=template>'],
].map((flag) => flag.replace(/ .*/, ''))

/** Commands that read a source as a plan or an earlier run did, and what to do instead of such an option. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  plan: 'change the plan file, or write another one with --save-plan',
  'run-again': 'send the file by the command that sent the earlier run',
}

/** What a text quotes, such as the name of a sheet; an apostrophe inside a word begins no quote. */
const QUOTED = /`[^`]*`|"[^"]*"|(?<!\w)'[^']*'/g

/**
 * Says that a command does not take the options that a text advises, which it never quotes; empty if it takes
 * them or none is advised.
 */
export function sayUnsupported(command: string, text: string): string {
  const alternative = ALTERNATIVES[command]
  const own = text.replaceAll(QUOTED, '')
  const named = SOURCE_FLAGS.filter((flag) => new RegExp(`${flag}(?![\\w-])`).test(own))
  if (alternative === undefined || named.length === 0) return ''
  const last = named.pop()
  const list = named.length === 0 ? last : `${named.join(', ')} or ${last}`
  return `\`${command}\` does not take ${list}: ${alternative}.`
}
