import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import { isQuotingContent, maskQuoted, useContentShown } from '../content/user-content.tsx'
import { Sentence } from '../text/safe-text.tsx'
import { toSentence } from '../text/to-sentence.ts'

/** What a problem says about a source, as a sentence; words of the source in it are masked until content is shown. */
export function ExpectedSentence({ problem }: { problem: Pick<Problem, 'code' | 'args'> }) {
  const shown = useContentShown()
  const sentence = toSentence(sayExpected(problem, 'window'))
  return <Sentence text={shown || !isQuotingContent(problem) ? sentence : maskQuoted(sentence)} />
}
