import { nameEncoding } from '../../../shared/messages/reading-messages.ts'

/** Encodings to choose from, including all that can be guessed; the reader accepts more by name. */
export const ENCODING_GROUPS = [
  toGroup('Unicode', {
    'utf-8': 'UTF-8',
    'utf-16le': 'UTF-16, little end first',
    'utf-16be': 'UTF-16, big end first',
    'utf-32le': 'UTF-32, little end first',
    'utf-32be': 'UTF-32, big end first',
    'utf-7': 'UTF-7',
  }),
  toGroup('Windows', {
    'windows-1252': 'Windows 1252 (Western European)',
    'windows-1250': 'Windows 1250 (Central European)',
    'windows-1251': 'Windows 1251 (Cyrillic)',
    'windows-1253': 'Windows 1253 (Greek)',
    'windows-1254': 'Windows 1254 (Turkish)',
    'windows-1255': 'Windows 1255 (Hebrew)',
    'windows-1256': 'Windows 1256 (Arabic)',
    'windows-1257': 'Windows 1257 (Baltic)',
    'windows-1258': 'Windows 1258 (Vietnamese)',
    'windows-874': 'Windows 874 (Thai)',
  }),
  toGroup('East Asia', {
    shift_jis: 'Shift JIS (Japanese)',
    'euc-jp': 'EUC-JP (Japanese)',
    'iso-2022-jp': 'ISO-2022-JP (Japanese)',
    gb18030: 'GB 18030 (Chinese)',
    'hz-gb-2312': 'HZ (Chinese)',
    big5: 'Big5 (Traditional Chinese)',
    'euc-kr': 'EUC-KR (Korean)',
    'iso-2022-kr': 'ISO-2022-KR (Korean)',
  }),
  toGroup('ISO 8859 and KOI8', {
    'iso-8859-2': 'ISO 8859-2 (Central European)',
    'iso-8859-3': 'ISO 8859-3 (Maltese, Esperanto)',
    'iso-8859-4': 'ISO 8859-4 (Baltic)',
    'iso-8859-5': 'ISO 8859-5 (Cyrillic)',
    'iso-8859-6': 'ISO 8859-6 (Arabic)',
    'iso-8859-7': 'ISO 8859-7 (Greek)',
    'iso-8859-8': 'ISO 8859-8 (Hebrew)',
    'iso-8859-10': 'ISO 8859-10 (Nordic)',
    'iso-8859-13': 'ISO 8859-13 (Baltic)',
    'iso-8859-14': 'ISO 8859-14 (Celtic)',
    'iso-8859-15': 'ISO 8859-15 (Western European, €)',
    'iso-8859-16': 'ISO 8859-16 (Romanian)',
    'koi8-r': 'KOI8-R (Russian)',
    'koi8-u': 'KOI8-U (Ukrainian)',
  }),
  toGroup('Mac OS', {
    macintosh: 'Mac Roman (Western European)',
    maccenteuro: 'Mac Central European',
    'x-mac-cyrillic': 'Mac Cyrillic',
    macgreek: 'Mac Greek',
    maciceland: 'Mac Icelandic',
    macturkish: 'Mac Turkish',
  }),
  toGroup('DOS', {
    cp437: 'DOS 437 (United States)',
    cp720: 'DOS 720 (Arabic)',
    cp737: 'DOS 737 (Greek)',
    cp775: 'DOS 775 (Baltic)',
    cp850: 'DOS 850 (Western European)',
    cp852: 'DOS 852 (Central European)',
    cp855: 'DOS 855 (Cyrillic)',
    cp857: 'DOS 857 (Turkish)',
    cp858: 'DOS 858 (Western European, €)',
    cp860: 'DOS 860 (Portuguese)',
    cp861: 'DOS 861 (Icelandic)',
    cp862: 'DOS 862 (Hebrew)',
    cp863: 'DOS 863 (Canadian French)',
    cp864: 'DOS 864 (Arabic)',
    cp865: 'DOS 865 (Nordic)',
    ibm866: 'DOS 866 (Cyrillic)',
    cp869: 'DOS 869 (Greek)',
    cp1125: 'DOS 1125 (Ukrainian)',
  }),
]

function toGroup(group: string, labels: Readonly<Record<string, string>>) {
  return { group, items: Object.entries(labels).map(([value, label]) => ({ value, label })) }
}

/** An encoding's label in the list of choices; its own name if it is not in the list. */
export function labelEncoding(encoding: string): string {
  const known = ENCODING_GROUPS.flatMap(({ items }) => items).find(({ value }) => value === encoding)
  return known?.label ?? nameEncoding(encoding)
}
