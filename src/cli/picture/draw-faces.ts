import sharp from 'sharp'
import { escapeXml } from '../../lib/escaping/escape-xml.ts'
import type { BoundingBox } from '../../vision/image/geometry.ts'

/** A face of the upright picture, px, and the text above it. */
export type MarkedFace = {
  readonly boundingBox: BoundingBox
  readonly text: string
  /** A face that matches is green, another one yellow. */
  readonly isMatch: boolean
}

/** Writes a picture with its faces to `file`; the extension selects JPEG or PNG. */
export async function drawFaces(picture: string, faces: readonly MarkedFace[], file: string) {
  const { data, info } = await sharp(picture).autoOrient().toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const linePx = Math.max(2, Math.round(Math.max(width, height) / 300))
  const marks = faces.map((face) => drawFace(face, linePx))
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${marks.join('')}</svg>`
  await sharp(data)
    .composite([{ input: Buffer.from(svg) }])
    .toFile(file)
}

function drawFace({ boundingBox, text, isMatch }: MarkedFace, linePx: number): string {
  const { left, top, width, height } = boundingBox
  const colour = isMatch ? '#33e06f' : '#ffb000'
  const fontPx = linePx * 7
  // At the upper edge of the picture, the text is below the edge of the face.
  const baseline = top > fontPx * 1.5 ? top - linePx * 2 : top + fontPx
  return `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="none" stroke="${colour}" stroke-width="${linePx}"/>
<text x="${left}" y="${baseline}" font-family="sans-serif" font-size="${fontPx}" fill="${colour}" stroke="#000" stroke-width="${linePx}" paint-order="stroke">${escapeXml(text)}</text>`
}
