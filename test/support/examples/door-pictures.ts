import sharp from 'sharp'
import { samplePhotograph } from '../facegate/test-facegate.ts'

/** A portrait of one person, frames of the same person and frames of another one. */
export type DoorPictures = {
  readonly mia: Buffer
  readonly door: Buffer[]
  readonly other: Buffer[]
}

/** The left and upper edge, the width and the height, px. */
type PixelRegion = readonly [number, number, number, number]

/** Returns a portrait, frames of the same person on another day, and frames of another person. */
export async function drawDoorPictures(): Promise<DoorPictures> {
  const [first, third, sixth] = await Promise.all(([1, 3, 6] as const).map(samplePhotograph))
  const cut = (bytes: Buffer, ...[left, top, width, height]: PixelRegion) =>
    sharp(bytes).extract({ left, top, width, height })
  const framesOf = (bytes: Buffer, ...box: PixelRegion) =>
    Promise.all(
      [1, 0.9, 1.1].map((brightness) =>
        cut(bytes, ...box)
          .modulate({ brightness })
          .jpeg()
          .toBuffer(),
      ),
    )
  return {
    mia: await cut(third!.bytes, 950, 80, 470, 560).jpeg().toBuffer(),
    door: await framesOf(first!.bytes, 1400, 150, 330, 360),
    other: await framesOf(sixth!.bytes, 1380, 190, 448, 504),
  }
}

/** Returns a picture without a face. */
export const drawWall = (): Promise<Buffer> =>
  sharp({ create: { width: 300, height: 300, channels: 3, background: '#888' } })
    .jpeg()
    .toBuffer()
