import { progressBar } from '../../src/cli/progress.ts'
import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/models-in-use.ts'
import { builtinSet } from '../../src/models/pack.ts'
import { preparePack } from '../../src/models/prepare.ts'
import type { Descriptor } from '../../src/vision/describe.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import type { Template } from '../../src/vision/view.ts'
import { readFaceSet } from '../face-set.ts'
import { gatherTemplates, lookForTemplates } from '../gather.ts'
import type { Sample } from './fit.ts'

/** Larger than any picture of a set. */
const limits = { bytesMax: 64 * 2 ** 20, pixelsMax: 1e8, sideMinPx: 32 }

/**
 * What the networks say of every picture of a set, before any template model; pictures without a
 * face are left out. Shows its progress.
 */
export async function describeSet(place: string): Promise<Sample[]> {
  const { pictures } = await readFaceSet(place)
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await preparePack({ folder: modelsFolder })
  const pipeline = await createPipeline({
    modelsFolder,
    set: builtinSet,
    limits,
    toTemplate: packed,
  })
  const bar = progressBar('pictures')
  const templates = await gatherTemplates(
    pictures,
    (picture) => pipeline.look(picture, lookForTemplates, 'picture'),
    bar.update,
  )
  bar.end()
  await pipeline.close()
  return templates.flatMap((template, index) => {
    const person = pictures[index]?.person
    return template && 'vector' in template && person
      ? { person, descriptor: unpacked(template) }
      : []
  })
}

/** A descriptor in the clothes of a template, so that it comes out of the pipeline as it is. */
function packed({ dlib, faceres }: Descriptor): Template {
  const vector = new Float32Array(dlib.length + faceres.length)
  vector.set(dlib)
  vector.set(faceres, dlib.length)
  return { modelId: 'descriptor', vector, density: 0 }
}

function unpacked({ vector }: Template): Descriptor {
  return { dlib: vector.slice(0, dlibDimensions), faceres: vector.slice(dlibDimensions) }
}

const dlibDimensions = 128
