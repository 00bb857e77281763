import { SOURCE_OPTIONS } from '../../shared/options/source-options.ts'

/** Options that say how a source is read and mapped. */
const SOURCE_FLAGS = [
  ...Object.values(SOURCE_OPTIONS).flatMap((option) => ('flag' in option ? [option.flag] : [])),
  ...['--map <field=column>', '--set <field=template>'],
].map((flag) => flag.replace(/ .*/, ''))

/**
 * Commands that read and map a source as a plan or an earlier run did, and what to do instead of passing such
 * an option.
 */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  plan: 'change the plan file, or write another one with --save-plan',
  'run-again': 'send the file by the command that sent the earlier run',
}

/**
 * An error or a problem without what looks like an option in its arguments, such as the name of a sheet: only
 * our own words advise options.
 */
export function withoutOptions<Said>(said: Said): Said {
  return JSON.parse(JSON.stringify(said).replaceAll('--', '')) as Said
}

/**
 * Says that a command does not take the options that a text names; empty if it takes them or none is named.
 */
export function sayUnsupported(command: string, text: string): string {
  const alternative = ALTERNATIVES[command]
  const named = SOURCE_FLAGS.filter((flag) => new RegExp(`${flag}(?![\\w-])`).test(text))
  if (alternative === undefined || named.length === 0) return ''
  const last = named.pop()
  const list = named.length === 0 ? last : `${named.join(', ')} or ${last}`
  return `\`${command}\` does not take ${list}: ${alternative}.`
}
