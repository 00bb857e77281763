/** A cell of a megabyte without a possible line break. */
export const HUGE_CELL = 'A'.repeat(1_048_576)

/** Texts that would run if taken for markup, or be invisible if not drawn. */
export const HOSTILE_CELLS = {
  script: '<script>window.pwned = 1</script>',
  image: '<img src=x onerror="window.pwned = 2">',
  template: '{{constructor.constructor("window.pwned = 3")()}}',
  link: 'javascript:window.pwned=4',
  override: 'photo\u202Egpj.exe',
  isolate: '\u2067right to left \u05D0\u05D1\u05D2',
  zeroWidth: 'pass\u200B\u200Bword\u200D',
  control: 'a\u0007b\u001B[31mred',
  formula: '=HYPERLINK("http://example.com","x")',
  emoji: '👩‍👩‍👧 🏳️‍🌈',
} as const

/**
 * A spreadsheet of hostile cells, hostile column names and a huge cell. user_id and text_data match by name.
 */
export function createHostileCsv(): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
  const header = ['user_id', 'text_data', quote('<b onmouseover=alert(1)>\u202Etxet</b>')]
  const rows = [...Object.values(HOSTILE_CELLS), HUGE_CELL].map((cell, index) =>
    [`user-${index + 1}`, quote(cell), quote(cell.slice(0, 60))].join(','),
  )
  return `${[header.join(','), ...rows].join('\r\n')}\r\n`
}
