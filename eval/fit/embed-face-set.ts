import { createProgressBar } from '../../src/cli/command.ts'
import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/start/store-location.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import type { NetworkEmbeddings } from '../../src/vision/embed/create-template.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import {
  extractTemplates,
  readFaceSet,
  templatesRequest,
} from '../../src/evaluation/face-images.ts'
import type { PersonEmbedding } from './fit-template-model.ts'

/** Larger than any image of a set. */
const limits = { bytesMax: 64 * 2 ** 20, pixelsMax: 1e8, sideMinPx: 32 }

/**
 * Returns the network embeddings of every image of a set, before any template model. Images without
 * a face are left out. Shows a progress bar.
 */
export async function embedFaceSet(source: string): Promise<PersonEmbedding[]> {
  const { images } = await readFaceSet(source)
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await prepareBuiltinPack({ folder: modelsFolder })
  const pipeline = await createPipeline({
    modelsFolder,
    modelSet: builtinSet,
    limits,
    createTemplate: packEmbedding,
  })
  const bar = createProgressBar('images')
  const templates = await extractTemplates(
    images,
    (image) => pipeline.analyzeImage(image, templatesRequest, 'image'),
    bar.update,
  )
  bar.end()
  await pipeline.close()
  return templates.flatMap((template, index) => {
    const person = images[index]?.person
    return template && 'vector' in template && person
      ? { person, embedding: unpackEmbedding(template) }
      : []
  })
}

/** Packs embeddings into a template, so that the pipeline returns them unchanged. */
export function packEmbedding({ dlib, faceres }: NetworkEmbeddings): Template {
  const vector = new Float32Array(dlib.length + faceres.length)
  vector.set(dlib)
  vector.set(faceres, dlib.length)
  return { modelId: 'embedding', vector, density: 0 }
}

export function unpackEmbedding({ vector }: Template): NetworkEmbeddings {
  return { dlib: vector.slice(0, dlibDimensions), faceres: vector.slice(dlibDimensions) }
}

const dlibDimensions = 128
