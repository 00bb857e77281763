import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { create } from 'zustand'
import { ID_TEXT_FIELDS } from '../../../shared/mapping/id-text.ts'
import { toColumnIndex, toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { isJson } from '../../../shared/messages/pretty-json.ts'
import { createQuoteRemover } from '../../../shared/messages/quotes.ts'
import { REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import type { Problem, ProblemCode } from '../../../shared/run/problem.ts'
import { SwitchField } from '../controls.tsx'
import { toTextEm, toWordEm } from '../grid/cell-width.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './content.module.css'

interface ContentRules {
  /** Whether content is shown everywhere, as set by the person; after `hideAll`, everything stays hidden. */
  showsContent: boolean
  /** Increases when all content is hidden again, including that of single rows. */
  hidings: number
  hideAll: () => void
}

/** The rules for user content on every screen, from a person's stored settings. */
export const useContentRules = create<ContentRules>((set) => ({
  showsContent: false,
  hidings: 0,
  hideAll: () => set(({ hidings }) => ({ showsContent: false, hidings: hidings + 1 })),
}))

const VisitContext = createContext({ shown: false, setShown(_shown: boolean) {} })

/**
 * Remembers whether content is shown while a person stays at one `place`, such as the screens of one run. At
 * another place, and after coming back, the setting applies.
 */
export function ContentVisit({ place, children }: { place: string; children: ReactNode }) {
  const { showsContent, hidings } = useContentRules()
  const visit = `${hidings} ${place}`
  const [chosen, setChosen] = useState<{ visit: string; shown: boolean | null }>({ visit, shown: null })
  // Changed during rendering: a choice for one place must never reveal anything of another.
  if (chosen.visit !== visit) setChosen({ visit, shown: null })
  const shown = (chosen.visit === visit ? chosen.shown : null) ?? showsContent
  const value = useMemo(
    () => ({ shown, setShown: (next: boolean) => setChosen({ visit, shown: next }) }),
    [shown, visit],
  )
  return <VisitContext value={value}>{children}</VisitContext>
}

export function useContentShown(): boolean {
  return useContext(VisitContext).shown
}

/** Calls `hide` each time all content is hidden again, for content revealed outside of the switch. */
export function useOnHideAll(hide: () => void): void {
  const hidings = useContentRules((content) => content.hidings)
  const seen = useRef(hidings)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new hiding counts
  useEffect(() => {
    if (hidings !== seen.current) hide()
    seen.current = hidings
  }, [hidings])
}

/**
 * What is revealed by itself while all content is hidden, or hidden by itself while all is shown: `none` anew
 * after each use of the switch and each hiding. `none` must be the same value each time.
 */
export function useExceptions<Of>(none: Of): [Of, (change: (exceptions: Of) => Of) => void] {
  const hidings = useContentRules((content) => content.hidings)
  const from = `${hidings} ${useContentShown()}`
  const [kept, setKept] = useState({ from, exceptions: none })
  // Changed during rendering: an exception must never reveal anything after the switch hides it.
  if (kept.from !== from) setKept({ from, exceptions: none })
  const change = useCallback(
    (to: (exceptions: Of) => Of) => setKept(({ from, exceptions }) => ({ from, exceptions: to(exceptions) })),
    [],
  )
  return [kept.from === from ? kept.exceptions : none, change]
}

/** Shows or hides user content at the current place. */
export function ContentSwitch() {
  const { shown, setShown } = useContext(VisitContext)
  return <SwitchField label="Show content" value={shown} onValue={setShown} />
}

/** Width of a cell that fits a typical mask, rem. */
export const MASK_REM = 11

/** Greatest width of {@link MaskedText}, em of the cell; that of the text if it is revealed. */
export function toMaskedEm({ text, length, revealed }: { text: string; length: number; revealed: boolean }) {
  if (text === '') return 0
  if (!revealed) return toWordEm(toMask(length))
  return length > text.length ? Number.POSITIVE_INFINITY : toTextEm(text)
}

/**
 * User content, of which only the length is shown until revealed. `length` is that of the whole text, of
 * which `text` may be a part. `isCell` as in {@link SafeText}.
 */
export function MaskedText(props: {
  text: string
  length?: number
  revealed: boolean
  max?: number
  isCell?: boolean
}) {
  const { text, length = text.length, revealed, max, isCell = false } = props
  if (text === '') return null
  if (revealed) {
    return <SafeText text={text} fullLength={length} isCell={isCell} {...(max !== undefined && { max })} />
  }
  return (
    <span className={`small nowrap ${styles.masked}`} title="User content. “Show content” reveals it.">
      {toMask(length)}
    </span>
  )
}

/** Fields with text that people wrote, banned or noted; a whole request contains one of them. */
const WRITTEN_FIELDS: readonly string[] = ['text_data', 'term', 'notes', REQUEST_FIELD.name]
const ADDRESS_FIELDS: readonly string[] = ['url', 'media']

/** Whether a field holds text that people wrote, which may have several lines. */
export function isWrittenField(field: string): boolean {
  return WRITTEN_FIELDS.includes(field)
}

/**
 * The one rule for masking: texts, terms, notes and whole requests; in a field for ids or addresses, anything
 * that is neither, since a text was probably mapped to it; without a known field, anything that reads like
 * prose. Ids, addresses, names of models, metadata and numbers are shown, since nobody could work without
 * them. `length` is that of the whole text.
 */
export function isFieldContent(field: string | undefined, text: string, length = text.length): boolean {
  if (field === undefined) return !isAddress(text) && isProse(text, length)
  if (ADDRESS_FIELDS.includes(field)) return !isAddress(text)
  if (ID_TEXT_FIELDS.some((name) => name === field))
    return length > PROSE_CHARACTERS || /\s/u.test(text.trim())
  return isWrittenField(field)
}

/** Problems that quote cells of unknown columns, which may be content. */
const QUOTING_CELLS: readonly ProblemCode[] = [
  'surplus_cells',
  'curly_quotes',
  'cut_by_line_break',
  'record_in_quotes',
  'nul_character',
  'undecodable_bytes',
  'broken_quotes',
  'unfit_fix',
]

/** Whether the words of a problem quote the source. */
export function isQuotingContent({ code }: Pick<Problem, 'code'>): boolean {
  return code === 'uncertain_encoding' || code === 'stated_encoding'
}

/** Problems whose findings are a header, or nothing that can be seen. */
const WITHOUT_CONTENT: readonly ProblemCode[] = ['repeated_header', 'empty']

/** Whether what a problem found is user content: decided by its field, or without one by what it quotes. */
export function isFoundContent({ code, field, found }: Pick<Problem, 'code' | 'field' | 'found'>): boolean {
  if (found === undefined || WITHOUT_CONTENT.includes(code)) return false
  return QUOTING_CELLS.includes(code) || isQuotingContent({ code }) || isFieldContent(field, found)
}

/**
 * Why a row is invalid, such as `term: must be unique, found …`, cut off at its first quote of content: where
 * a quote ends cannot be recognised.
 */
export function hideFound(message: string): string {
  for (const { index, 0: words } of message.matchAll(/\bfound `/g)) {
    const part = message.slice(message.lastIndexOf('; ', index) + 1, index)
    const [, field] = /^\s?([\w.]+): /.exec(part) ?? []
    const [found = ''] = message.slice(index + words.length).split(/`(?:; |$)/)
    if (field === undefined || isFieldContent(field, found)) return `${message.slice(0, index)}found …`
  }
  return message
}

function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text.trim())
}

const PROSE_CHARACTERS = 80
const PROSE_WORDS = 4
/** Longer than most labels of several words. */
const LABEL_CHARACTERS = 32

/** Whether a text reads like something a person wrote, not like an id, a number or a label. */
function isProse(text: string, length: number): boolean {
  if (length > PROSE_CHARACTERS) return true
  const words = text.trim().split(/\s+/u, PROSE_WORDS).length
  return words >= PROSE_WORDS || (words > 1 && length > LABEL_CHARACTERS)
}

/** Tells whether a source's cell is user content. */
export type ContentRule = (column: number, cell: string, length?: number) => boolean

/**
 * {@link isFieldContent} for a source's cells, by the fields that their columns fill, also through a
 * template. `rows` are the first rows of a source whose mapping is not final: a column that fills nothing yet
 * may be content, and is masked entirely if {@link isWrittenColumn}.
 */
export function createContentRule(
  columns: readonly string[],
  mapping: Mapping,
  rows: readonly { cells: readonly string[] }[] = [],
): ContentRule {
  const fields = new Map<number, string[]>()
  const add = (column: number, field: string) => fields.set(column, [...(fields.get(column) ?? []), field])
  for (const [field, source] of Object.entries(mapping)) {
    if (source.kind === 'column') add(toColumnIndex(columns, source), field)
    else {
      for (const part of parseTemplate(source.template)) {
        const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
        if (meaning?.kind === 'column') add(meaning.index, field)
      }
    }
  }
  const written = columns.map(
    (_, index) => !fields.has(index) && isWrittenColumn(rows.map(({ cells }) => cells[index] ?? '')),
  )
  return (column, cell, length) =>
    (written[column] === true && !isAddress(cell)) ||
    (fields.get(column) ?? [undefined]).some((field) => isFieldContent(field, cell, length))
}

/** Keys of answers that repeat what was submitted (docs/interface.md §2.3). */
const ECHOES: readonly string[] = ['text', 'value']

/** Lists of terms, which a service may give separately (docs/interface.md §4.5, §4.6). */
const TERM_LISTS = /^(.+_)?terms$/

const STRING = String.raw`"(?:[^"\\]|\\.)*"`
const STRING_LIST = String.raw`\[\s*${STRING}(?:\s*,\s*${STRING})*\s*\]`
/** Each string, quotes included, with its value if it is the key of a string or of a list of strings. */
const STRINGS = new RegExp(`(${STRING})(\\s*:\\s*)?(${STRING}|${STRING_LIST})?`, 'gs')
const EACH_STRING = new RegExp(STRING, 'gs')

/**
 * JSON text with its user content masked: `"text_data": "hidden (52 characters)"`. Sentences lose what they
 * quote of `request`, which this text answers: `"message": "too rude: …"`. Everything else stays the same,
 * digit for digit. Text that is not JSON is masked entirely.
 */
export function maskJson(text: string, request: string | null = null): string {
  const content = listContent(request)
  const removeQuotes = createQuoteRemover(content)
  return replaceStrings(text, (string, isContent) => {
    if (isContent) return toMask(string.length)
    // A single word, such as the name of a class, may occur in the content without quoting it.
    return /\s/.test(string.trim()) || content.includes(string) ? removeQuotes(string) : string
  })
}

/** The user content in a request's JSON text, such as texts or terms, which an answer to it may quote. */
export function listContent(request: string | null): string[] {
  const found: string[] = []
  if (request === null) return found
  replaceStrings(request, (string, isContent) => {
    if (isContent) found.push(string)
    return string
  })
  return found
}

/** The label of a button that copies a request's `body`: it says so if that has content that is not shown. */
export function nameCopy(label: string, body: string | null, isShown: boolean): string {
  return isShown || listContent(body).length === 0 ? label : `${label}, with hidden content`
}

/** A message without its quotes of user content in a request, given as JSON text. */
export function removeQuotes(message: string, request: string | null): string {
  return createQuoteRemover(listContent(request))(message)
}

/** Replaces each string of JSON text that is not a key; other text counts as one string of content. */
function replaceStrings(json: string, replace: (string: string, isContent: boolean) => string): string {
  if (!isJson(json)) return replace(json, true)
  const replaceIn = (value: string, toIsContent: (string: string) => boolean) =>
    value.replaceAll(EACH_STRING, (written) => {
      const string = JSON.parse(written) as string
      const replaced = replace(string, toIsContent(string))
      return replaced === string ? written : JSON.stringify(replaced)
    })
  return json.replaceAll(
    STRINGS,
    (whole, key: string, colon: string | undefined, value: string | undefined) => {
      if (colon === undefined) return replaceIn(whole, () => false)
      if (value === undefined) return whole
      const name = JSON.parse(key) as string
      const isEcho = ECHOES.includes(name) || TERM_LISTS.test(name)
      return key + colon + replaceIn(value, (string) => isEcho || isFieldContent(name, string))
    },
  )
}

/** A sentence with its parts in backticks masked: `the same words are hidden (3 characters) in koi8-r`. */
export function maskQuoted(sentence: string): string {
  return sentence.replaceAll(/`([^`]*)`/g, (_, quoted: string) => toMask(quoted.length))
}

/** Replaces user content until it is revealed. */
function toMask(length: number): string {
  return `hidden (${formatCounted(length, 'character')})`
}

/** Fewest cells of which repeated values count as labels. */
const LABELS_FROM = 4

/**
 * Whether a column's cells look like text that people write, however short: most have words, and the same few
 * values do not repeat, as labels do. Ids, numbers, dates and addresses have no words, or are one word with
 * digits or an @.
 */
function isWrittenColumn(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  const distinct = new Set(filled)
  if (filled.length >= LABELS_FROM && distinct.size * 2 <= filled.length) return false
  const worded = [...distinct].filter(hasWords).length
  return worded > 0 && worded * 2 >= distinct.size
}

/** Letters or pictures. In a single word with digits, an @ or an address, they are part of an id. */
function hasWords(cell: string): boolean {
  const words = cell.split(/\s+/u).filter((word) => /[\p{L}\p{Extended_Pictographic}]/u.test(word))
  if (words.length !== 1) return words.length > 1
  return !/[\p{N}@]|:\/\//u.test(cell)
}

/** The fields with a row's subject, in the order of the table. */
const SUBJECT_FIELDS = [
  ...['text_data', 'url', 'media', 'term', REQUEST_FIELD.name],
  ...['custom_index_item_id', 'appeal_id'],
]

/** Indexes of the source columns with the judged content, by the run's mapping. */
export function findContent(plan: Plan | null, names: readonly string[]): number[] {
  if (plan === null) return []
  const mapping = toWholeMapping(plan, names)
  return SUBJECT_FIELDS.map((field) => toColumnIndex(names, mapping[field])).filter((index) => index >= 0)
}
