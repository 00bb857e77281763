/**
 * Formats that have a number instead of a code in the file (ECMA-376 part 1, 18.8.30), as a spreadsheet in American
 * English shows them; in other languages the same file shows its dates another way.
 */
const BUILT_IN: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0_);($#,##0)',
  6: '$#,##0_);[Red]($#,##0)',
  7: '$#,##0.00_);($#,##0.00)',
  8: '$#,##0.00_);[Red]($#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}

/** Dates and times of East Asian spreadsheets; elsewhere these numbers are shown as short dates and times. */
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56])
const isEastAsian = (id: number) => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** The code of a format that the file names by number alone; General for a number without a meaning. */
export function findBuiltInFormat(id: number): string {
  const code = BUILT_IN[id]
  if (code !== undefined) return code
  if (!isEastAsian(id)) return 'General'
  return EAST_ASIAN_TIMES.has(id) ? 'h:mm:ss' : 'm/d/yyyy'
}
