import type { ImageFileType } from '../../../lib/image-types/image-types.ts'
import { pngChunks } from './png-metadata.ts'
import { jpegSegments } from './validate-image.ts'
import { framesMax } from '../extra-types.ts'
import { webpChunks, webpChunksMax } from './webp-frames.ts'

/**
 * Erases the pointers of EXIF data in an image, so that the decoder reads at most two directories, and
 * the orientation in the first. It follows every pointer, also to a directory that contains it: 14
 * entries take it more than 15 s. It reads no EXIF of a GIF or TIFF. A changed checksum of the chunk of
 * a PNG has no effect on the decoder. A WebP with more chunks than are read here is refused later.
 */
export function erasePointers(bytes: Buffer, type: ImageFileType): void {
  if (type === 'JPEG')
    for (const { marker, data } of jpegSegments(bytes)) if (marker === app1) eraseTags(data)
  if (type === 'PNG')
    for (const { type: name, data } of pngChunks(bytes)) if (name === 'eXIf') eraseTags(data)
  if (type === 'WebP')
    for (const { name, data } of webpChunks(bytes).take(webpChunksMax(framesMax)))
      if (name === 'EXIF') eraseTags(data)
  if (type === 'AVIF') hideItems(bytes)
}

const app1 = 0xe1

/**
 * The tags that refer to a directory (Exif, GPS, Interoperability, MakerNote), in both byte orders. No
 * two bytes of an orientation, tag 0x0112, equal one of them.
 */
const tags = new Set([0x8769, 0x6987, 0x8825, 0x2588, 0xa005, 0x05a0, 0x927c, 0x7c92])

/** Erases each tag, at any position: no structure of the data hides one. */
export function eraseTags(exif: Uint8Array): void {
  for (let at = 1; at < exif.length; at++)
    if (tags.has(((exif[at - 1] ?? 0) << 8) | (exif[at] ?? 0))) exif.fill(0, at - 1, at + 1)
}

/**
 * Renames the EXIF items of an AVIF, whose orientation is not in them: their type in an entry `infe` of
 * version 2 or 3 with a size of 32 or 64 bits (ISO/IEC 14496-12), and a box `mini`, whose first length
 * byte is small.
 */
function hideItems(bytes: Buffer): void {
  const names = /(?<=infe[^]{8}(?:[^]{8})?(?:[^]{2})?)[Ee][Xx][Ii][Ff]|(?<=[^ -ÿ][^]{3})mini/gu
  for (const { index } of bytes.toString('latin1').matchAll(names)) bytes.write('free', index)
}
