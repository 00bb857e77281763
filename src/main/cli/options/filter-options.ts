import { type Command, InvalidArgumentError } from 'commander'
import { findRule } from '../../../shared/lookback/labels.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { fromStateName, toStateName } from '../../../shared/messages/state-name.ts'
import { COUNTED_STATES, listStates, rowAnswerSchema } from '../../../shared/run/item-state.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { collect } from './parse-values.ts'

/** The counted states: those that ended, those that are not sent, and those still open. */
const STATES = [listStates('succeeded', 'unsuccessful'), listStates('unsent'), listStates('open')]
  .flat()
  .filter((state) => COUNTED_STATES.some((counted) => counted.state === state))
  .map(toStateName)

/** Accepted in addition to the states: every row that ended without success. */
const UNSUCCESSFUL = 'unsuccessful'

/** Most files or rules that an error lists. */
const NAMED_MAX = 20

function parseState(text: string): RowFilter {
  if (text === UNSUCCESSFUL) return { unsuccessful: true }
  const state = STATES.find((candidate) => candidate === text.replaceAll(/[- ]/g, '_'))
  if (state === undefined) {
    throw new InvalidArgumentError(
      `expected one of ${[...STATES, UNSUCCESSFUL].join(', ')}, found \`${text}\`.`,
    )
  }
  return { state: fromStateName(state) }
}

function parseAnswer(text: string): RowFilter {
  const answer = rowAnswerSchema.options.find((candidate) => candidate === text.replaceAll('-', '_'))
  if (answer === undefined) {
    throw new InvalidArgumentError(
      `expected one of ${rowAnswerSchema.options.join(', ')}, found \`${text}\`.`,
    )
  }
  return { answer }
}

const FILTER_FLAGS = {
  state: {
    help: `only rows in this state: ${STATES.join(', ')}, or ${UNSUCCESSFUL} for all that did not succeed`,
    parse: parseState,
  },
  answer: {
    help: 'only rows with this answer, such as failed, pre_existing or overturned',
    parse: parseAnswer,
  },
}
const FILTER_NAMES = Object.keys(FILTER_FLAGS) as (keyof typeof FILTER_FLAGS)[]

/** The given filters, as they are written. */
export function listFilterFlags(flags: FilterFlags): string[] {
  return [
    ...[...FILTER_NAMES, 'rule' as const, 'flagged' as const].flatMap((name) =>
      flags[name] === undefined ? [] : [`--${name}`],
    ),
    ...(flags.fromFile === undefined ? [] : ['--from-file']),
  ]
}

export interface FilterFlags extends Partial<Record<keyof typeof FILTER_FLAGS, RowFilter>> {
  rule?: string[]
  flagged?: true
  fromFile?: string[]
}

export function addFilterOptions(command: Command): Command {
  for (const name of FILTER_NAMES) {
    const { help, parse } = FILTER_FLAGS[name]
    command.option(`--${name} <${name}>`, help, parse)
  }
  return command
    .option(
      '--rule <name>',
      'only rows that triggered this rule, by name or id; repeatable, for any of them',
      collect,
    )
    .option('--flagged', 'only rows that triggered a rule')
    .option(
      '--from-file <name>',
      'only rows of this file, if the source has several; repeatable, for any of them',
      collect,
    )
}

/**
 * The filter that the options ask for. Throws `BAD_USAGE` for a file that the run's source does not have, and
 * for a rule that no row triggered.
 */
export function toRowFilter(run: RunSummary, flags: FilterFlags): RowFilter {
  const { source_read: read, triggered_rules: triggered } = run
  const files = read?.read_as.flatMap(({ file }) => file ?? [])
  const unknown = flags.fromFile?.find((file) => files?.includes(file) === false)
  if (unknown !== undefined && files !== undefined) {
    throw new SluiceError({ id: 'filter_file_unknown', file: unknown, files: files.slice(0, NAMED_MAX) })
  }
  return Object.assign(
    {},
    ...FILTER_NAMES.map((name) => flags[name]),
    flags.flagged && { flagged: true },
    flags.fromFile && { files: flags.fromFile },
    flags.rule && { ruleIds: findRuleIds(flags.rule, triggered) },
  )
}

function findRuleIds(rules: readonly string[], triggered: RunSummary['triggered_rules']): string[] {
  const names = new Map(triggered.map(({ rule_id: id, rule_name: name }) => [id, name]))
  const ids = rules.flatMap((rule) => {
    const found = findRule(rule, names)
    if (found !== null) return found.ruleIds
    const known = [...names].map(([id, name]) => name || id)
    throw new SluiceError({ id: 'export_rule_unknown', rule, rules: [...new Set(known)].slice(0, NAMED_MAX) })
  })
  return [...new Set(ids)]
}
