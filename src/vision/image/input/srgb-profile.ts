/**
 * Returns whether an ICC profile describes sRGB (IEC 61966-2-1), so that its pixels need no
 * conversion. Cameras and editors embed such profiles in most of their images. The conversion changed
 * no value of five photographs, and took twice as long as their decoding.
 *
 * Only profiles of a matrix and three curves are compared (ICC.1, matrix-shaper). All others need a
 * conversion, and so does a damaged profile.
 */
export function isSrgbProfile(profile: Uint8Array): boolean {
  const view = new DataView(profile.buffer, profile.byteOffset, profile.byteLength)
  if (profile.length < tagTableAt + 4) return false
  if (view.getUint32(16) !== signature('RGB ') || view.getUint32(20) !== signature('XYZ '))
    return false
  const tags = readTags(view)
  if (!tags || tags.has(signature('A2B0'))) return false
  return channels.every(({ colourant, curve, xyz }) => {
    const point = tags.get(signature(colourant))
    const shape = tags.get(signature(curve))
    return point && shape && isNear(readXyz(point), xyz) && isSrgbCurve(shape)
  })
}

/**
 * Returns whether a profile contains chains of processing elements (`D2B0` to `D2B3`). The decoder
 * computes each for 35,937 colours, and a few bytes repeat an element thousands of times: 1,000 elements
 * take 0.5 s. The decoder prefers them to the tables and curves that most of these profiles have as well.
 */
export function hasElementChains(profile: Uint8Array): boolean {
  const start = tagTableAt + 4
  const names = Buffer.from(profile.subarray(start, start + tagsMax * tagBytes))
  for (let at = 0; at < names.length; at += tagBytes)
    if (/^D2B[0-3]/u.test(names.toString('latin1', at, at + 4))) return true
  return false
}

/** The header of a profile has 128 bytes. Then follow the number of tags and the table of tags. */
const tagTableAt = 128
const tagBytes = 12
/** Profiles have about twenty tags. */
const tagsMax = 100

/** Returns tag → content, or `undefined` if a content is outside of the profile. */
function readTags(view: DataView): Map<number, DataView> | undefined {
  const count = view.getUint32(tagTableAt)
  const tags = new Map<number, DataView>()
  if (count > tagsMax || tagTableAt + 4 + count * tagBytes > view.byteLength) return undefined
  for (let index = 0; index < count; index++) {
    const at = tagTableAt + 4 + index * tagBytes
    const [start, length] = [view.getUint32(at + 4), view.getUint32(at + 8)]
    if (length < contentBytesMin || start + length > view.byteLength) return undefined
    tags.set(view.getUint32(at), new DataView(view.buffer, view.byteOffset + start, length))
  }
  return tags
}

/** A content begins with its type, four empty bytes, and a number. */
const contentBytesMin = 12

/** The primaries of sRGB relative to the white of the connection space (D50), X, Y and Z. */
const channels = [
  { colourant: 'rXYZ', curve: 'rTRC', xyz: [0.436, 0.2225, 0.0139] },
  { colourant: 'gXYZ', curve: 'gTRC', xyz: [0.3851, 0.7169, 0.0971] },
  { colourant: 'bXYZ', curve: 'bTRC', xyz: [0.1431, 0.0606, 0.7141] },
] as const

function readXyz(content: DataView): number[] {
  if (content.getUint32(0) !== signature('XYZ ') || content.byteLength < 20) return []
  return [8, 12, 16].map((at) => readFixed(content, at))
}

/** Published sRGB profiles differ by up to 0.0007. */
const xyzDifferenceMax = 0.001

function isNear(values: readonly number[], expected: readonly number[]): boolean {
  return expected.every(
    (value, index) => Math.abs((values[index] ?? Number.NaN) - value) <= xyzDifferenceMax,
  )
}

/** Whether a curve maps each of 32 encoded values to the light of sRGB, within one level of 255. */
function isSrgbCurve(content: DataView): boolean {
  const curve = readCurve(content)
  if (!curve) return false
  for (let step = 1; step <= curveSteps; step++) {
    const encoded = step / curveSteps
    if (!(Math.abs(encodeSrgb(curve(encoded)) - encoded) <= 1 / 255)) return false
  }
  return true
}

const curveSteps = 32

/** Returns the function of a table of at least two values, or of a curve in five parameters. */
function readCurve(content: DataView): ((encoded: number) => number) | undefined {
  const type = content.getUint32(0)
  if (type === signature('curv')) {
    const last = content.getUint32(8) - 1
    if (last < 1 || 12 + 2 * (last + 1) > content.byteLength) return undefined
    const at = (index: number): number => content.getUint16(12 + 2 * index) / 65_535
    return (encoded) => {
      const index = Math.min(last - 1, Math.floor(encoded * last))
      return at(index) + (encoded * last - index) * (at(index + 1) - at(index))
    }
  }
  if (type !== signature('para') || content.getUint16(8) !== 3 || content.byteLength < 32)
    return undefined
  const [g = 1, a = 1, b = 0, c = 1, d = 0] = [12, 16, 20, 24, 28].map((at) =>
    readFixed(content, at),
  )
  return (encoded) => (encoded >= d ? (a * encoded + b) ** g : c * encoded)
}

/** Returns the encoded value, 0..1, of linear light. */
function encodeSrgb(light: number): number {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055
}

/** A signed number with 16 bits before and after the point. */
function readFixed(content: DataView, at: number): number {
  return content.getInt32(at) / 65_536
}

/** The four letters that ICC uses as names of types and tags. */
function signature(letters: string): number {
  return Buffer.from(letters, 'latin1').readUInt32BE()
}
