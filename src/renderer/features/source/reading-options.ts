/** Encodings a person may choose; the reader knows more by name. */
export const ENCODINGS = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'utf-16le', label: 'UTF-16, little end first' },
  { value: 'utf-16be', label: 'UTF-16, big end first' },
  { value: 'windows-1252', label: 'Windows 1252 (Western Europe)' },
  { value: 'iso-8859-15', label: 'ISO 8859-15 (Western Europe, €)' },
  { value: 'windows-1250', label: 'Windows 1250 (Central Europe)' },
  { value: 'windows-1251', label: 'Windows 1251 (Cyrillic)' },
  { value: 'koi8-r', label: 'KOI8-R (Russian)' },
  { value: 'windows-1253', label: 'Windows 1253 (Greek)' },
  { value: 'windows-1254', label: 'Windows 1254 (Turkish)' },
  { value: 'windows-1255', label: 'Windows 1255 (Hebrew)' },
  { value: 'windows-1256', label: 'Windows 1256 (Arabic)' },
  { value: 'windows-874', label: 'Windows 874 (Thai)' },
  { value: 'shift_jis', label: 'Shift JIS (Japanese)' },
  { value: 'euc-jp', label: 'EUC-JP (Japanese)' },
  { value: 'gb18030', label: 'GB 18030 (Chinese)' },
  { value: 'big5', label: 'Big5 (Traditional Chinese)' },
  { value: 'euc-kr', label: 'EUC-KR (Korean)' },
  { value: 'macintosh', label: 'Mac Roman' },
]

/** Delimiters a person may choose by name. */
export const DELIMITERS = [
  { value: ',', label: 'comma' },
  { value: ';', label: 'semicolon' },
  { value: '\t', label: 'tab' },
  { value: '|', label: 'vertical bar' },
]

/** What a delimiter is called. */
export function nameDelimiter(delimiter: string): string {
  return DELIMITERS.find((known) => known.value === delimiter)?.label ?? delimiter
}
