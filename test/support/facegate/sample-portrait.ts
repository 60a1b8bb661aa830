import sharp from 'sharp'
import { samplePhotograph } from './test-facegate.ts'

/** The face of one woman near the camera, cropped from a photograph of four: PNG, 448×504. */
export async function samplePortrait(): Promise<Buffer> {
  const { bytes } = await samplePhotograph(6)
  return sharp(bytes).extract({ left: 1380, top: 190, width: 448, height: 504 }).png().toBuffer()
}
