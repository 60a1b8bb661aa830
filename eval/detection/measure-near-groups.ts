import { glob } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { readImage } from '../../src/evaluation/face-images.ts'
import { runBlazeface } from '../../src/vision/detect/blazeface.ts'
import { combineDetections, confirmDetections } from '../../src/vision/detect/combine-detections.ts'
import type { Detection } from '../../src/vision/detect/detection.ts'
import { findNearGroup } from '../../src/vision/detect/border-faces.ts'
import { runSsd } from '../../src/vision/detect/ssd.ts'
import { configureDecoder, openImage } from '../../src/vision/image/decode.ts'
import { iou } from '../../src/vision/image/geometry.ts'
import { createImagePyramid } from '../../src/vision/image/pyramid.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import { createModelSessions } from '../../src/vision/model-sessions.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

/**
 * Compares the faces of pictures for which `findNearGroup` skips the SSD with those that the SSD finds:
 * `node eval/detection/measure-near-groups.ts <folder> …`. It prints each picture with another result.
 */
const folders = process.argv.slice(2)
if (folders.length === 0)
  throw new Error('usage: node eval/detection/measure-near-groups.ts <folder> …')

const limits = { bytesMax: 2 ** 28, pixelsMax: 1e8, sideMinPx: 32 }
const isWanted = ({ confidence, box }: Detection): boolean =>
  confidence >= 0.6 && Math.min(box.width, box.height) >= 20
const samePlaceIouMin = 0.3

const modelsFolder = path.join(tmpdir(), 'facegate-models')
await prepareBuiltinPack({ folder: modelsFolder })
configureDecoder()
const sessions = createModelSessions(modelsFolder)
const blazeface = await sessions.openBuiltin('blazeface')
const ssd = await sessions.openBuiltin('ssd_mobilenetv1')
const landmarker = await openMeshLandmarker(sessions)

const totals = { pictures: 0, skipped: 0, faces: 0, lost: 0, added: 0, unreadable: 0 }
for (const folder of folders)
  for (const file of (await Array.fromAsync(glob('**/*.{jpg,png}', { cwd: folder }))).toSorted()) {
    const result = await compareDetections(path.join(folder, file)).catch(() => undefined)
    if (!result) {
      totals.unreadable++
      continue
    }
    totals.pictures++
    const { group, reference } = result
    if (!group) continue
    const lost = countMissing(reference, group)
    const added = countMissing(group, reference)
    totals.skipped++
    totals.faces += reference.length
    totals.lost += lost
    totals.added += added
    if (lost + added > 0) console.log(`${file}: ${lost} lost, ${added} added`)
  }
console.log(totals)
await sessions.close()

/** Returns the faces without the SSD, if it is skipped, and the faces with it. */
async function compareDetections(file: string) {
  const pyramid = createImagePyramid(await openImage(await readImage(file), limits, file))
  const fitMesh = landmarker.forImage({ pyramid, stopwatch: createStopwatch() })
  const candidates = await runBlazeface(blazeface, pyramid)
  const group = await findNearGroup(candidates, pyramid.frame, fitMesh)
  const combined = combineDetections(candidates, await runSsd(ssd, pyramid))
  return {
    group: group && (await confirmDetections(group, { isWanted }, fitMesh)),
    reference: await confirmDetections(combined, { isWanted }, fitMesh),
  }
}

/** Returns the number of faces for which `others` has no face at the same place. */
function countMissing(faces: readonly Detection[], others: readonly Detection[]): number {
  return faces.filter(({ box }) => others.every((other) => iou(other.box, box) < samePlaceIouMin))
    .length
}
