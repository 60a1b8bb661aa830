import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import sharp, { type Region } from 'sharp'

type SamplePicture = {
  /** A photograph in `demo` of `@vladmandic/face-api`. */
  readonly photograph: string
  /** The part of the photograph in px; the whole one without it. */
  readonly region?: Region
}

/** The pictures of the guides by file name, from an installed package. */
const samplePictures: Readonly<Record<string, SamplePicture>> = {
  'mia.jpg': {
    photograph: 'sample3.jpg',
    region: { left: 950, top: 80, width: 470, height: 560 },
  },
  'door.jpg': {
    photograph: 'sample1.jpg',
    region: { left: 1400, top: 150, width: 330, height: 360 },
  },
  'other.jpg': {
    photograph: 'sample6.jpg',
    region: { left: 1380, top: 190, width: 448, height: 504 },
  },
  'group.jpg': { photograph: 'sample1.jpg' },
}

/** Returns the pictures of the guides by file name. */
export async function readSamplePictures(): Promise<ReadonlyMap<string, Buffer>> {
  const manifest = createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')
  const pictures = Object.entries(samplePictures).map(async ([name, { photograph, region }]) => {
    const bytes = await readFile(path.join(path.dirname(manifest), 'demo', photograph))
    return [name, region ? await sharp(bytes).extract(region).jpeg().toBuffer() : bytes] as const
  })
  return new Map(await Promise.all(pictures))
}
