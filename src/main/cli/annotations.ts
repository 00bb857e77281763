import { toPrintable } from '../../shared/messages/printable.ts'
import { type CliContext, isJobOfGithub } from './context.ts'

/** Annotations that GitHub shows per level and step. */
const ANNOTATIONS_MAX = 10

export interface Annotation {
  level: 'error' | 'warning'
  title: string
  message: string
}

/**
 * Shows annotations on a job's page in GitHub Actions, if this runs in one (`GITHUB_ACTIONS=true`). They go
 * to stderr, which the runner reads too: stdout is for results alone.
 */
export async function annotate({ env, err }: CliContext, annotations: readonly Annotation[]): Promise<void> {
  if (!isJobOfGithub(env)) return
  for (const level of ['error', 'warning'] as const) {
    for (const one of annotations.filter((each) => each.level === level).slice(0, ANNOTATIONS_MAX)) {
      // As bytes, since the output escapes text that looks like a command.
      await err.write(Buffer.from(`${formatAnnotation(one)}\n`))
    }
  }
}

/** A workflow command of GitHub Actions: one line that sets only title and message, whatever they hold. */
export function formatAnnotation({ level, title, message }: Annotation): string {
  const escapeMessage = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const escapeProperty = (text: string) => escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${level} title=${escapeProperty(toPrintable(title))}::${escapeMessage(toPrintable(message))}`
}
