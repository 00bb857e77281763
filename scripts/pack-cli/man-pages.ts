// The package's man pages: one for the program and one for each command, from the declarations of the help.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command, Help } from 'commander'
import { createCliContext } from '../../src/main/cli/context.ts'
import { COMMAND_PREFIX } from '../../src/main/cli/invocation.ts'
import { COMMAND_NAMES, createProgram } from '../../src/main/cli/program.ts'
import { HELP_TOPICS } from '../../src/main/cli/topics.ts'
import { APP_VERSION } from '../../src/shared/version.ts'

const project = resolve(import.meta.dirname, '../..')

/** Writes the pages into a folder and returns their names. */
export async function writeManPages(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  const pages = await createManPages()
  for (const [name, text] of pages) writeFileSync(join(folder, name), text)
  return [...pages.keys()]
}

/** Each page in man(7) format, by a file name such as `sluice-task.1`. */
export async function createManPages(): Promise<ReadonlyMap<string, string>> {
  const program = await createProgram(createCliContext({ env: {} }), COMMAND_NAMES)
  const commands = COMMAND_NAMES.flatMap((name) => program.commands.find((one) => one.name() === name) ?? [])
  return new Map([
    ['sluice.1', toProgramPage(program, commands)],
    ...commands.map((command) => [`sluice-${command.name()}.1`, toCommandPage(command)] as const),
  ])
}

function toProgramPage(program: Command, commands: readonly Command[]): string {
  const help = program.createHelp()
  return toPage('sluice', program.description(), [
    section('SYNOPSIS', [`.B sluice\n${toText('[--workspace <folder>] <command> [options]')}`]),
    section('DESCRIPTION', [
      toText(program.description()),
      '.PP',
      toText(
        'Each command has a page of its own, such as sluice-task(1), and sluice help <topic> shows a topic.',
      ),
    ]),
    section(
      'COMMANDS',
      commands.map((command) => item(`sluice-${command.name()}(1)`, command.summary())),
    ),
    section('OPTIONS', listOptions(help, program)),
    section(
      'TOPICS',
      HELP_TOPICS.map(({ name, about }) => item(`sluice help ${name}`, about)),
    ),
    section('EXIT STATUS', listTable('Exit codes')),
    section('ENVIRONMENT', listTable('Environment')),
  ])
}

function toCommandPage(command: Command): string {
  const name = `sluice ${command.name()}`
  const nested = command.commands.filter((one) => one.name() !== 'help')
  return toPage(`sluice-${command.name()}`, command.summary(), [
    section('SYNOPSIS', [[command, ...nested].map(sayUsage).join('\n.br\n')]),
    section('DESCRIPTION', [toText(command.description())]),
    ...listParts(command),
    ...nested.flatMap((one) => [
      section(`${name} ${one.name()}`.toUpperCase(), [toText(one.description())]),
      ...listParts(one).map((part) => part.replace('.SH', '.SS')),
    ]),
    section('SEE ALSO', [toText('sluice(1)')]),
  ])
}

/** The arguments, options and examples of a command. */
function listParts(command: Command): string[] {
  const help = command.createHelp()
  const args = help.visibleArguments(command)
  const after = readTextAfter(command)
  return [
    section(
      'ARGUMENTS',
      args.map((argument) => item(help.argumentTerm(argument), help.argumentDescription(argument))),
    ),
    section('OPTIONS', listOptions(help, command)),
    section('NOTES', after === '' ? [] : ['.nf', toText(after), '.fi']),
  ].filter((part) => part !== '')
}

/** The options under the headings of the help. */
function listOptions(help: Help, command: Command): string[] {
  const options = help.visibleOptions(command)
  const groups = Map.groupBy(options, ({ helpGroupHeading = 'Options:' }) => helpGroupHeading)
  return [...groups].flatMap(([heading, own], index) => [
    ...(index > 0 ? ['.PP'] : []),
    ...(groups.size > 1 ? [`.I ${toText(heading.replace(/:$/, ''))}`] : []),
    ...own.map((option) => item(help.optionTerm(option), help.optionDescription(option))),
  ])
}

/** The help of a command below its options: examples, exit codes and topics. */
function readTextAfter(command: Command): string {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp()
  const [, ...after] = written
  return after.join('').trim()
}

function sayUsage(command: Command): string {
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return `.B ${toText(names.join(' '))}\n${toText(command.usage())}`
}

/** The table below a heading of the command-line page, as one item per row. */
function listTable(heading: string): string[] {
  const page = readFileSync(join(project, 'docs/command-line.md'), 'utf8')
  const [, part = ''] = page.split(`\n## ${heading}\n`)
  const rows =
    part
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2) ?? []
  if (rows.length === 0) throw new Error(`docs/command-line.md has no table below ${heading}`)
  return rows.map((row) => {
    const [term = '', about = ''] = row.split(/(?<!\\)\|/).slice(1)
    return item(toPlain(term), toPlain(about))
  })
}

function toPlain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('\\|', '|')
    .trim()
}

function toPage(name: string, about: string, sections: readonly string[]): string {
  const head = `.TH ${name.toUpperCase()} 1 "" "Sluice ${APP_VERSION}" "Sluice"`
  const title = section('NAME', [`${toText(name)} \\- ${toText(about)}`])
  return `${[head, title, ...sections].filter((part) => part !== '').join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`.SH "${toText(title)}"`, ...lines].join('\n')
}

function item(term: string, about: string): string {
  return `.TP\n.B ${toText(term)}\n${toText(about)}`
}

/** Characters that roff typesets as others, which would break pasted commands. */
const AS_TYPED = { '-': '\\-', '"': '\\(dq', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti' }

/** Text escaped so that roff finds no request or escape in it. */
function toText(text: string): string {
  return text
    .replaceAll(COMMAND_PREFIX, 'sluice')
    .replaceAll('\\', '\\e')
    .replaceAll(/[-"'`^~]/g, (sign) => AS_TYPED[sign as keyof typeof AS_TYPED])
    .replaceAll(
      /[^\n\x20-\x7e]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/^(?=\.)/gm, '\\&')
}
