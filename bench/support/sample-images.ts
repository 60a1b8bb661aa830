import { mkdtemp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import type { Sharp } from 'sharp'

const demo = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')),
  'demo',
)

/** The sample photographs of the package: groups of three to five people, 1920 px wide. */
export const groupImages = [1, 2, 3, 4, 5, 6].map((n) => path.join(demo, `sample${n}.jpg`))

/** 16:9 sections of the samples with one face each: [sample, left, top, width]. */
const singleFaceRegions = [
  [1, 1250, 170, 670],
  [3, 1360, 310, 560],
  [5, 1320, 340, 600],
  [6, 40, 440, 600],
] as const

/** Writes 1280×720 JPEGs with one near face each to a new temporary folder. */
export function writeOneFaceImages(): Promise<string[]> {
  return writeImages((region) => region.resize(1280, 720))
}

/**
 * Writes 1280×720 JPEGs with one face in front of the blurred image, like a person some metres from the
 * camera.
 *
 * @param width of the section around the face, px.
 */
export function writeDistantFaceImages(width = 426): Promise<string[]> {
  return writeImages(async (region) => {
    const height = Math.round((width * 9) / 16)
    const near = await region.resize(width, height).png().toBuffer()
    const [left, top] = [Math.round((1280 - width) / 2), Math.round((720 - height) / 2)]
    return sharp(near)
      .resize(1280, 720)
      .blur(80)
      .composite([{ input: near, left, top }])
  })
}

async function writeImages(
  transform: (region: Sharp) => Sharp | Promise<Sharp>,
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-'))
  return Promise.all(
    singleFaceRegions.map(async ([sample, left, top, width], index) => {
      const height = Math.round((width * 9) / 16)
      const region = sharp(groupImages[sample - 1]).extract({ left, top, width, height })
      const image = await transform(region)
      const file = path.join(folder, `${index}.jpg`)
      await writeFile(file, await image.jpeg({ quality: 90 }).toBuffer())
      return file
    }),
  )
}
