import type { ContentClass } from './content-classes.ts'

/** The published word list: mild words, one class each. Documented in `docs/sandbox.md`. */
export const WORD_LIST: Record<ContentClass, readonly string[]> = {
  sexual: toWords('sexy nude naked flirt seductive horny erotic xxx'),
  hate: toWords('hate hateful despise detest loathe vermin subhuman'),
  violence: toWords('attack fight punch kill stab shoot weapon gun knife bomb blood'),
  bullying: toWords('stupid loser idiot dumb pathetic moron useless ugly worthless'),
  spam: toWords(
    `free win winner won claim urgent prize cash txt awarded guaranteed congratulations selected ringtone lottery
     jackpot unsubscribe reward expires unclaimed landline ringtones polyphonic tones entry winning awaiting 150ppm`,
  ),
  promotions: toWords(
    'offer offers sale discount coupon voucher vouchers deal deals promo bonus subscribe order shop latest save',
  ),
}

function toWords(text: string): string[] {
  return text.split(/\s+/)
}

/** Class of each listed word. */
export const CLASS_OF_WORD: ReadonlyMap<string, ContentClass> = new Map(
  Object.entries(WORD_LIST).flatMap(([className, words]) =>
    words.map((word): [string, ContentClass] => [word, className as ContentClass]),
  ),
)
