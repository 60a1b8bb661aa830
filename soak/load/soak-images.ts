import sharp from 'sharp'
import {
  imageItem,
  samplePhotograph,
  type TestImage,
} from '../../test/support/facegate/test-facegate.ts'
import { pickDistinct, type RandomSource } from '../../src/lib/random/seeded-random.ts'

export type SoakImages = {
  /** Images of one face each. */
  readonly portraits: readonly object[]
  /** Images of three to five faces. */
  readonly groups: readonly object[]
  /** The bytes of one small portrait, for damaged copies. */
  readonly plain: Buffer
}

/** Sections of the samples with one near face each: [sample, left, top, width, height]. */
const faces = [
  [1, 1250, 170, 670, 520],
  [3, 1360, 310, 560, 460],
  [5, 1320, 340, 600, 500],
  [6, 1380, 190, 448, 504],
] as const

/** Creates images of random sizes between 160 and 1280 px, as JPEG and PNG. */
export async function createSoakImages(random: RandomSource): Promise<SoakImages> {
  const portraits: TestImage[] = []
  for (const [sample, left, top, width, height] of faces) {
    const { bytes } = await samplePhotograph(sample)
    const face = await sharp(bytes).extract({ left, top, width, height }).png().toBuffer()
    for (let copy = 0; copy < 12; copy++)
      portraits.push(await resized(face, 160 + Math.floor(random() * 1120), random))
  }
  const groups: TestImage[] = []
  for (const sample of [1, 3, 5, 6] as const) {
    const { bytes } = await samplePhotograph(sample)
    for (let copy = 0; copy < 3; copy++)
      groups.push(await resized(bytes, 480 + Math.floor(random() * 800), random))
  }
  return {
    portraits: portraits.map(imageItem),
    groups: groups.map(imageItem),
    plain: portraits.find(({ contentType }) => contentType === 'image/jpeg')?.bytes ?? Buffer.of(),
  }
}

async function resized(bytes: Buffer, width: number, random: RandomSource): Promise<TestImage> {
  const image = sharp(bytes).resize(width)
  if (random() < 0.2) return { bytes: await image.png().toBuffer(), contentType: 'image/png' }
  const quality = 60 + Math.floor(random() * 38)
  return { bytes: await image.jpeg({ quality }).toBuffer(), contentType: 'image/jpeg' }
}

/** Returns a copy with random bytes changed behind the header. */
export function damaged(bytes: Buffer, random: RandomSource): Buffer {
  const copy = Buffer.from(bytes)
  for (const position of pickDistinct(random, bytes.length - 20, 8))
    copy[position + 20] = Math.floor(random() * 256)
  return copy
}
