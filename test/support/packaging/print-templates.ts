/**
 * Prints the template of the largest face of each picture as JSON, computed with float32.
 *
 * `node print-templates.ts <folder of models> <picture>…`
 */
import { readImage } from '../../../src/evaluation/face-images.ts'
import { builtinSet } from '../../../src/models/model-set.ts'
import { createPipeline } from '../../../src/vision/pipeline.ts'

const [modelsFolder = '', ...pictures] = process.argv.slice(2)
const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const request = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 1,
  crops: false,
  templates: true,
}
const pipeline = await createPipeline({ modelsFolder, modelSet: builtinSet, limits })
const templates: number[][] = []
for (const picture of pictures) {
  const { faces } = await pipeline.analyzeImage(await readImage(picture), request, picture)
  templates.push([...(faces[0]?.template?.vector ?? [])])
}
await pipeline.close()
process.stdout.write(JSON.stringify(templates))
