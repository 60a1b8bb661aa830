import { createProgressBar } from '../../src/cli/progress-bar.ts'
import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/start/active-models.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import type { NetworkEmbeddings } from '../../src/vision/embed/embed.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import type { Template } from '../../src/vision/image-analysis.ts'
import { readFaceSet } from '../../src/evaluation/face-set.ts'
import {
  extractTemplates,
  templatesRequest,
} from '../../src/evaluation/verification/extract-templates.ts'
import type { PersonEmbedding } from './fit-template-model.ts'

/** Larger than any picture of a set. */
const limits = { bytesMax: 64 * 2 ** 20, pixelsMax: 1e8, sideMinPx: 32 }

/**
 * What the networks say of every picture of a set, before any template model; pictures without a
 * face are left out. Shows its progress.
 */
export async function embedFaceSet(place: string): Promise<PersonEmbedding[]> {
  const { pictures } = await readFaceSet(place)
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await prepareBuiltinPack({ folder: modelsFolder })
  const pipeline = await createPipeline({
    modelsFolder,
    modelSet: builtinSet,
    limits,
    createTemplate: packEmbedding,
  })
  const bar = createProgressBar('pictures')
  const templates = await extractTemplates(
    pictures,
    (picture) => pipeline.analyzeImage(picture, templatesRequest, 'picture'),
    bar.update,
  )
  bar.end()
  await pipeline.close()
  return templates.flatMap((template, index) => {
    const person = pictures[index]?.person
    return template && 'vector' in template && person
      ? { person, embedding: unpackEmbedding(template) }
      : []
  })
}

/** A descriptor in the clothes of a template, so that it comes out of the pipeline as it is. */
function packEmbedding({ dlib, faceres }: NetworkEmbeddings): Template {
  const vector = new Float32Array(dlib.length + faceres.length)
  vector.set(dlib)
  vector.set(faceres, dlib.length)
  return { modelId: 'descriptor', vector, density: 0 }
}

function unpackEmbedding({ vector }: Template): NetworkEmbeddings {
  return { dlib: vector.slice(0, dlibDimensions), faceres: vector.slice(dlibDimensions) }
}

const dlibDimensions = 128
