import path from 'node:path'
import sharp from 'sharp'
import { rootDir } from '../../../docs/build/contents.ts'
import { samplePhotograph, type TestResponse, type TestClient } from '../facegate/test-facegate.ts'

/** Returns the pictures of the tutorial by file name, drawn from responses of the service. */
export async function drawTutorialImages(
  client: TestClient,
): Promise<Readonly<Record<string, Buffer>>> {
  const [detectedIn, identifiedIn] = [await samplePhotograph(3), await samplePhotograph(1)]
  const detected = await client.run('svc.detect', detectedIn)
  const person = { facePolicy: 'largest', groups: ['tutorial'] }
  const enrolled = await client.run('svc.enroll', detectedIn, person)
  const search = { maxFaces: 3, groups: ['tutorial'] }
  const identified = await client.run('svc.identify', identifiedIn, search)
  const { subjectId } = enrolled.body.data.results[0].value
  await client.post({ action: 'svc.deleteSubject', params: { subjectId } })
  return {
    'detected.jpg': await drawFaces(detectedIn.bytes, facesOf(detected)),
    'identified.jpg': await drawFaces(identifiedIn.bytes, facesOf(identified)),
  }
}

export const committedImagePath = (name: string): string =>
  path.join(rootDir, 'docs', 'pictures', name)

/**
 * Returns the mean difference of two images of one size, 0..255. Encoders differ slightly between
 * machines.
 */
export async function meanDifference(first: Buffer, second: Buffer): Promise<number> {
  const [a, b] = await Promise.all([first, second].map((bytes) => sharp(bytes).raw().toBuffer()))
  if (!a || !b || a.length !== b.length) return 255
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length
}

type DrawnFace = {
  readonly boundingBox: { left: number; top: number; width: number; height: number }
  readonly candidates?: readonly { readonly similarity: number }[]
}

const widthPx = 720

const facesOf = ({ body }: TestResponse): readonly DrawnFace[] => body.data.results[0].value.faces

async function drawFaces(bytes: Buffer, faces: readonly DrawnFace[]): Promise<Buffer> {
  const { width, height } = await sharp(bytes).metadata()
  const marks = faces.map(({ boundingBox: box, candidates }) => {
    const [best] = candidates ?? []
    const colour = candidates && !best ? '#ffb000' : '#33e06f'
    const text = best ? `badge-1042 ${best.similarity.toFixed(2)}` : candidates ? 'unknown' : ''
    return `<rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" rx="12" fill="none" stroke="${colour}" stroke-width="8"/>
<text x="${box.left}" y="${box.top - 18}" font-family="sans-serif" font-size="44" font-weight="bold" fill="${colour}" stroke="#000" stroke-width="8" paint-order="stroke">${text}</text>`
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${marks.join('')}</svg>`
  const marked = await sharp(bytes)
    .composite([{ input: Buffer.from(svg) }])
    .toBuffer()
  return sharp(marked).resize(widthPx).jpeg({ quality: 72 }).toBuffer()
}
