import { applyEdits, findNodeAtLocation, format, modify, parseTree } from 'jsonc-parser'
import type { ScratchProblem } from '../../../shared/service/scratchpad.ts'

const INDENT = { formattingOptions: { insertSpaces: true, tabSize: 2 } }

/** Sets one member of a request without touching the others. */
export function setMember(text: string, name: string, value: string): string {
  return applyEdits(text, modify(text, [name], value, INDENT))
}

/** The text on lines of its own, digits and order as they were. */
export function formatText(text: string): string {
  return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 }))
}

/** Where in a text a problem is: UTF-16 code units, and the line for a person. */
export interface TextPlace {
  start: number
  end: number
  line: number
}

/** Finds the place of a problem; of what is missing, the object that lacks it. */
export function findPlace(text: string, problem: ScratchProblem): TextPlace {
  const { line, character } = problem.details ?? {}
  if (typeof line === 'number' && typeof character === 'number') {
    const before = text.split('\n').slice(0, line - 1)
    const start = before.reduce((sum, one) => sum + one.length + 1, 0) + character - 1
    return { start, end: Math.min(text.length, start + 1), line }
  }
  const root = parseTree(text)
  for (let depth = problem.path.length; root !== undefined && depth > 0; depth -= 1) {
    const node = findNodeAtLocation(root, problem.path.slice(0, depth))
    if (node !== undefined) return toPlace(text, node.offset, node.length)
  }
  return toPlace(text, root?.offset ?? 0, 1)
}

function toPlace(text: string, start: number, length: number): TextPlace {
  return { start, end: start + length, line: text.slice(0, start).split('\n').length }
}

/** Where names of triggered rules stand in a text, in its order; none overlaps another. */
export function findRuleMarks(
  text: string,
  rules: readonly { ruleId: string; ruleName: string }[],
): { start: number; end: number; label: string }[] {
  const words = rules
    .flatMap(({ ruleId, ruleName }) => [ruleId, ruleName])
    .map((word) => JSON.stringify(word))
  const found = [...new Set(words)].flatMap((word) => {
    const marks: { start: number; end: number; label: string }[] = []
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      marks.push({ start: at + 1, end: at + word.length - 1, label: 'triggered rule' })
    }
    return marks
  })
  const apart: typeof found = []
  for (const mark of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (mark.start >= (apart.at(-1)?.end ?? 0)) apart.push(mark)
  }
  return apart
}
