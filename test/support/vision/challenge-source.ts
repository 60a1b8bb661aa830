import sharp, { type Region } from 'sharp'
import type { ViewSource } from '../../../eval/challenge/drawn-views.ts'
import { openMeshReader } from '../../../eval/challenge/read-mesh.ts'
import type { Frame } from '../../../src/vision/image/decode.ts'
import type { Mesh } from '../../../src/vision/landmarks/mesh.ts'
import { samplePhotograph } from '../facegate/test-facegate.ts'
import { largestFace, modelsFolder, type TestPipeline } from './test-pipeline.ts'

/** Returns the face of a woman of the sample photographs with its mesh, and a man's face. */
export async function readChallengeSource(pipeline: TestPipeline): Promise<ViewSource> {
  const frame = await cropSample(6, womanRegion)
  const { behind } = await readBehindSource(pipeline)
  return { frame, behind, mesh: await readMeshOf(frame, pipeline) }
}

/** Returns the man's face of `readChallengeSource` with its mesh. */
export async function readBehindSource(pipeline: TestPipeline): Promise<ViewSource> {
  const frame = await cropSample(3, manRegion)
  const picture = { frame, mesh: await readMeshOf(frame, pipeline) }
  return { ...picture, behind: picture }
}

const womanRegion = { left: 1330, top: 130, width: 560, height: 560 }
const manRegion = { left: 1360, top: 310, width: 400, height: 400 }

async function readMeshOf(frame: Frame, pipeline: TestPipeline): Promise<Mesh> {
  const { width, height, pixels } = frame
  const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
  const { boundingBox: box } = largestFace(await pipeline.analyze(png))
  await using meshReader = await openMeshReader(modelsFolder)
  const rect = { x: box.left, y: box.top, width: box.width, height: box.height }
  return await meshReader.readMesh(frame, rect)
}

async function cropSample(n: 3 | 6, region: Region): Promise<Frame> {
  const { bytes } = await samplePhotograph(n)
  const { data, info } = await sharp(bytes)
    .extract(region)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}
