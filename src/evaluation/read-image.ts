import { readFile } from 'node:fs/promises'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'

/** Reads an image file. A file that does not begin like a PNG counts as a JPEG. */
export async function readImage(file: string): Promise<EncodedImage> {
  const bytes = await readFile(file)
  return {
    bytes: bytes.toString('base64'),
    contentType: bytes[0] === 0x89 ? 'image/png' : 'image/jpeg',
  }
}
