import { ByteWriter, type ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'

/** A value of a column; a timestamp is a number of milliseconds. */
export type ParquetValue = string | number | boolean

type ColumnChunk = ParquetWriter['row_groups'][number]['columns'][number]

/** Values after which repetition can be judged, and the share of distinct ones too high for a dictionary. */
const SAMPLED = 1_000
const DISTINCT_MAX = 0.9

/**
 * A flat column of a Parquet file, a group of rows at a time; any row may lack a value. Values become bytes
 * as they come, which spares the garbage collector; the library's own columns need a list of all values, and
 * give each text a buffer. Repeated values are written once, in a dictionary, if that halves them.
 */
export class ParquetColumn {
  readonly #name: string
  readonly #type: SchemaElement['type']
  /** By row, 1 if it has a value. */
  readonly #levels: Uint8Array
  #rows = 0
  /** The bytes of all distinct values, or of all values once the dictionary was dropped. */
  #bytes = Buffer.allocUnsafe(1024)
  #size = 0
  /** Where each distinct value begins in these bytes. */
  readonly #starts: Uint32Array
  /** The number of each distinct value; null once the dictionary was dropped. */
  #numbers: Map<string | number, number> | null = new Map()
  /** The dictionary number of each value; for a boolean, 0 or 1. */
  readonly #indexes: Uint32Array
  #values = 0

  /** A group has at most `rows`. */
  constructor({ name, type }: SchemaElement, rows: number) {
    this.#name = name
    this.#type = type
    this.#levels = new Uint8Array(rows)
    this.#starts = new Uint32Array(rows + 1)
    this.#indexes = new Uint32Array(rows)
  }

  /** Adds the value of the next row, which must have the column's type. */
  add(value: ParquetValue | null): void {
    this.#levels[this.#rows] = value === null ? 0 : 1
    this.#rows += 1
    if (value === null) return
    if (typeof value === 'boolean') this.#indexes[this.#values] = Number(value)
    else if (this.#numbers === null) this.#append(value)
    else this.#addDistinct(value, this.#numbers)
    this.#values += 1
    if (this.#values === SAMPLED && (this.#numbers?.size ?? 0) > SAMPLED * DISTINCT_MAX)
      this.#dropDictionary()
  }

  #addDistinct(value: string | number, numbers: Map<string | number, number>): void {
    let index = numbers.get(value)
    if (index === undefined) {
      index = numbers.size
      numbers.set(value, index)
      this.#append(value)
      this.#starts[index + 1] = this.#size
    }
    this.#indexes[this.#values] = index
  }

  #append(value: string | number): void {
    const needed = this.#size + (typeof value === 'string' ? 4 + value.length * 3 : 8)
    if (needed > this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(needed * 2)
      this.#bytes.copy(bytes, 0, 0, this.#size)
      this.#bytes = bytes
    }
    if (typeof value === 'string') {
      const length = this.#bytes.write(value, this.#size + 4)
      this.#size = this.#bytes.writeUInt32LE(length, this.#size) + length
    } else if (this.#type === 'INT32') this.#size = this.#bytes.writeInt32LE(value, this.#size)
    else if (this.#type === 'INT64') this.#size = this.#bytes.writeBigInt64LE(BigInt(value), this.#size)
    else this.#size = this.#bytes.writeDoubleLE(value, this.#size)
  }

  /** Rewrites all values one after the other. */
  #dropDictionary(): void {
    const [distinct, starts, isAsIs] = [this.#bytes, this.#starts, this.#numbers?.size === this.#values]
    this.#numbers = null
    if (isAsIs) return
    this.#bytes = Buffer.allocUnsafe(this.#sumSizes())
    this.#size = 0
    for (const index of this.#indexes.subarray(0, this.#values)) {
      this.#size += distinct.copy(this.#bytes, this.#size, starts[index], starts[index + 1])
    }
  }

  /** Size of all values one after the other, bytes. */
  #sumSizes(): number {
    const [starts, indexes] = [this.#starts, this.#indexes.subarray(0, this.#values)]
    return indexes.reduce((sum, index) => sum + (starts[index + 1] ?? 0) - (starts[index] ?? 0), 0)
  }

  /** Writes the group and begins the next. */
  write(writer: ByteWriter): ColumnChunk {
    const [offset, rows] = [writer.offset, this.#rows]
    const levels = new ByteWriter()
    const levelsLength = writeRleBitPackedHybrid(levels, this.#levels.subarray(0, rows), 1)
    const { encoding, data, dictionary } = this.#encode()
    let uncompressed = 0
    const writePage = (header: object, before: Uint8Array, bytes: Uint8Array) => {
      const packed = snappyCompress(bytes)
      const start = writer.offset
      writePageHeader(writer, {
        uncompressed_page_size: before.length + bytes.length,
        compressed_page_size: before.length + packed.length,
        ...header,
      } as Parameters<typeof writePageHeader>[1])
      uncompressed += writer.offset - start + before.length + bytes.length
      writer.appendBytes(before)
      writer.appendBytes(packed)
    }
    if (dictionary !== null) {
      const header = { num_values: this.#numbers?.size, encoding: 'PLAIN' }
      const page = { type: 'DICTIONARY_PAGE', dictionary_page_header: header }
      writePage(page, new Uint8Array(), dictionary)
    }
    const dataOffset = writer.offset
    writePage(
      {
        type: 'DATA_PAGE_V2',
        data_page_header_v2: {
          num_values: rows,
          num_nulls: rows - this.#values,
          num_rows: rows,
          encoding,
          definition_levels_byte_length: levelsLength,
          repetition_levels_byte_length: 0,
          is_compressed: true,
        },
      },
      levels.getBytes(),
      data,
    )
    this.#rows = 0
    this.#size = 0
    this.#numbers = new Map()
    this.#values = 0
    return {
      file_offset: BigInt(offset),
      meta_data: {
        type: this.#type ?? 'BYTE_ARRAY',
        encodings: dictionary === null ? [encoding] : ['PLAIN', encoding],
        path_in_schema: [this.#name],
        codec: 'SNAPPY',
        num_values: BigInt(rows),
        total_compressed_size: BigInt(writer.offset - offset),
        total_uncompressed_size: BigInt(uncompressed),
        data_page_offset: BigInt(dataOffset),
        ...(dictionary !== null && { dictionary_page_offset: BigInt(offset) }),
      },
    }
  }

  #encode(): {
    encoding: 'PLAIN' | 'RLE' | 'RLE_DICTIONARY'
    data: Uint8Array
    dictionary: Uint8Array | null
  } {
    const packed = new ByteWriter()
    const indexes = this.#indexes.subarray(0, this.#values)
    if (this.#type === 'BOOLEAN') {
      const length = writeRleBitPackedHybrid(packed, indexes, 1)
      const data = new ByteWriter()
      data.appendUint32(length)
      data.appendBytes(packed.getBytes())
      return { encoding: 'RLE', data: data.getBytes(), dictionary: null }
    }
    const bits = Math.ceil(Math.log2(Math.max(1, this.#numbers?.size ?? 0)))
    const halved = 2 * (this.#size + (this.#values * bits) / 8)
    if (this.#numbers !== null && halved >= this.#sumSizes()) this.#dropDictionary()
    const values = this.#bytes.subarray(0, this.#size)
    if (this.#numbers === null) return { encoding: 'PLAIN', data: values, dictionary: null }
    packed.appendUint8(bits)
    writeRleBitPackedHybrid(packed, indexes, bits)
    return { encoding: 'RLE_DICTIONARY', data: packed.getBytes(), dictionary: values }
  }
}
