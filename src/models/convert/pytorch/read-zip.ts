/** Numbers that begin the records of a zip archive (APPNOTE.TXT of PKWARE, section 4.3). */
const localHeader = 0x04034b50
const centralHeader = 0x02014b50
const endHeader = 0x06054b50

const endBytes = 22
const commentBytesMax = 65_535
const entriesMax = 65_534

/** Whether the file begins as a zip archive does. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes.length > endBytes && viewOf(bytes).getUint32(0, true) === localHeader
}

/**
 * The entries of a zip archive, name → bytes (views into `bytes`). Only what torch writes: every
 * entry stored as it is, none compressed or encrypted, and less than 4 GiB.
 *
 * @throws Error that says what is broken or not supported.
 */
export function readZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const view = viewOf(bytes)
  const end = findEnd(view)
  const count = view.getUint16(end + 10, true)
  if (count > entriesMax) throw new Error('an archive of more than 4 GiB or 65,534 files')
  const entries = new Map<string, Uint8Array>()
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || view.getUint32(at, true) !== centralHeader)
      throw new Error('its list of files is broken')
    const nameBytes = view.getUint16(at + 28, true)
    const name = Buffer.from(bytes.subarray(at + 46, at + 46 + nameBytes)).toString()
    entries.set(name, readEntry(bytes, at, name))
    at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The bytes of the entry that is listed at `at`. */
function readEntry(bytes: Uint8Array, at: number, name: string): Uint8Array {
  const view = viewOf(bytes)
  const flags = view.getUint16(at + 8, true)
  const method = view.getUint16(at + 10, true)
  const size = view.getUint32(at + 20, true)
  const header = view.getUint32(at + 42, true)
  if ((flags & 1) !== 0 || method !== 0) throw new Error(`${name} is compressed or encrypted`)
  if (header + 30 > bytes.length || view.getUint32(header, true) !== localHeader)
    throw new Error(`${name} is not where the archive says`)
  const from = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true)
  if (from + size > bytes.length) throw new Error(`it ends within ${name}`)
  return bytes.subarray(from, from + size)
}

/** The record at the end, which a comment may follow. */
function findEnd(view: DataView): number {
  const last = view.byteLength - endBytes
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at--)
    if (view.getUint32(at, true) === endHeader) return at
  throw new Error('an archive without an end')
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
