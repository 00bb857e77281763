import { Switch } from '@mantine/core'
import { IconEyeOff } from '@tabler/icons-react'
import { create } from 'zustand'
import { toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { REQUEST_FIELD } from '../../../shared/plan/operation.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './content.module.css'

interface ContentShown {
  shown: boolean
  setShown: (shown: boolean) => void
}

/** Whether user content is shown on the screens of this window; nothing of it is remembered. */
export const useContentShown = create<ContentShown>((set) => ({
  shown: false,
  setShown: (shown) => set({ shown }),
}))

/** Shows or hides user content on every screen. */
export function ContentSwitch() {
  const { shown, setShown } = useContentShown()
  return (
    <Switch
      label="Show content"
      checked={shown}
      onChange={(event) => setShown(event.currentTarget.checked)}
    />
  )
}

/** The width of a cell, in rem, that shows a usual mask whole. */
export const MASK_REM = 10.5

/** User content: only how long it is until it is revealed. `length` is that of the whole text, of which `text` may be a part. */
export function MaskedText(props: { text: string; length?: number; revealed: boolean; max?: number }) {
  const { text, length = text.length, revealed, max } = props
  if (text === '') return null
  if (revealed) return <SafeText text={text} fullLength={length} {...(max !== undefined && { max })} />
  return (
    <span className={styles.masked}>
      <IconEyeOff size="0.9em" aria-hidden />
      {toMask(length)}
    </span>
  )
}

/** Fields that hold what people wrote, posted or banned; a whole request holds one of them. */
export const CONTENT_FIELDS: readonly string[] = ['text_data', 'url', 'media', 'term', REQUEST_FIELD.name]

/** Whether a field holds user content, which is masked on every screen until it is revealed. */
export function isContentField(field: string): boolean {
  return CONTENT_FIELDS.includes(field)
}

const PROSE_CHARACTERS = 80
const PROSE_WORDS = 4
/** Longer than most labels of several words. */
const LABEL_CHARACTERS = 32

/** Whether a text reads like something a person wrote rather than an id, a number or a label. */
export function isProse(text: string, length = text.length): boolean {
  if (length > PROSE_CHARACTERS) return true
  const words = text.trim().split(/\s+/u, PROSE_WORDS).length
  return words >= PROSE_WORDS || (words > 1 && length > LABEL_CHARACTERS)
}

/** Tells the cells of a source that are user content. */
export type ContentRule = (column: number, cell: string, length?: number) => boolean

/**
 * The one rule of what is masked: every cell of a column that fills a content field; cells that read like prose in
 * columns that fill none; never ids, metadata and numbers.
 */
export function createContentRule(columns: readonly string[], mapping: Mapping): ContentRule {
  const content = new Set<number>()
  const others = new Set<number>()
  for (const [field, source] of Object.entries(mapping)) {
    const filling = isContentField(field) ? content : others
    if (source.kind === 'column') filling.add(toColumnIndex(columns, source))
    else {
      for (const part of parseTemplate(source.template)) {
        const meaning = part.kind === 'text' ? null : findPlaceholder(part.name, columns)
        if (meaning?.kind === 'column') filling.add(meaning.index)
      }
    }
  }
  return (column, cell, length) =>
    content.has(column) || (!others.has(column) && isProse(cell, length ?? cell.length))
}

/** Keys of answers that repeat what was submitted (docs/interface.md §2.3). */
const ECHOES: readonly string[] = ['text', 'value']

/** Lists of terms, which a service may give separately (docs/interface.md §4.5, §4.6). */
const TERM_LISTS = /^(.+_)?terms$/

const STRING = String.raw`"(?:[^"\\]|\\.)*"`
const STRING_LIST = String.raw`\[\s*${STRING}(?:\s*,\s*${STRING})*\s*\]`
/** Each string from its first quote to its last, with its value where it is a key of a string or of a list of strings. */
const STRINGS = new RegExp(`(${STRING})(\\s*:\\s*)?(${STRING}|${STRING_LIST})?`, 'gs')
const EACH_STRING = new RegExp(STRING, 'gs')

/**
 * JSON text with the user content in it masked: `"text_data": "hidden, 52 characters"`. Everything else stays as it is,
 * digit for digit. Text that is not JSON is masked as a whole.
 */
export function maskJson(text: string): string {
  if (!isJson(text)) return toMask(text.length)
  return text.replaceAll(
    STRINGS,
    (whole, key: string, colon: string | undefined, value: string | undefined) => {
      if (colon === undefined || value === undefined) return whole
      const name = JSON.parse(key) as string
      if (!isContentField(name) && !ECHOES.includes(name) && !TERM_LISTS.test(name)) return whole
      const masked = value.replaceAll(
        EACH_STRING,
        (string) => `"${toMask((JSON.parse(string) as string).length)}"`,
      )
      return key + colon + masked
    },
  )
}

/** What stands in the place of user content until it is revealed. */
function toMask(length: number): string {
  return `hidden, ${formatCounted(length, 'character')}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
