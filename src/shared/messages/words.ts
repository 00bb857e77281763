import type { ErrorCode, EXIT } from './errors.ts'

/** Where words are read: in a terminal, where options and commands can be typed, or in the window. */
export type Surface = 'terminal' | 'window'

/** Words for both surfaces alike, or for each its own. */
export type Wording = string | Record<Surface, string>

/** What an error says. */
export interface ErrorWords {
  /** What failed, on what, what was expected and what was found. */
  text: Wording
  /** Several causes of what `text` says, where there are several. */
  causes?: readonly string[]
  /** What to do about it. */
  remedy: Wording
}

/** An error of the catalogue: its stable code, what a command exits with, and its words. */
export interface ErrorEntry {
  code: ErrorCode
  /** `badInput` unless given. */
  exit?: keyof typeof EXIT
  /** `sluice` is what to type before a command of ours. */
  words: (args: never, sluice: string) => ErrorWords
}

/** The words for one surface. */
export function chooseWording(wording: Wording, surface: Surface): string {
  return typeof wording === 'string' ? wording : wording[surface]
}
