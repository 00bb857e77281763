const CYRILLIC = 'абвгдежзиклмнопрстуфхцчш'

/** Letters beyond ASCII of today's languages, lower case; the whole script if a language uses all of it. */
const ALPHABETS: Record<string, string> = {
  af: 'áèéêëíîïóôöúû',
  az: 'əçğıi̇öşü',
  be: `${CYRILLIC}ёіўйыьэюяґ`,
  bg: `${CYRILLIC}йщъьюя`,
  ca: 'àçèéíïòóúü',
  cs: 'áčďéěíňóřšťúůýž',
  cy: 'áàâäéèêëíìîïóòôöúùûüẃẁŵẅýỳŷÿ',
  da: 'æøåéáóö',
  de: 'äöüßéà',
  el: 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ',
  eo: 'ĉĝĥĵŝŭ',
  es: 'áéíóúñü',
  et: 'äõöüšž',
  fi: 'äöåéšž',
  fo: 'áðíóúýæø',
  fr: 'éèêëàâçùûüîïôœæ',
  ga: 'áéíóú',
  he: 'אבגדהוזחטיךכלםמןנסעףפץצקרשת',
  hr: 'čćđšž',
  hu: 'áéíóöőúüű',
  is: 'áðéíóúýþæö',
  it: 'àèéìíîòóù',
  kk: `${CYRILLIC}ёйщъыьэюяәғқңөұүһі`,
  lb: 'äëéöüôè',
  lt: 'ąčęėįšųūž',
  lv: 'āčēģīķļņšūž',
  mk: `${CYRILLIC}ѓѕјљњќџѐѝ`,
  mt: 'ċġħżàèìòù',
  nl: 'ëéïöüèêáóíúçâîôû',
  pl: 'ąćęłńóśźż',
  pt: 'áâãàçéêíóôõúü',
  ro: 'ăâîșțşţ',
  ru: `${CYRILLIC}ёйщъыьэюя`,
  sk: 'áäčďéíĺľňóôŕšťúýž',
  sl: 'čšž',
  sq: 'ëç',
  sr: `${CYRILLIC}ђјљњћџ`,
  sv: 'åäöéà',
  tr: 'çğıi̇öşüâîû',
  uk: `${CYRILLIC}йщьюяґєії`,
  vi: 'ăâđêôơưáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ',
}

/** Scripts whose letters are not listed one by one. */
const SCRIPTS = {
  ar: /^[ء-غف-يپچژکگیە]$/,
  ja: /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u,
  ko: /^\p{Script=Hangul}$/u,
  th: /^[\p{Script=Thai}]$/u,
}

const SETS = Object.values(ALPHABETS).map((letters) => new Set(letters.normalize('NFC')))

/** Number of letters beyond ASCII in a text that are missing from the one language that has most of them. */
export function countForeignLetters(text: string): number {
  const counts = new Map<string, number>()
  let letters = 0
  for (const [letter] of text
    .normalize('NFC')
    .toLowerCase()
    .matchAll(/(?![\0-\x7fªº])\p{L}/gu)) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
    letters += 1
  }
  const count = (has: (letter: string) => boolean) => {
    let sum = 0
    for (const [letter, times] of counts) if (has(letter)) sum += times
    return sum
  }
  const known = [
    ...SETS.map((set) => count((letter) => set.has(letter))),
    ...Object.values(SCRIPTS).map((pattern) => count((letter) => pattern.test(letter))),
  ]
  return letters - Math.max(...known)
}
