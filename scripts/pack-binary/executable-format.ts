// The headers of ELF (Linux), PE (Windows) and Mach-O (macOS) programs, as far as executables need them.
import type { Processor, System } from '../release/release-files.ts'

/** A program's format according to its headers. */
export interface ExecutableFormat {
  system: System
  processor: Processor
  /** Whether it contains our blob and tells Node to look for it. */
  holdsProgram: boolean
  /** Whether it has a signature, which may no longer match. */
  isSigned: boolean
}

/** The name of what is injected. */
export const BLOB = 'NODE_SEA_BLOB'

/** Node looks for the blob if this is followed by `:1`. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** The first bytes of a blob (node: src/node_sea.cc). */
const BLOB_MAGIC = 0x0143da20

const ELF_PROCESSORS = new Map<number, Processor>([
  [62, 'x64'],
  [183, 'arm64'],
])
const PE_PROCESSORS = new Map<number, Processor>([
  [0x8664, 'x64'],
  [0xaa64, 'arm64'],
])
const MACH_PROCESSORS = new Map<number, Processor>([
  [0x01000007, 'x64'],
  [0x0100000c, 'arm64'],
])

/** Reads a program's headers. Throws if its format is not one that we build. */
export function readExecutableFormat(file: Buffer): ExecutableFormat {
  const isFused = file.includes(`${FUSE}:1`)
  if (file.subarray(0, 4).equals(Buffer.from('\x7fELF'))) {
    const processor = find(ELF_PROCESSORS, file.readUInt16LE(18))
    return {
      system: 'linux',
      processor,
      holdsProgram: isFused && isBlob(findElfNote(file)),
      isSigned: false,
    }
  }
  if (file.toString('latin1', 0, 2) === 'MZ') {
    const pe = readPe(file)
    const processor = find(PE_PROCESSORS, pe.machine)
    const holdsProgram = isFused && isBlob(findPeResource(file, pe))
    return { system: 'win', processor, holdsProgram, isSigned: pe.signature.sizeBytes > 0 }
  }
  if (file.readUInt32LE(0) === 0xfeedfacf) {
    const processor = find(MACH_PROCESSORS, file.readUInt32LE(4))
    const { blob, isSigned } = readMachCommands(file)
    return { system: 'mac', processor, holdsProgram: isFused && isBlob(blob), isSigned }
  }
  throw new Error('the file is no program of Linux, Windows or macOS')
}

function find(processors: ReadonlyMap<number, Processor>, value: number): Processor {
  const processor = processors.get(value)
  if (processor === undefined) throw new Error(`the program is for a processor that we do not know: ${value}`)
  return processor
}

function isBlob(bytes: Buffer | null): boolean {
  return bytes !== null && bytes.length > 4 && bytes.readUInt32LE(0) === BLOB_MAGIC
}

/** The content of the note with our name (64-bit, little-endian). */
function findElfNote(file: Buffer): Buffer | null {
  const [headers, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ]
  for (let header = headers; header < headers + count * size; header += size) {
    const isNotes = file.readUInt32LE(header) === 4
    if (!isNotes) continue
    const start = Number(file.readBigUInt64LE(header + 8))
    const end = start + Number(file.readBigUInt64LE(header + 32))
    for (let at = start; at + 12 <= end; ) {
      const [nameSize, contentSize] = [file.readUInt32LE(at), file.readUInt32LE(at + 4)]
      const name = file.toString('latin1', at + 12, at + 12 + nameSize).replace(/\0+$/, '')
      const content = at + 12 + pad(nameSize)
      if (name === BLOB) return file.subarray(content, content + contentSize)
      at = content + pad(contentSize)
    }
  }
  return null
}

const pad = (size: number) => Math.ceil(size / 4) * 4

interface Pe {
  machine: number
  /** File offset of the data directories. */
  directories: number
  resources: number
  /** Where the signature is in the file. */
  signature: { offset: number; sizeBytes: number }
  sections: { address: number; sizeBytes: number; offset: number }[]
}

/** Byte offset of each entry in the data directories (PE format, "Optional Header Data Directories"). */
const RESOURCES = 2 * 8
const SIGNATURE = 4 * 8

function readPe(file: Buffer): Pe {
  const header = file.readUInt32LE(0x3c)
  if (file.toString('latin1', header, header + 4) !== 'PE\0\0')
    throw new Error('the program has no PE header')
  const optional = header + 24
  const directories = optional + 112
  const sections = optional + file.readUInt16LE(header + 20)
  return {
    machine: file.readUInt16LE(header + 4),
    directories,
    resources: file.readUInt32LE(directories + RESOURCES),
    signature: {
      offset: file.readUInt32LE(directories + SIGNATURE),
      sizeBytes: file.readUInt32LE(directories + SIGNATURE + 4),
    },
    sections: Array.from({ length: file.readUInt16LE(header + 6) }, (_, index) => {
      const at = sections + index * 40
      return {
        address: file.readUInt32LE(at + 12),
        sizeBytes: file.readUInt32LE(at + 16),
        offset: file.readUInt32LE(at + 20),
      }
    }),
  }
}

/** The content of the raw data resource with our name. */
function findPeResource(file: Buffer, pe: Pe): Buffer | null {
  const toOffset = (address: number) => {
    const section = pe.sections.find((one) => address >= one.address && address < one.address + one.sizeBytes)
    return section === undefined ? null : section.offset + address - section.address
  }
  const root = toOffset(pe.resources)
  if (root === null) return null
  const RAW_DATA = 10
  const list = (folder: number) => {
    const count = file.readUInt16LE(folder + 12) + file.readUInt16LE(folder + 14)
    return Array.from({ length: count }, (_, index) => ({
      name: file.readUInt32LE(folder + 16 + index * 8),
      at: root + (file.readUInt32LE(folder + 20 + index * 8) & 0x7fffffff),
    }))
  }
  const readName = (name: number) => {
    if (name < 0x80000000) return null
    const at = root + (name & 0x7fffffff)
    return file.toString('utf16le', at + 2, at + 2 + file.readUInt16LE(at) * 2)
  }
  const type = list(root).find(({ name }) => name === RAW_DATA)
  const named = type && list(type.at).find(({ name }) => readName(name) === BLOB)
  const entry = named && list(named.at)[0]
  const content = entry && toOffset(file.readUInt32LE(entry.at))
  return entry && content ? file.subarray(content, content + file.readUInt32LE(entry.at + 4)) : null
}

const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d

function readMachCommands(file: Buffer): { blob: Buffer | null; isSigned: boolean } {
  const found: { blob: Buffer | null; isSigned: boolean } = { blob: null, isSigned: false }
  const readName = (at: number) => file.toString('latin1', at, at + 16).replace(/\0+$/, '')
  let at = 32
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    const command = file.readUInt32LE(at)
    if (command === LC_CODE_SIGNATURE) found.isSigned = true
    if (command === LC_SEGMENT_64 && readName(at + 8) === 'NODE_SEA') {
      for (let index = 0; index < file.readUInt32LE(at + 64); index += 1) {
        const section = at + 72 + index * 80
        if (readName(section) !== `__${BLOB}`) continue
        const offset = file.readUInt32LE(section + 48)
        found.blob = file.subarray(offset, offset + Number(file.readBigUInt64LE(section + 40)))
      }
    }
    at += file.readUInt32LE(at + 4)
  }
  return found
}

/**
 * A Windows program without its signature, which any change invalidates. The signature is the last thing in
 * the file. Other programs are returned unchanged.
 */
export function removeWindowsSignature(file: Buffer): Buffer {
  if (file.toString('latin1', 0, 2) !== 'MZ') return file
  const { directories, signature } = readPe(file)
  if (signature.sizeBytes === 0) return file
  if (signature.offset + signature.sizeBytes !== file.length)
    throw new Error('the signature of the program is not its end')
  const unsigned = Buffer.from(file.subarray(0, signature.offset))
  unsigned.writeUInt32LE(0, directories + SIGNATURE)
  unsigned.writeUInt32LE(0, directories + SIGNATURE + 4)
  return unsigned
}
