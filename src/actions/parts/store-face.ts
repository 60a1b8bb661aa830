import type { Gallery } from '../../gallery/gallery.ts'
import type { Tx } from '../../store/tx.ts'
import type { ActionCall } from '../action.ts'
import type { ProbeFace, ExtractOptions } from './extract-probes.ts'

type NewGalleryFace = Parameters<Gallery['addFace']>[2]
type StoreFaceCall = Pick<ActionCall<unknown>, 'caller' | 'services'>

/**
 * What a look at a face that is to be remembered must bring: former models see who else it is like,
 * and the project may want a crop for models to come.
 */
export async function storeExtractOptions({
  caller,
  services,
}: StoreFaceCall): Promise<ExtractOptions> {
  const { gallery } = services
  const { storeCrops } = await gallery.read((reading) =>
    gallery.switches(reading, caller.projectId),
  )
  const previousTemplates = await gallery.formerModels(caller.galleryId)
  return { previousTemplates, contextCrops: storeCrops }
}

/** The face as it is stored, by the switches as they are when the call ends. */
export async function toNewFace(
  { caller, services }: StoreFaceCall,
  tx: Tx,
  seen: ProbeFace,
): Promise<NewGalleryFace> {
  const { template, qualityScore, contextCrop } = seen
  const { projectId } = caller
  if (contextCrop === undefined || !(await services.gallery.switches(tx, projectId)).storeCrops)
    return { template, qualityScore }
  const jpeg = Buffer.from(contextCrop, 'base64')
  return { template, qualityScore, crop: { jpeg, projectId } }
}
