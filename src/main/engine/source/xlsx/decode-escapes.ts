const ESCAPE = /_x([\dA-Fa-f]{4})_/g

/** Reads the escapes with which workbooks write what XML cannot, such as `_x000D_` for a carriage return. */
export function decodeEscapes(text: string): string {
  return text.includes('_x')
    ? text.replace(ESCAPE, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text
}
