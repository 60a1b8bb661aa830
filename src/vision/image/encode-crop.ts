import { encodeJpeg } from './decode.ts'
import type { PlanarCrop } from './warp.ts'

/** Returns a crop as a JPEG in base64. */
export async function encodeCrop({ width, height, planes }: PlanarCrop): Promise<string> {
  const pixels = new Uint8Array(planes.length)
  const size = width * height
  for (let i = 0; i < size; i++)
    for (let channel = 0; channel < 3; channel++)
      pixels[3 * i + channel] = Math.round(planes[channel * size + i] ?? 0)
  return (await encodeJpeg({ width, height, pixels })).toString('base64')
}
