import type { SourceModule } from './read-module.ts'

const FORBIDDEN_NAME = /^(.+-)?(utils?|helpers?|common|managers?|misc)$/

/** The fault in a file's path, if a part of it is a catch-all name. */
export function checkName(path: string): string | null {
  const parts = path.replace(/(\.test)?\.[^./]+$/, '').split('/')
  const forbidden = parts.find((part) => FORBIDDEN_NAME.test(part))
  if (forbidden === undefined || path.startsWith('test/helpers/')) return null
  return `${path}: "${forbidden}" says nothing of the one job a file has; name it after what it does`
}

/** Marks of postponed work. */
export const MARKERS = /\b(TODO|FIXME|XXX|HACK)\b/

/** Comments that postpone work. */
export function checkMarkers({ path, comments }: Pick<SourceModule, 'path' | 'comments'>): string[] {
  return comments
    .filter(({ text }) => MARKERS.test(text))
    .map(
      ({ text, line }) => `${path}:${line}: does now what it puts off, or opens an issue:${text.trimEnd()}`,
    )
}

/** Code in a test that waits for a time instead of an event, or asserts how long something took. */
export function checkWaits({ path, text }: { path: string; text: string }): string[] {
  const found = [
    ...text.matchAll(/new Promise\b[^;]{0,80}?=>\s*(?:\{\s*)?(?:void )?setTimeout\(/g),
    ...text.matchAll(/from 'node:timers\/promises'/g),
    ...text.matchAll(/expect\((?:performance|Date)\.now\(\)[^\n]*\)\.(?:toBeLess|not\.toBeGreater)/g),
  ]
  return found.map(({ index }) => {
    const line = text.slice(0, index).split('\n').length
    return `${path}:${line}: a busy machine is slow; wait for what is to happen, and measure processor time`
  })
}

/** Words of a remedy outside the catalogue and the surfaces that word it. */
export function checkRemedies({ path, text }: { path: string; text: string }): string[] {
  if (/^src\/(shared\/messages|renderer|main\/cli)\//.test(path)) return []
  return text
    .split('\n')
    .flatMap((line, index) =>
      /\b(?:hint|remedy)\??:\s*(?:['"`]|$)/.test(line)
        ? [`${path}:${index + 1}: words of a remedy belong into src/shared/messages`]
        : [],
    )
}
