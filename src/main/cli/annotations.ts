import { toPrintable } from '../../shared/messages/printable.ts'
import { type CliContext, isJobOfGithub } from './context.ts'

/** Annotations that GitHub shows of a kind and step. */
const ANNOTATIONS_MAX = 10

/** How an annotation is shown, with a title and what happened. */
export interface Annotation {
  level: 'error' | 'warning'
  title: string
  message: string
}

/**
 * Shows annotations on the page of a job of GitHub Actions, if this runs in one (`GITHUB_ACTIONS=true`). They go to
 * stderr, which its runner reads, too: stdout is for results alone.
 */
export async function annotate({ env, err }: CliContext, annotations: readonly Annotation[]): Promise<void> {
  if (!isJobOfGithub(env)) return
  for (const level of ['error', 'warning'] as const) {
    for (const one of annotations.filter((each) => each.level === level).slice(0, ANNOTATIONS_MAX)) {
      // As bytes, since text that reads like this is escaped.
      await err.write(Buffer.from(`${formatAnnotation(one)}\n`))
    }
  }
}

/** A workflow command of GitHub Actions: whatever the texts say, it is one line, and sets nothing but title and message. */
export function formatAnnotation({ level, title, message }: Annotation): string {
  const escapeMessage = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const escapeProperty = (text: string) => escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${level} title=${escapeProperty(toPrintable(title))}::${escapeMessage(toPrintable(message))}`
}
