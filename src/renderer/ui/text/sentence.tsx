import { SafeText } from './safe-text.tsx'

/** A sentence of ours in which backticks set off what is code, as in "must not contain `_`". */
export function Sentence({ text }: { text: string }) {
  return text.split('`').map((part, index) => {
    if (index % 2 === 0) return part
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place alone
      <code key={index}>
        <SafeText text={part} />
      </code>
    )
  })
}
