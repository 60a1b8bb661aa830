import { createProgressBar } from '../../src/cli/command.ts'
import { selectModelSet } from '../../src/cli/models/models-option.ts'
import { readConfig } from '../../src/config.ts'
import {
  analyzeCentralFace,
  readFaceSet,
  templatesRequest,
} from '../../src/evaluation/face-images.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import type { InstalledModel } from '../../src/models/model-set.ts'
import { modelsFolderOf } from '../../src/start/store-location.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import { packEmbedding, unpackEmbedding } from '../fit/embed-face-set.ts'
import type { PersonEmbedding } from '../fit/fit-template-model.ts'

/** The embeddings of one image by the built-in networks, and its template by an installed one. */
export type BothEmbeddings = PersonEmbedding & { readonly installed: Template }

/** Larger than any image of a set. */
const limits = { bytesMax: 64 * 2 ** 20, pixelsMax: 1e8, sideMinPx: 32 }

/**
 * Returns the embeddings of every image of a set, both of the same aligned face. Images without a face
 * are left out.
 *
 * @param models the folders or names of packs: one with the recognizer and the rows of its cohort, one
 *   with the detector.
 * @throws Error when no pack has a recognizer.
 */
export async function embedWithBoth(
  source: string,
  models: readonly string[],
): Promise<{ readonly samples: BothEmbeddings[]; readonly recognizer: InstalledModel }> {
  const { images } = await readFaceSet(source)
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await prepareBuiltinPack({ folder: modelsFolder })
  const set = await selectModelSet(models, modelsFolder)
  const { recognizer } = set
  if (recognizer === 'builtin') throw new Error('no pack has a recognizer; pass one')
  const modelId = `${recognizer.model.id}@${recognizer.model.version}`
  const pipeline = await createPipeline({
    modelsFolder,
    modelSet: { ...set, recognizer: 'builtin', formerRecognizers: [recognizer] },
    limits,
    createTemplate: packEmbedding,
  })
  const bar = createProgressBar('images')
  const request = { ...templatesRequest, previousTemplates: [modelId] }
  const samples = await mapConcurrent(
    images,
    async ({ file, person }): Promise<BothEmbeddings[]> => {
      const face = await analyzeCentralFace(file, (image) =>
        pipeline.analyzeImage(image, request, 'image'),
      )
      if ('unusable' in face) return []
      const { template, previousTemplates: [installed] = [] } = face
      return template && installed
        ? [{ person, embedding: unpackEmbedding(template), installed }]
        : []
    },
    bar.update,
  )
  bar.end()
  await pipeline.close()
  return { samples: samples.flat(), recognizer }
}
