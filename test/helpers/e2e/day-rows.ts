/** A file of labelled posts with a few bad rows of each kind, and what is true after correcting them. */
export interface DayRows {
  text: string
  /** Rows of the file. */
  rows: number
  /** Rows by the problem that prevents sending them. */
  bad: Record<'forbidden' | 'noUser' | 'noContent' | 'both' | 'duplicate' | 'noAddress', number>
  /**
   * The rows that arrive, with their expected judgement, after bad rows are corrected as `CORRECTED` says.
   */
  sent: readonly SentRow[]
}

/** A row as the service must receive it. */
export interface SentRow {
  /** Number of the record in the file, from 1. */
  record: number
  postId: string
  userId: string
  content: string
  isSpam: boolean
  /** Number of words from the sandbox's spam list in it, at most 3. */
  score: number
}

/** The corrections of the bad rows. */
export const CORRECTED = {
  user: 'guest-{{row}}',
  content: 'win a free prize, nobody has to pay',
  postId: 'p-corrected',
} as const

/** A text for each tenth row: some words count as spam, and not all spam has them. */
const KINDS: readonly { words: string; isSpam: boolean; score: number }[] = [
  { words: 'win a free prize today', isSpam: true, score: 3 },
  { words: 'claim the cash that waits for you', isSpam: true, score: 2 },
  { words: 'reply stop to unsubscribe', isSpam: true, score: 1 },
  { words: 'you won, so claim your seat', isSpam: false, score: 2 },
  { words: 'are you free tonight', isSpam: false, score: 1 },
  { words: 'an odd advert without those words', isSpam: true, score: 0 },
  ...Array.from({ length: 4 }, () => ({ words: 'see you at lunch', isSpam: false, score: 0 })),
]

/** Record numbers of the bad rows, from 1; every file has all of them. */
const BAD = {
  forbidden: [21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32],
  noUser: [41, 42, 43],
  noContent: [51],
  both: [61, 62],
  duplicate: [71],
  noAddress: [81],
} as const

/** Writes a file of this many rows (at least 100), always the same for the same number. */
export function createDayRows(rows: number): DayRows {
  const lines: string[] = []
  const sent: SentRow[] = []
  const isOne = (kind: keyof typeof BAD, record: number) => (BAD[kind] as readonly number[]).includes(record)
  for (let record = 1; record <= rows; record += 1) {
    const { words, isSpam, score } = KINDS[record % KINDS.length] ?? { words: '', isSpam: false, score: 0 }
    let content = `${words} ${record}`
    let [userId, postId, url] = [`u${record % 97}`, `p${record}`, '']
    const good: SentRow = { record, postId, userId, content, isSpam, score }
    if (isOne('forbidden', record)) {
      userId = record % 2 === 0 ? `u_${record}` : `u;${record}`
      good.userId = record % 2 === 0 ? `u~5F${record}` : `u~3B${record}`
    } else if (isOne('noUser', record)) {
      userId = ''
      good.userId = CORRECTED.user.replace('{{row}}', String(record))
    } else if (isOne('noContent', record)) {
      content = ''
      Object.assign(good, { content: CORRECTED.content, score: 3 })
    } else if (isOne('both', record)) {
      url = `https://example.com/${record}.png`
      sent.push({ ...good, postId: `${postId}-url`, content: url, score: 0 })
    } else if (isOne('duplicate', record)) {
      postId = 'p7'
      good.postId = CORRECTED.postId
    } else if (isOne('noAddress', record)) {
      content = ''
      url = 'picture.png'
    }
    // The row without an address is left out.
    if (!isOne('noAddress', record)) sent.push(good)
    lines.push([isSpam ? 'spam' : 'ham', `"${content}"`, userId, postId, url].join(','))
  }
  return {
    text: `label,text,user_id,post_id,url\r\n${lines.join('\r\n')}\r\n`,
    rows,
    bad: {
      forbidden: BAD.forbidden.length,
      noUser: BAD.noUser.length,
      noContent: BAD.noContent.length,
      both: BAD.both.length,
      duplicate: BAD.duplicate.length,
      noAddress: BAD.noAddress.length,
    },
    sent,
  }
}

/** How many rows a spam score rule finds, misses, wrongly includes, and rightly leaves out. */
export function countMatrix(sent: readonly SentRow[], threshold: number) {
  const count = (isSpam: boolean, triggers: boolean) =>
    sent.filter((row) => row.isSpam === isSpam && row.score >= threshold === triggers).length
  return {
    found: count(true, true),
    missed: count(true, false),
    wrongly: count(false, true),
    rightly: count(false, false),
  }
}
