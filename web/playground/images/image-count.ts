import type { ActionInfo } from '../../api/responses.ts'

/** How many images a call with certain parameters takes. */
export type ImageCount = {
  readonly min: number
  readonly max: number
  /** The count in words. */
  readonly text: string
}

type CountedAction = Pick<ActionInfo, 'name' | 'imagesMin' | 'imagesMax' | 'paramsSchema'>
type Params = Readonly<Record<string, unknown>>

/** The fewest images that show one person together. */
const framesMin = 2

/** Returns how many images an action takes with these parameters. */
export function imageCountOf(action: CountedAction, params: Params): ImageCount {
  const { name, imagesMin } = action
  const { batchMax, hasAllImages } = schemaFacts(action)
  if (action.imagesMax === 0) return { min: 0, max: 0, text: 'No image' }
  const hasSubject = params['subjectId'] !== undefined || params['externalId'] !== undefined
  if (params['sameSubject'] === true) return frames(batchMax, 'of one person')
  if (name === 'svc.verify')
    return hasSubject
      ? { min: 1, max: 1, text: '1 image, which is compared with the subject' }
      : { min: 2, max: 2, text: '2 images, which are compared with each other' }
  if (name === 'svc.liveness' && params['livenessSessionId'] !== undefined)
    return frames(batchMax, 'of an attempt')
  if (params['allImages'] === true)
    return { min: Math.max(1, imagesMin), max: batchMax, text: `Up to ${batchMax} images` }
  const max = hasAllImages ? 1 : action.imagesMax
  if (max > 1) return { min: imagesMin, max, text: `${imagesMin} to ${max} images` }
  const more = hasAllImages ? `; with allImages up to ${batchMax}` : ''
  return { min: imagesMin, max, text: `${imagesMin === 0 ? 'At most 1' : '1'} image${more}` }
}

function frames(max: number, of: string): ImageCount {
  return { min: framesMin, max, text: `${framesMin} to ${max} images ${of}` }
}

function schemaFacts({ paramsSchema, imagesMax }: CountedAction) {
  // The server generates this JSON schema from its validation schema.
  const { properties = {} } = paramsSchema as {
    readonly properties?: Readonly<Record<string, { readonly maxItems?: number }>>
  }
  return {
    batchMax: properties['images']?.maxItems ?? imagesMax,
    hasAllImages: 'allImages' in properties,
  }
}
