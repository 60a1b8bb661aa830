import { mkdtemp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'

const demo = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')),
  'demo',
)

/** The package's own sample photographs: 1920 px wide groups of three to five people. */
export const samplePhotographs = [1, 2, 3, 4, 5, 6].map((n) => path.join(demo, `sample${n}.jpg`))

/** Windows of the samples with one face each: [sample, left, top, width] at 16:9. */
const windows = [
  [1, 1250, 170, 670],
  [3, 1360, 310, 560],
  [5, 1320, 340, 600],
  [6, 40, 440, 600],
] as const

/** Writes 1280×720 JPEGs of one face each to a new temporary folder. */
export async function makeOneFacePictures(): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-'))
  return Promise.all(
    windows.map(async ([sample, left, top, width], index) => {
      const height = Math.round((width * 9) / 16)
      const picture = await sharp(samplePhotographs[sample - 1])
        .extract({ left, top, width, height })
        .resize(1280, 720)
        .jpeg({ quality: 90 })
        .toBuffer()
      const file = path.join(folder, `${index}.jpg`)
      await writeFile(file, picture)
      return file
    }),
  )
}
