import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { Tone } from '../../../shared/report/report.ts'
import { COMMAND_PREFIX } from '../invocation.ts'

/** Signs and bar pieces that the terminal can draw. */
const UNICODE_GLYPHS = {
  ok: '✔',
  rejected: '✖',
  failed: '▲',
  unknown: '?',
  skipped: '–',
  /** Signs of a passed and a failed threshold, as in k6. */
  held: '✓',
  crossed: '✗',
  stopped: '■',
  arrow: '→',
  dot: '·',
  dash: '–',
  ellipsis: '…',
  barFull: '█',
  barEmpty: '░',
  rule: '─',
}

type Glyphs = Readonly<Record<keyof typeof UNICODE_GLYPHS, string>>

const ASCII_GLYPHS: Glyphs = {
  ok: '+',
  rejected: 'x',
  failed: '!',
  unknown: '?',
  skipped: '-',
  held: '+',
  crossed: 'x',
  stopped: '#',
  arrow: '->',
  dot: '|',
  dash: '-',
  ellipsis: '...',
  barFull: '#',
  barEmpty: '.',
  rule: '-',
}

const FORMATS: Readonly<Record<Exclude<Tone, 'plain'>, Parameters<typeof styleText>[0]>> = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  odd: 'magenta',
  quiet: 'dim',
  strong: 'bold',
  accent: 'cyan',
}

/** Whether the terminal's character set is UTF-8, as far as the environment says. */
export function isUtf8Terminal(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') {
    return (
      env['WT_SESSION'] !== undefined || env['TERM_PROGRAM'] === 'vscode' || env['TERM'] === 'xterm-256color'
    )
  }
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  if (locale === undefined || locale === '') return platform === 'darwin'
  return /utf-?8/i.test(locale)
}

/** Describes a stream as a terminal. If it is not one, text is unstyled and signs are still UTF-8. */
export function createTerminal(stream: WriteStream, env: NodeJS.ProcessEnv = process.env) {
  const isTerminal = stream.isTTY === true
  return {
    /** What to type before a printed Sluice command: includes the workspace if this command was given one. */
    commandPrefix: COMMAND_PREFIX,
    /** Whether lines can be redrawn in place. */
    isInteractive: isTerminal && env['TERM'] !== 'dumb',
    glyphs: !isTerminal || isUtf8Terminal(env, process.platform) ? UNICODE_GLYPHS : ASCII_GLYPHS,
    /** Current number of columns; infinite without a terminal, so that files are neither cut nor wrapped. */
    columns: (): number => (isTerminal && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY),
    /** Sets text off if colours are shown (respects `NO_COLOR` and `FORCE_COLOR`). */
    tone: (tone: Tone, text: string): string =>
      tone === 'plain' || text === '' ? text : styleText(FORMATS[tone], text, { stream }),
  }
}

/** What the destination of a text can show. */
export interface Terminal extends ReturnType<typeof createTerminal> {}
