import type { Gallery } from '../../../gallery/gallery.ts'
import type { ReadTx } from '../../../store/tx.ts'

type ThresholdRequest = {
  /** The threshold of the request; undefined if it has none. */
  readonly requested: number | 'auto' | undefined
  readonly projectId: string
  readonly gallerySize: number
}

type SearchThreshold = {
  readonly threshold: number
  readonly thresholdSource: 'request' | 'project' | 'auto'
}

/** Returns the threshold of a search: that of the request, else that of the project, else `auto`. */
export async function searchThreshold(
  gallery: Pick<Gallery, 'projectThreshold' | 'autoThreshold'>,
  reading: ReadTx,
  { requested, projectId, gallerySize }: ThresholdRequest,
): Promise<SearchThreshold> {
  if (typeof requested === 'number') return { threshold: requested, thresholdSource: 'request' }
  const ofProject = requested === 'auto' ? null : await gallery.projectThreshold(reading, projectId)
  return ofProject === null
    ? { threshold: gallery.autoThreshold(gallerySize), thresholdSource: 'auto' }
    : { threshold: ofProject, thresholdSource: 'project' }
}
